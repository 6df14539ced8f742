import type { MomentList } from "@retinue/core/schema/api/inspect";

/** When a model or tool call began and ended, in milliseconds from the start of the trace, and what it took. */
export type CallMoment = {
  runId: string;
  /** Null of a model call. */
  tool: string | null;
  startMs: number;
  /** Null while it is open. */
  endMs: number | null;
  tokens: number;
  costUsd: number | null;
};

/** The calls that a page tells of. */
export function readMomentList(page: MomentList, originMs: number): CallMoment[] {
  return page.run.map((run, index) => {
    const tool = page.tool[index] ?? null;
    const endedAtMs = page.endedAtMs[index] ?? null;
    const startMs = Math.max(0, (page.startedAtMs[index] ?? originMs) - originMs);
    return {
      runId: page.runIds[run] ?? "",
      tool: tool === null ? null : (page.tools[tool] ?? "?"),
      startMs,
      endMs: endedAtMs === null ? null : Math.max(startMs, endedAtMs - originMs),
      tokens: page.tokens[index] ?? 0,
      costUsd: page.costUsd[index] ?? null,
    };
  });
}

/** Whether a call only waits for runs that others do. */
export function onlyWaits(tool: string): boolean {
  return tool.startsWith("delegate") || tool === "collect_results";
}

/** How many numbers of a sorted list are at most `value`. */
export function upperBound(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The numbers in their order. */
export function sortedTimes(times: Iterable<number>): Float64Array {
  return Float64Array.from(times).sort();
}

/** A stretch of time in which neither a model nor a tool was at work, such as the wait for a person's answer. */
export type Idle = { startMs: number; endMs: number };

/** Shorter ones are part of the work. */
const LEAST_MS = 2_000;
/** One that is short against all work is drawn as long as it was. */
const LEAST_SHARE = 0.2;

/** The long idle stretches between the start and the end, in their order. Calls that wait for other runs are no work. */
export function idleIn(moments: readonly CallMoment[], endMs: number): Idle[] {
  const work = moments.filter(({ tool }) => tool === null || !onlyWaits(tool));
  const idle: Idle[] = [];
  let workedMs = 0;
  const rest = (untilMs: number) => {
    if (untilMs - workedMs > LEAST_MS) idle.push({ startMs: workedMs, endMs: untilMs });
  };
  for (const moment of work.toSorted((one, other) => one.startMs - other.startMs)) {
    rest(moment.startMs);
    workedMs = Math.max(workedMs, moment.endMs ?? endMs);
  }
  // Without any call nothing is known, and not everything is idle.
  if (work.length > 0) rest(endMs);
  return idle;
}

/** The idle stretches that a drawing leaves out. */
export function foldedIn(idle: readonly Idle[], endMs: number): Idle[] {
  const measure = (stretch: Idle) => stretch.endMs - stretch.startMs;
  const workMs = idle.reduce((left, stretch) => left - measure(stretch), endMs);
  return idle.filter((stretch) => measure(stretch) > workMs * LEAST_SHARE);
}

/** The same when time has gone on since: what was idle at the end still is. */
export function idleUntil(idle: readonly Idle[], thenMs: number, nowMs: number): readonly Idle[] {
  const last = idle.at(-1);
  if (!last || last.endMs < thenMs || nowMs <= thenMs) return idle;
  return [...idle.slice(0, -1), { ...last, endMs: nowMs }];
}
