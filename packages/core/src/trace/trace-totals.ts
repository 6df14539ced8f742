import type { TraceRun, TraceTotals } from "../schema/inspect/trace.ts";
import type { Stretch } from "../show/timeline.ts";
import { walkRuns } from "../show/walk-runs.ts";

/** Fills in what each run spent by itself and with everything below it, and says what all of them amount to. */
export function addUp(roots: readonly TraceRun[], work: readonly Stretch[]): TraceTotals {
  const runs = [...walkRuns(roots)];
  for (const run of runs) spendSelf(run);
  // Children come after their parent, so that going backwards each run's own sum is complete.
  for (const run of runs.toReversed()) spendSubtree(run);
  const statuses: Record<string, number> = {};
  for (const run of runs) {
    const status = run.partial ? "partial" : run.status;
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return {
    runs: runs.length,
    agents: new Set(runs.map((run) => run.agent)).size,
    depth: runs.reduce((deepest, run) => Math.max(deepest, run.depth), 0),
    atOnce: mostAtOnce(runs),
    turns: runs.reduce((sum, run) => sum + run.turns.length, 0),
    calls: runs.reduce((sum, run) => sum + run.calls.length, 0),
    statuses,
    tokens: roots.reduce((sum, run) => sum + run.tokens.subtree, 0),
    costUsd: sumOf(roots.map((run) => run.costUsd.subtree)),
    activeMs: work.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0),
  };
}

/** A run that has not ended has spent what its ended model calls did. */
function spendSelf(run: TraceRun): void {
  if (run.endMs !== null) return;
  const ended = run.turns.filter((turn) => turn.endMs !== null);
  run.tokens.self = ended.reduce((sum, { tokens }) => sum + tokens.input + tokens.output, 0);
  run.costUsd.self = sumOf(ended.map((turn) => turn.costUsd));
  run.iterations = run.turns.length;
}

function spendSubtree(run: TraceRun): void {
  run.tokens.subtree = run.children.reduce((sum, child) => sum + child.tokens.subtree, run.tokens.self);
  run.costUsd.subtree = sumOf([run.costUsd.self, ...run.children.map((child) => child.costUsd.subtree)]);
}

/** A sum with something unknown in it is unknown. */
function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

/** By the record's own count of openings and closings, no two of which are the same moment. */
function mostAtOnce(runs: readonly TraceRun[]): number {
  const steps = runs.flatMap(({ openedSeq, closedSeq }) => [
    { seq: openedSeq, by: 1 },
    ...(closedSeq === null ? [] : [{ seq: closedSeq, by: -1 }]),
  ]);
  let now = 0;
  let most = 0;
  for (const { by } of steps.sort((one, other) => one.seq - other.seq)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
