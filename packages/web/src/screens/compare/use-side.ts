import { useEffect, useMemo, useRef } from "react";
import { useSessionDetail, useTraceQuery } from "../../data/queries.ts";
import { useAddress } from "../../ui/use-address.ts";
import { gatherFacts } from "./facts.ts";

/** A session with its tree of runs. Whenever its record has grown the tree is read again. */
export function useSide(sessionId: string) {
  const detail = useSessionDetail(sessionId);
  // After the other, so that the tree is never older than the seq beside it.
  const { query: trace, reload } = useTraceQuery(sessionId, { enabled: detail.isSuccess });
  const seq = detail.data?.seq;
  const read = useRef({ sessionId, seq });
  useEffect(() => {
    const { current: before } = read;
    read.current = { sessionId, seq };
    if (before.sessionId === sessionId && before.seq !== undefined && before.seq !== seq) reload();
  }, [sessionId, seq, reload]);
  const failure = (detail.data ? null : detail.error) ?? (trace.data ? null : trace.error);
  return {
    sessionId,
    card: detail.data?.session,
    trace: trace.data,
    /** When the trace was read, by the clock of this page. */
    readAtMs: trace.dataUpdatedAt,
    /** Why it cannot be had; null while nothing is known against it. */
    failure,
    retry: () => void (detail.isError ? detail : trace).refetch(),
  };
}

/** A session that is there, as it is compared. */
export type Compared = NonNullable<ReturnType<typeof useCompared>>;

/** Makes a side comparable; null while anything of it is missing. `clockMs` matters only while the session is at work. */
export function useCompared({ card, trace, readAtMs }: ReturnType<typeof useSide>, clockMs: number) {
  const aheadMs = card?.state === "running" ? Math.max(0, clockMs - readAtMs) : 0;
  return useMemo(() => {
    if (!card || !trace) return null;
    const facts = gatherFacts(trace, card, aheadMs);
    /** `nowMs`: the present moment in milliseconds from the start of its first run. */
    return { card, trace, facts, nowMs: trace.endMs + aheadMs };
  }, [card, trace, aheadMs]);
}

/** Which sessions are compared, which the address says. */
export function useComparedIds() {
  const { params, change } = useAddress();
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  return { a, b, swap: () => change({ a: b, b: a }) };
}
