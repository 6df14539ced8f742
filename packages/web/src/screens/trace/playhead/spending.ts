import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { type CallMoment, upperBound } from "./moments.ts";

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
