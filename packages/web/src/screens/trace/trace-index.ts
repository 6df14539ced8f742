import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { walkRuns } from "@retinue/core/show/walk-runs";

/** The runs of a trace by their ids, parents before children. */
export type TraceIndex = {
  readonly byId: ReadonlyMap<string, TraceRun>;
  /** Runs that failed, in the order in which they did: of a chain of failures the one where it began comes first. */
  readonly failures: readonly TraceRun[];
};

/** Makes the index of a trace. */
export function indexTrace(roots: readonly TraceRun[]): TraceIndex {
  const byId = new Map<string, TraceRun>();
  const failures: TraceRun[] = [];
  for (const run of walkRuns(roots)) {
    byId.set(run.runId, run);
    if (run.status === "failed" || run.status === "timeout") failures.push(run);
  }
  const closing = ({ closedSeq }: TraceRun) => closedSeq ?? Number.POSITIVE_INFINITY;
  return { byId, failures: failures.sort((one, other) => closing(one) - closing(other)) };
}

/** The runs above a run, root first. */
export function chainAbove({ byId }: TraceIndex, run: TraceRun): TraceRun[] {
  const chain: TraceRun[] = [];
  for (let at = byId.get(run.parentRunId ?? ""); at; at = byId.get(at.parentRunId ?? "")) chain.unshift(at);
  return chain;
}
