import type { MomentList } from "@retinue/core/schema/api/inspect";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";

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

/** What some runs had used at any moment: sums that only grow, by the moments at which they did. */
export type Spending = {
  readonly times: Float64Array;
  readonly tokens: Float64Array;
  readonly costUsd: Float64Array;
  /** From then on the cost is not known. */
  readonly unknownFromMs: number;
};

type Gain = { atMs: number; tokens: number; costUsd: number };

/** Adds up what runs used. `findTurns` gives the calls of a run, of which those of tools take nothing. */
export function createSpending(
  runs: Iterable<TraceRun>,
  findTurns: (runId: string) => readonly CallMoment[],
): Spending {
  const gains: Gain[] = [];
  let unknownFromMs = Number.POSITIVE_INFINITY;
  for (const run of runs)
    unknownFromMs = Math.min(unknownFromMs, gain(run, listEnded(findTurns(run.runId)), gains));
  gains.sort((one, other) => one.atMs - other.atMs);
  const spending = {
    times: Float64Array.from(gains, ({ atMs }) => atMs),
    tokens: new Float64Array(gains.length),
    costUsd: new Float64Array(gains.length),
    unknownFromMs,
  };
  let tokens = 0;
  let costUsd = 0;
  for (const [index, each] of gains.entries()) {
    spending.tokens[index] = tokens += each.tokens;
    spending.costUsd[index] = costUsd += each.costUsd;
  }
  return spending;
}

/** What had been used by a moment; a sum with something unknown in it is unknown. */
export function spentAt(spending: Spending, atMs: number): { tokens: number; costUsd: number | null } {
  const at = upperBound(spending.times, atMs) - 1;
  return {
    tokens: spending.tokens[at] ?? 0,
    costUsd: atMs >= spending.unknownFromMs ? null : (spending.costUsd[at] ?? 0),
  };
}

type Ended = CallMoment & { endMs: number };

function listEnded(moments: readonly CallMoment[]): Ended[] {
  const isEnded = (moment: CallMoment): moment is Ended => moment.tool === null && moment.endMs !== null;
  return moments.filter(isEnded).sort((one, other) => one.endMs - other.endMs);
}

/**
 * What a run used, turn by turn, and since when its cost is not known. Once a run has ended the record has its own figures,
 * which are the last word: its turns never come to more, and its end brings what they lacked.
 */
function gain(run: TraceRun, turns: readonly Ended[], gains: Gain[]): number {
  const isEnded = run.endMs !== null;
  const mostTokens = isEnded ? run.tokens.self : Number.POSITIVE_INFINITY;
  const mostUsd = isEnded ? (run.costUsd.self ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  const isUnknown = run.costUsd.self === null || !isEnded;
  let tokens = 0;
  let costUsd = 0;
  let unknownFromMs = Number.POSITIVE_INFINITY;
  const add = (atMs: number, moreTokens: number, moreUsd: number) => {
    const given = { atMs, tokens: Math.min(moreTokens, mostTokens - tokens), costUsd: moreUsd };
    given.costUsd = Math.min(moreUsd, mostUsd - costUsd);
    tokens += given.tokens;
    costUsd += given.costUsd;
    if (given.tokens > 0 || given.costUsd > 0) gains.push(given);
  };
  for (const turn of turns) {
    if (run.endMs !== null && turn.endMs > run.endMs) break;
    if (turn.costUsd === null && isUnknown) unknownFromMs = Math.min(unknownFromMs, turn.endMs);
    add(turn.endMs, turn.tokens, turn.costUsd ?? 0);
  }
  if (run.endMs === null) return unknownFromMs;
  add(run.endMs, mostTokens - tokens, run.costUsd.self === null ? 0 : mostUsd - costUsd);
  return run.costUsd.self === null ? Math.min(unknownFromMs, run.endMs) : unknownFromMs;
}
