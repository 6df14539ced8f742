import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { hasFailed } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { useEffect, useMemo } from "react";
import { useTraceQuery } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { createTimeAxis } from "./time-axis.ts";

const COUNT_MS = 4_000;

/** The trace of the surrounding session. While something is at work it is loaded again whenever the tree changes. */
export function useTrace() {
  const store = useSession();
  // Turns and calls change nothing about the tree, and are counted all the same.
  const { query, reload } = useTraceQuery(store.sessionId, { countMs: COUNT_MS });
  // The tree is what a person waits for; what keeps it up to date comes after it.
  const { isFetched } = query;
  useEffect(() => {
    if (isFetched) store.begin();
  }, [isFetched, store]);
  useEffect(() => {
    // The first load of the session tells nothing that the trace does not say.
    const onChange = () => {
      if (store.loading.value.state !== "loading") reload();
    };
    let before = store.session.value;
    const leave = [
      store.shape.subscribe(onChange),
      store.session.subscribe(() => {
        const { value: now } = store.session;
        if (before && (now?.state !== before.state || now?.asks !== before.asks)) onChange();
        before = now;
      }),
    ];
    return () => {
      for (const stop of leave) stop();
    };
  }, [store, reload]);
  const { data: trace, dataUpdatedAt } = query;
  const isRunning = trace?.session.state === "running";
  const now = useNow(isRunning);
  // By the server's clock: what it said last, and how long ago that was here.
  const nowMs = (trace?.endMs ?? 0) + (isRunning ? Math.max(0, now - dataUpdatedAt) : 0);
  const index = useMemo(() => indexTrace(trace?.runs ?? []), [trace]);
  const timeline = useMemo(() => createTimeAxis({ gaps: trace?.gaps ?? [] }, nowMs), [trace, nowMs]);
  return { query, trace, index, timeline, nowMs };
}

/** The runs of a trace by their ids, parents before children. */
export type TraceIndex = ReturnType<typeof indexTrace>;

function indexTrace(roots: readonly TraceRun[]) {
  const byId = new Map<string, TraceRun>();
  const failures: TraceRun[] = [];
  for (const run of walkRuns(roots)) {
    byId.set(run.runId, run);
    if (hasFailed(run)) failures.push(run);
  }
  // Of a chain of failures the one where it began comes first.
  const closing = ({ closedSeq }: TraceRun) => closedSeq ?? Number.POSITIVE_INFINITY;
  return { byId, failures: failures.sort((one, other) => closing(one) - closing(other)) };
}

/** The runs above a run, root first. */
export function chainAbove({ byId }: TraceIndex, run: TraceRun): TraceRun[] {
  const chain: TraceRun[] = [];
  for (let at = byId.get(run.parentRunId ?? ""); at; at = byId.get(at.parentRunId ?? "")) chain.unshift(at);
  return chain;
}
