import { createTimeline, stretchOf } from "../../runtime/trace/timeline.ts";
import type { Trace } from "../../schema/inspect/trace.ts";
import { cutTo, padTo, widthOf } from "../tree/text-width.ts";
import type { Canvas } from "./canvas.ts";
import { type BarColumn, drawAxis } from "./draw-bar.ts";

/** The columns of a drawing: what a line is about, its figures, its bar. */
export type Columns = {
  readonly left: number;
  readonly figures: readonly { name: FigureName; width: number }[];
  readonly bar: BarColumn;
};

/** One line before it is put into columns. */
export type Line = {
  /** The guides of the tree. */
  prefix: string;
  label: string;
  figures: Partial<Record<FigureName, string>>;
  bar: string;
  status?: string;
  dim?: boolean;
};

type FigureName = "time" | "tokens" | "cost";

const FIGURES = [
  { name: "time", width: 6, from: 0 },
  { name: "tokens", width: 8, from: 100 },
  { name: "cost", width: 7, from: 70 },
] as const;
const GAP = "  ";
const LEAST_BAR = 12;
const MOST_BAR = 60;

/** Shares out the width of a canvas; what has no room is left out, the figures first. */
export function layOut({ gaps, endMs, runs }: Trace, { width }: Canvas): Columns {
  const figures = FIGURES.filter(({ from }) => width >= from);
  const bar = Math.min(MOST_BAR, Math.max(LEAST_BAR, Math.round((width - 40) * 0.45)));
  const taken = figures.reduce((sum, figure) => sum + figure.width + GAP.length, bar + GAP.length);
  const timeline = createTimeline({ gaps, endMs }, stretchOf(runs, endMs));
  return { left: width - taken, figures, bar: { timeline, width: bar, nowMs: endMs } };
}

/** The line above all others. */
export function drawHeading({ left, figures, bar }: Columns, { paint }: Canvas): string {
  const names = figures.map(({ name, width }) => name.toUpperCase().padStart(width));
  return paint.dim([padTo("RUN", left), ...names, drawAxis(bar)].join(GAP).trimEnd());
}

/** Puts a line into its columns. */
export function drawLine(line: Line, { left, figures }: Columns, { glyphs, paint }: Canvas): string {
  // Very deep runs keep half of their column for what they are.
  const most = Math.floor(left / 2);
  const guide = widthOf(line.prefix) > most ? `${cutTo(line.prefix, most - 1, glyphs.cut)} ` : line.prefix;
  const room = left - widthOf(guide);
  const label = padTo(cutTo(line.label, room, glyphs.cut), room);
  const cells = figures.map(({ name, width }) => (line.figures[name] ?? "").padStart(width)).join(GAP);
  const bar = line.bar.trimEnd();
  if (line.dim) return paint.dim(`${guide}${label}${GAP}${cells}${GAP}${bar}`.trimEnd());
  const tint = tintOf(line.status, paint);
  return `${paint.dim(guide)}${label}${GAP}${paint.dim(cells)}${GAP}${tint(bar)}`.trimEnd();
}

function tintOf(status: string | undefined, paint: Canvas["paint"]): (text: string) => string {
  if (status === "failed" || status === "timeout") return paint.bad;
  if (status === "completed") return paint.good;
  return status === "partial" || status === "cancelled" ? paint.warn : paint.busy;
}
