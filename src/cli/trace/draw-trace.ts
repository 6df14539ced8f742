import { statusOf } from "../../runtime/trace/filter-trace.ts";
import { everyRun } from "../../runtime/trace/walk-runs.ts";
import type { Trace, TraceCall, TraceRun } from "../../schema/inspect/trace.ts";
import { showCost, showDuration } from "../measures.ts";
import { cutTo, widthOf } from "../tree/text-width.ts";
import type { Canvas } from "./canvas.ts";
import { callLabel, notesOf, runLabel } from "./describe-run.ts";
import { drawRunBar, drawSpanBar } from "./draw-bar.ts";
import { type Columns, drawHeading, drawLine, layOut } from "./lay-out.ts";
import { pickRuns, sayHidden } from "./pick-runs.ts";

/** What of a trace is drawn. */
export type TraceDrawing = {
  /** Every tool call, instead of their counts. */
  calls?: boolean;
  /** The id of every run. */
  ids?: boolean;
  /** At most this many runs, and calls of one run; all of them without it. */
  limit?: number;
};

type Prefix = { head: string; rest: string };
type Item =
  | { kind: "text"; text: string }
  | { kind: "run"; run: TraceRun; prefix: Prefix }
  | { kind: "call"; call: TraceCall; prefix: Prefix };
type Page = {
  trace: Trace;
  canvas: Canvas;
  columns: Columns;
  picked: ReadonlySet<TraceRun>;
  drawing: TraceDrawing;
  lines: string[];
};

/** The tree of runs beside their bars on one axis of time, a line each, with what went wrong and was called below it. */
export function drawTrace(trace: Trace, canvas: Canvas, drawing: TraceDrawing = {}): string[] {
  if (trace.runs.length === 0) return [];
  const picked = pickRuns(trace.runs, drawing.limit ?? Number.POSITIVE_INFINITY);
  const columns = layOut(trace, canvas);
  const page: Page = { trace, canvas, columns, picked, drawing, lines: [drawHeading(columns, canvas)] };
  // A stack and no recursion: how deep runs go is not ours to say.
  const left = itemsOf(trace.runs, null, page);
  for (let item = left.pop(); item; item = left.pop()) left.push(...drawItem(item, page));
  return [...page.lines, "", ...legendOf(page)];
}

/** Draws an item; what stands below it comes back, the first of it last. */
function drawItem(item: Item, page: Page): Item[] {
  const { lines } = page;
  if (item.kind === "text") lines.push(item.text);
  if (item.kind === "call") lines.push(drawCall(item.call, item.prefix, page));
  if (item.kind !== "run") return [];
  const { run, prefix } = item;
  lines.push(drawRun(run, prefix, page));
  const below = itemsOf(page.drawing.calls ? bySeq(run) : run.children, prefix.rest, page);
  lines.push(...drawNotes(run, prefix, below.length > 0, page));
  return below;
}

function drawRun(run: TraceRun, { head }: Prefix, { canvas, columns, trace }: Page): string {
  const figures = {
    time: showDuration(run.durationMs ?? Math.max(0, trace.endMs - run.startMs)),
    tokens: run.tokens.self.toLocaleString("en-US"),
    cost: showCost(run.costUsd.self),
  };
  const label = runLabel(run, trace.session.state, canvas);
  const bar = drawRunBar(run, columns.bar, canvas);
  const look = { status: statusOf(run), dim: !run.matched };
  return drawLine({ prefix: head, label, figures, bar, ...look }, columns, canvas);
}

function drawCall(call: TraceCall, { head }: Prefix, { canvas, columns }: Page): string {
  const figures = { time: call.durationMs === null ? "" : showDuration(call.durationMs) };
  const bar = drawSpanBar(call, columns.bar, canvas);
  return drawLine({ prefix: head, label: callLabel(call, canvas), figures, bar }, columns, canvas);
}

function drawNotes(run: TraceRun, { rest }: Prefix, hasBelow: boolean, { canvas, drawing }: Page): string[] {
  const { glyphs, paint, width } = canvas;
  const guide = cutTo(`${rest}${hasBelow ? glyphs.trunk : glyphs.gap}`, Math.floor(width / 2), glyphs.cut);
  return notesOf(run, drawing).map(({ text, bad }) => {
    const note = cutTo(glyphs.text(text), width - widthOf(guide), glyphs.cut);
    return `${paint.dim(guide)}${bad ? paint.bad(note) : paint.dim(note)}`;
  });
}

/** What stands below something, the first of it last; what is left out is said after it. `rest` is null for roots. */
function itemsOf(below: readonly (TraceRun | TraceCall)[], rest: string | null, page: Page): Item[] {
  const { glyphs, paint, width } = page.canvas;
  const { shown, hidden } = shareOut(below, page);
  const placed = (isLast: boolean): Prefix =>
    rest === null
      ? { head: "", rest: "" }
      : {
          head: `${rest}${isLast ? glyphs.lastBranch : glyphs.branch}`,
          rest: `${rest}${isLast ? glyphs.gap : glyphs.trunk}`,
        };
  const items = shown.map((one, index): Item => {
    const prefix = placed(hidden === "" && index === shown.length - 1);
    return isRun(one) ? { kind: "run", run: one, prefix } : { kind: "call", call: one, prefix };
  });
  if (hidden !== "") {
    const text = cutTo(`${placed(true).head}${glyphs.cut} ${hidden}`, width, glyphs.cut);
    items.push({ kind: "text", text: paint.dim(text) });
  }
  return items.reverse();
}

/** What is drawn, and the words for what is not. */
function shareOut(below: readonly (TraceRun | TraceCall)[], { picked, drawing }: Page) {
  const { limit = Number.POSITIVE_INFINITY } = drawing;
  let calls = 0;
  const shown = below.filter((one) => (isRun(one) ? picked.has(one) : ++calls <= limit));
  const hidden = below.filter(isRun).filter((run) => !picked.has(run));
  const words = [
    ...(hidden.length > 0 ? [sayHidden(hidden)] : []),
    ...(calls > limit ? [`${(calls - limit).toLocaleString("en-US")} more calls`] : []),
  ];
  return { shown, hidden: words.join(", ") };
}

function legendOf({ canvas, columns, picked, trace, lines }: Page): string[] {
  const { bars, paint, glyphs, width } = canvas;
  const leftOut = columns.bar.timeline.gaps.reduce((sum, gap) => sum + gap.leftOutMs, 0);
  const signs = [`${bars.busy} at work`, `${bars.idle} waiting`];
  if (lines.some((line) => line.includes(bars.parallel)))
    signs.push(`${bars.parallel} at the same time as a sibling`);
  if (leftOut > 0) signs.push(`${bars.gap} ${showDuration(leftOut)} without work left out`);
  const legend = [paint.dim(cutTo(signs.join(` ${glyphs.dot} `), width, glyphs.cut))];
  const all = [...everyRun(trace.runs)].length;
  if (picked.size === all) return legend;
  const number = (count: number) => count.toLocaleString("en-US");
  const shown = `${number(picked.size)} of ${number(all)} runs are shown`;
  return [
    ...legend,
    cutTo(`${shown}: --limit for more; --failed, --agent, --run for less`, width, glyphs.cut),
  ];
}

function bySeq({ calls, children }: TraceRun): (TraceRun | TraceCall)[] {
  return [...calls, ...children].sort((one, other) => one.openedSeq - other.openedSeq);
}

function isRun(one: TraceRun | TraceCall): one is TraceRun {
  return "runId" in one;
}
