import type { Trace, TraceCall, TraceRun, TraceSpan } from "@retinue/core/schema/inspect/trace";
import { showCost, showCount, showDuration, showNumber } from "@retinue/core/show/measures";
import { hasFailed, nameStatus } from "@retinue/core/show/standing";
import { createTimeline, findWork, type Stretch, spanRuns, type Timeline } from "@retinue/core/show/timeline";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { cutTo, measureWidth, padTo } from "../text-layout.ts";
import { type Bars, type Canvas, chooseColour, type GuidedRow, walkTree } from "./canvas.ts";
import { labelCall, labelRun, listNotes } from "./describe-run.ts";

/** What of a trace is drawn. */
export type TraceDrawing = {
  /** Every tool call, instead of their counts. */
  calls?: boolean;
  /** The id of every run. */
  ids?: boolean;
  /** At most this many runs, and calls of one run; all of them without it. */
  limit?: number;
};

/** A row of the tree: a run, a call, or the words for what is left out. */
type Item = TraceRun | TraceCall | { readonly hidden: string };
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
  const columns = layOutColumns(trace, canvas);
  const page: Page = { trace, canvas, columns, picked, drawing, lines: [drawHeading(columns, canvas)] };
  const listBelow = (item: Item) =>
    isRun(item) ? listShown(drawing.calls ? bySeq(item) : item.children, page) : [];
  for (const line of walkTree(listShown(trace.runs, page), listBelow, canvas.glyphs))
    page.lines.push(...drawItem(line, page));
  return [...page.lines, "", ...drawLegend(page)];
}

function drawItem(line: GuidedRow<Item>, page: Page): string[] {
  const { node, guides } = line;
  const { glyphs, paint, width } = page.canvas;
  if ("hidden" in node) return [paint.dim(cutTo(`${guides}${glyphs.cut} ${node.hidden}`, width, glyphs.cut))];
  if (!isRun(node)) return [drawCall(node, guides, page)];
  return [drawRun(node, guides, page), ...drawNotes(node, line, page)];
}

function drawRun(run: TraceRun, prefix: string, { canvas, columns, trace }: Page): string {
  const figures = {
    time: showDuration(run.durationMs ?? Math.max(0, trace.endMs - run.startMs)),
    tokens: showNumber(run.tokens.self),
    cost: showCost(run.costUsd.self),
  };
  const label = labelRun(run, trace.session.state, canvas);
  const bar = drawRunBar(run, columns.bar, canvas);
  const look = { status: nameStatus(run), dim: !run.matched };
  return drawLine({ prefix, label, figures, bar, ...look }, columns, canvas);
}

function drawCall(call: TraceCall, prefix: string, { canvas, columns }: Page): string {
  const figures = { time: call.durationMs === null ? "" : showDuration(call.durationMs) };
  const bar = drawSpanBar(call, columns.bar, canvas);
  return drawLine({ prefix, label: labelCall(call, canvas), figures, bar }, columns, canvas);
}

function drawNotes(run: TraceRun, { rest, hasBelow }: GuidedRow<Item>, { canvas, drawing }: Page): string[] {
  const { glyphs, paint, width } = canvas;
  const guide = cutTo(`${rest}${hasBelow ? glyphs.trunk : glyphs.gap}`, Math.floor(width / 2), glyphs.cut);
  return listNotes(run, drawing).map(({ text, bad }) => {
    const note = cutTo(glyphs.text(text), width - measureWidth(guide), glyphs.cut);
    return `${paint.dim(guide)}${bad ? paint.bad(note) : paint.dim(note)}`;
  });
}

/** What is drawn of some runs and calls, and at its end the words for what is not. */
function listShown(below: readonly (TraceRun | TraceCall)[], { picked, drawing }: Page): Item[] {
  const { limit = Number.POSITIVE_INFINITY } = drawing;
  let calls = 0;
  const shown = below.filter((one) => (isRun(one) ? picked.has(one) : ++calls <= limit));
  const left = below.filter(isRun).filter((run) => !picked.has(run));
  const words = [
    ...(left.length > 0 ? [sayHidden(left)] : []),
    ...(calls > limit ? [`${showNumber(calls - limit)} more calls`] : []),
  ];
  return words.length > 0 ? [...shown, { hidden: words.join(", ") }] : shown;
}

function drawLegend({ canvas, columns, picked, trace, lines }: Page): string[] {
  const { bars, paint, glyphs, width } = canvas;
  const leftOut = columns.bar.timeline.gaps.reduce((sum, gap) => sum + gap.leftOutMs, 0);
  const signs = [`${bars.busy} at work`, `${bars.idle} waiting`];
  if (lines.some((line) => line.includes(bars.parallel)))
    signs.push(`${bars.parallel} at the same time as a sibling`);
  if (leftOut > 0) signs.push(`${bars.gap} ${showDuration(leftOut)} without work left out`);
  const legend = [paint.dim(cutTo(signs.join(` ${glyphs.dot} `), width, glyphs.cut))];
  const all = [...walkRuns(trace.runs)].length;
  if (picked.size === all) return legend;
  const shown = `${showNumber(picked.size)} of ${showNumber(all)} runs are shown`;
  return [
    ...legend,
    cutTo(`${shown}: --limit for more; --failed, --agent, --run for less`, width, glyphs.cut),
  ];
}

function bySeq({ calls, children }: TraceRun): (TraceRun | TraceCall)[] {
  return [...calls, ...children].sort((one, other) => one.openedSeq - other.openedSeq);
}

function isRun(one: Item): one is TraceRun {
  return "runId" in one;
}

/** The columns of a drawing: what a line is about, its figures, its bar. */
type Columns = {
  readonly left: number;
  readonly figures: readonly { name: FigureName; width: number }[];
  readonly bar: BarColumn;
};

/** One line before it is put into columns. */
type TraceLine = {
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
function layOutColumns({ gaps, endMs, runs }: Trace, { width }: Canvas): Columns {
  const figures = FIGURES.filter(({ from }) => width >= from);
  const bar = Math.min(MOST_BAR, Math.max(LEAST_BAR, Math.round((width - 40) * 0.45)));
  const taken = figures.reduce((sum, figure) => sum + figure.width + GAP.length, bar + GAP.length);
  const timeline = createTimeline({ gaps, endMs }, spanRuns(runs, endMs));
  return { left: width - taken, figures, bar: { timeline, width: bar, nowMs: endMs } };
}

/** The line above all others. */
function drawHeading({ left, figures, bar }: Columns, { paint }: Canvas): string {
  const names = figures.map(({ name, width }) => name.toUpperCase().padStart(width));
  return paint.dim([padTo("RUN", left), ...names, drawAxis(bar)].join(GAP).trimEnd());
}

/** Puts a line into its columns. */
function drawLine(line: TraceLine, { left, figures }: Columns, { glyphs, paint }: Canvas): string {
  // Very deep runs keep half of their column for what they are.
  const most = Math.floor(left / 2);
  const guide =
    measureWidth(line.prefix) > most ? `${cutTo(line.prefix, most - 1, glyphs.cut)} ` : line.prefix;
  const room = left - measureWidth(guide);
  const label = padTo(cutTo(line.label, room, glyphs.cut), room);
  const cells = figures.map(({ name, width }) => (line.figures[name] ?? "").padStart(width)).join(GAP);
  const bar = line.bar.trimEnd();
  if (line.dim) return paint.dim(`${guide}${label}${GAP}${cells}${GAP}${bar}`.trimEnd());
  const tint = chooseColour(line.status, paint) ?? paint.busy;
  return `${paint.dim(guide)}${label}${GAP}${paint.dim(cells)}${GAP}${tint(bar)}`.trimEnd();
}

/** The column of bars: which time it shows, and in how many characters. */
type BarColumn = { readonly timeline: Timeline; readonly width: number; readonly nowMs: number };

/** The bar of a run: solid where it is in a model or tool call of its own, thin where it waits for others. */
function drawRunBar(run: TraceRun, column: BarColumn, { bars }: Canvas): string {
  const whole = { startMs: run.startMs, endMs: Math.max(run.startMs, run.endMs ?? column.nowMs) };
  const own = run.calls.filter(({ tool }) => !isDelegation(tool));
  const work = [...run.turns, ...own].map((span) => findWork(span, column.nowMs));
  return drawBar(whole, work, column, bars);
}

/** The bar of one call. */
function drawSpanBar(span: TraceSpan, column: BarColumn, { bars }: Canvas): string {
  const work = findWork(span, column.nowMs);
  return drawBar(work, [work], column, bars);
}

function drawBar(whole: Stretch, work: readonly Stretch[], column: BarColumn, bars: Bars): string {
  const { timeline, width } = column;
  const cells = new Array<string>(width).fill(" ");
  const [from] = findColumns(whole, column);
  const length = timeline.at(whole.endMs) - timeline.at(whole.startMs);
  if (length * width < timeline.lengthMs) cells[from] = bars.brief;
  else {
    fill(cells, whole, bars.idle, column);
    // Most calls take less than a column, so that which cells they touch is all there is to know.
    for (const stretch of work) fill(cells, stretch, bars.busy, column);
  }
  for (const gap of timeline.gaps)
    cells[Math.min(width - 1, Math.floor((gap.startMs / timeline.lengthMs) * width))] = bars.gap;
  return cells.join("");
}

/** The axis above the bars: moments from the start, as many as have room. Behind a gap, the clock's own. */
function drawAxis({ timeline, width }: BarColumn): string {
  const { lengthMs } = timeline;
  let line = "";
  for (const { atMs, text } of listMarks(timeline, width >= 40 ? 4 : width >= 18 ? 2 : 1)) {
    const column = Math.min(Math.round((atMs / lengthMs) * width), width - text.length);
    if (column > line.length || line === "") line = line.padEnd(column) + text;
  }
  return line.slice(0, width);
}

/** A moment that an axis names; its place is one of the drawing. */
type Mark = { atMs: number; text: string };

/** The moments of an axis: evenly spread, or the start and where work went on after each gap. */
function listMarks(timeline: Timeline, parts: number): Mark[] {
  return timeline.gaps.length > 0 ? gapMarks(timeline) : evenMarks(timeline.lengthMs, parts);
}

function evenMarks(lengthMs: number, parts: number): Mark[] {
  return Array.from({ length: parts + 1 }, (_, index) => {
    const atMs = (lengthMs * index) / parts;
    return { atMs, text: index === 0 ? "0" : showDuration(atMs) };
  });
}

function gapMarks({ gaps }: Timeline): Mark[] {
  let leftOutMs = 0;
  const marks = gaps.map(({ endMs, startMs, leftOutMs: more }): Mark => {
    const text = showDuration(startMs + leftOutMs + more);
    leftOutMs += more - (endMs - startMs);
    return { atMs: endMs, text: `+${text}` };
  });
  return [{ atMs: 0, text: "0" }, ...marks];
}

function fill(cells: string[], { startMs, endMs }: Stretch, sign: string, column: BarColumn): void {
  const [from, to] = findColumns({ startMs, endMs }, column);
  for (let index = from; index < to; index++) cells[index] = sign;
}

/** From the column it begins in to the one it ends in; always at least one. */
function findColumns(
  { startMs, endMs }: Stretch,
  { timeline, width }: BarColumn,
): [from: number, to: number] {
  const share = (ms: number) => timeline.at(ms) / timeline.lengthMs;
  const from = Math.min(width - 1, Math.floor(share(startMs) * width));
  return [from, Math.min(width, Math.max(from + 1, Math.ceil(share(endMs) * width)))];
}

function isDelegation(tool: string): boolean {
  return tool === "delegate" || tool === "delegate_many" || tool === "collect_results";
}

/** Of the runs that may be shown, how many failures come before anything else. */
const FAILURE_SHARE = 0.25;

/**
 * Which runs to show if there are more than `limit`: some failures with all above them, then level by level, so that
 * what is left out is as low in the tree as possible. A run is never shown without those above it.
 */
export function pickRuns(roots: readonly TraceRun[], limit: number): ReadonlySet<TraceRun> {
  const runs = [...walkRuns(roots)];
  if (runs.length <= limit) return new Set(runs);
  const parents = new Map<TraceRun, TraceRun>();
  for (const run of runs) for (const child of run.children) parents.set(child, run);
  const picked = new Set<TraceRun>();
  for (const run of runs) {
    if (picked.size >= limit * FAILURE_SHARE) break;
    if (!hasFailed(run)) continue;
    const line: TraceRun[] = [];
    for (let at: TraceRun | undefined = run; at && !picked.has(at); at = parents.get(at)) line.push(at);
    if (picked.size + line.length <= limit) for (const one of line) picked.add(one);
  }
  for (let level = [roots]; level.length > 0; level = familiesBelow(level, picked)) {
    for (const run of inTurn(level)) {
      if (picked.size >= limit) return picked;
      picked.add(run);
    }
  }
  return picked;
}

function familiesBelow(
  level: readonly (readonly TraceRun[])[],
  picked: ReadonlySet<TraceRun>,
): (readonly TraceRun[])[] {
  const parents = level.flat().filter((run) => picked.has(run));
  return parents.map((run) => run.children).filter((family) => family.length > 0);
}

/** The first of every family, then the second of each, so that no parent takes all the room. */
function* inTurn(families: readonly (readonly TraceRun[])[]): Generator<TraceRun> {
  for (let index = 0, left = families; left.length > 0; index++) {
    left = left.filter((family) => index < family.length);
    for (const family of left) yield* family.slice(index, index + 1);
  }
}

/** `12 more runs (11 completed, 1 failed)`: runs that are not shown, with all below them. */
function sayHidden(hidden: readonly TraceRun[]): string {
  const statuses = new Map<string, number>();
  let runs = 0;
  for (const run of walkRuns(hidden)) {
    runs++;
    statuses.set(nameStatus(run), (statuses.get(nameStatus(run)) ?? 0) + 1);
  }
  const parts = [...statuses].map(([status, count]) => `${showNumber(count)} ${status}`);
  return `${showCount(runs, "more run")} (${parts.join(", ")})`;
}
