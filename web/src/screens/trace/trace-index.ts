import type { TraceRun } from "../../../../src/schema/inspect/trace.ts";

/** The runs of a trace by their ids, parents before children. */
export type TraceIndex = {
  readonly byId: ReadonlyMap<string, TraceRun>;
  /** Runs that failed, in the order in which they did: of a chain of failures the one where it began comes first. */
  readonly failures: readonly TraceRun[];
};

/** Every run, parents before children, without recursion: a chain may be deep. */
export function* everyRun(roots: readonly TraceRun[]): Generator<TraceRun> {
  const stack = roots.toReversed();
  for (let run = stack.pop(); run; run = stack.pop()) {
    yield run;
    for (const child of run.children.toReversed()) stack.push(child);
  }
}

/** Makes the index of a trace. */
export function indexTrace(roots: readonly TraceRun[]): TraceIndex {
  const byId = new Map<string, TraceRun>();
  const failures: TraceRun[] = [];
  for (const run of everyRun(roots)) {
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
