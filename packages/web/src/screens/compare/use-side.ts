import type { SessionCard } from "@retinue/core/schema/api/session";
import type { Trace } from "@retinue/core/schema/inspect/trace";
import { useEffect, useMemo, useRef } from "react";
import { useSessionDetail, useTraceQuery } from "../../data/queries.ts";
import { useAddress } from "../../ui/use-address.ts";
import { gatherFacts, type SessionFacts } from "./facts.ts";

/** One of the two sessions, as far as it is there. */
type Side = {
  sessionId: string;
  card: SessionCard | undefined;
  trace: Trace | undefined;
  /** When the trace was read, by the clock of this page. */
  readAtMs: number;
  /** Why it cannot be had; null while nothing is known against it. */
  failure: unknown;
  retry(): void;
};

/** A session with its tree of runs. Whenever its record has grown the tree is read again. */
export function useSide(sessionId: string): Side {
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
    readAtMs: trace.dataUpdatedAt,
    failure,
    retry: () => void (detail.isError ? detail : trace).refetch(),
  };
}

/** A session that is there, as it is compared. */
export type Compared = {
  card: SessionCard;
  trace: Trace;
  facts: SessionFacts;
  /** The present moment in milliseconds from the start of its first run. */
  nowMs: number;
};

/** Makes a side comparable; null while anything of it is missing. `clockMs` matters only while the session is at work. */
export function useCompared({ card, trace, readAtMs }: Side, clockMs: number): Compared | null {
  const aheadMs = card?.state === "running" ? Math.max(0, clockMs - readAtMs) : 0;
  return useMemo(() => {
    if (!card || !trace) return null;
    return { card, trace, facts: gatherFacts(trace, card, aheadMs), nowMs: trace.endMs + aheadMs };
  }, [card, trace, aheadMs]);
}

/** Which sessions are compared, which the address says. */
export function useComparedIds() {
  const { params, change } = useAddress();
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  return { a, b, swap: () => change({ a: b, b: a }) };
}
