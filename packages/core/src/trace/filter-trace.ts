import type { Trace, TraceRun } from "../schema/inspect/trace.ts";
import { hasFailed, nameStatus } from "../show/standing.ts";
import { walkRuns } from "../show/walk-runs.ts";

/** Which runs of a trace are wanted; what is absent lets every run through. */
export type TraceFilter = {
  agent?: string;
  /** A status of the record, or `partial`. */
  status?: string;
  /** Runs of which something opened or closed after this seq. */
  sinceSeq?: number;
  /** Nothing deeper below the roots of the result. */
  depth?: number;
  /** Only this run and what is below it. */
  run?: TraceRun;
};

/** The run that failed before any other did: of a chain of failures, the one where it began. */
export function firstFailure(roots: readonly TraceRun[]): TraceRun | undefined {
  let first: TraceRun | undefined;
  for (const run of walkRuns(roots)) {
    if (!hasFailed(run)) continue;
    if (!first || closing(run) < closing(first)) first = run;
  }
  return first;
}

/** The wanted runs, and those above them so that each stays in its place. The trace that is given stays as it is. */
export function filterTrace(trace: Trace, filter: TraceFilter): Trace {
  const { depth = Number.POSITIVE_INFINITY, run } = filter;
  const roots = run ? [run] : trace.runs;
  const base = run?.depth ?? 0;
  // Children before their parents, so that each knows what is left below it.
  const kept = new Map<TraceRun, TraceRun>();
  for (const one of [...walkRuns(roots)].reverse()) {
    if (one.depth - base > depth) continue;
    const matched = isWanted(one, filter);
    const children = one.children.flatMap((child) => kept.get(child) ?? []);
    if (matched || children.length > 0) kept.set(one, { ...one, matched, children });
  }
  return { ...trace, runs: roots.flatMap((root) => kept.get(root) ?? []) };
}

function isWanted(run: TraceRun, { agent, status, sinceSeq }: TraceFilter): boolean {
  if (agent !== undefined && run.agent !== agent) return false;
  if (status !== undefined && nameStatus(run) !== status) return false;
  return sinceSeq === undefined || changedAfter(run, sinceSeq);
}

function changedAfter({ openedSeq, closedSeq, turns, calls }: TraceRun, seq: number): boolean {
  const spans = [{ openedSeq, closedSeq }, ...turns, ...calls];
  return spans.some((span) => span.openedSeq > seq || (span.closedSeq ?? 0) > seq);
}

function closing({ closedSeq }: TraceRun): number {
  return closedSeq ?? Number.POSITIVE_INFINITY;
}
