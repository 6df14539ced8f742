import type { TraceRun, TraceSpan } from "@retinue/core/schema/inspect/trace";
import { showDuration } from "@retinue/core/show/measures";
import { findWork, type Stretch, type Timeline } from "@retinue/core/show/timeline";
import type { Bars, Canvas } from "./canvas.ts";

/** The column of bars: which time it shows, and in how many characters. */
export type BarColumn = { readonly timeline: Timeline; readonly width: number; readonly nowMs: number };

/** The bar of a run: solid where it is in a model or tool call of its own, thin where it waits for others. */
export function drawRunBar(run: TraceRun, column: BarColumn, { bars }: Canvas): string {
  const whole = { startMs: run.startMs, endMs: Math.max(run.startMs, run.endMs ?? column.nowMs) };
  const own = run.calls.filter(({ tool }) => !isDelegation(tool));
  const work = [...run.turns, ...own].map((span) => findWork(span, column.nowMs));
  return drawBar(whole, work, column, bars);
}

/** The bar of one call. */
export function drawSpanBar(span: TraceSpan, column: BarColumn, { bars }: Canvas): string {
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
export function drawAxis({ timeline, width }: BarColumn): string {
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
