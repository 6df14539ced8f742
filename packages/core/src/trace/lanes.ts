import type { TraceRun } from "../schema/inspect/trace.ts";
import { walkRuns } from "../show/walk-runs.ts";

/** Marks runs that overlap a sibling. The record counts every opening and closing, so this is exact where clocks are not. */
export function markParallel(roots: readonly TraceRun[]): void {
  markSiblings(roots);
  for (const run of walkRuns(roots)) markSiblings(run.children);
}

function markSiblings(siblings: readonly TraceRun[]): void {
  const closing = (run: TraceRun) => run.closedSeq ?? Number.POSITIVE_INFINITY;
  let latest: TraceRun | undefined;
  for (const run of siblings.toSorted((one, other) => one.openedSeq - other.openedSeq)) {
    if (latest && run.openedSeq < closing(latest)) {
      run.parallel = true;
      latest.parallel = true;
    }
    if (!latest || closing(run) > closing(latest)) latest = run;
  }
}

/** More lanes than anybody can look at; what does not fit shares the last one. */
const MOST_LANES = 200;

/**
 * Gives each run the first lane below its parent's that is free when it begins. Runs are taken by their start, so that
 * each lane only has to know when it is free again.
 */
export function assignLanes(roots: readonly TraceRun[], nowMs: number): void {
  const parents = new Map<TraceRun, TraceRun>();
  const runs = [...walkRuns(roots)];
  for (const run of runs) for (const child of run.children) parents.set(child, run);
  const freeAt: number[] = [];
  for (const run of runs.sort(
    (one, other) => one.startMs - other.startMs || one.openedSeq - other.openedSeq,
  )) {
    const parent = parents.get(run);
    let lane = parent ? parent.lane + 1 : 0;
    while (lane < MOST_LANES && (freeAt[lane] ?? 0) > run.startMs) lane++;
    freeAt[lane] = Math.max(run.startMs + 1, run.endMs ?? nowMs);
    run.lane = lane;
  }
}
