import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef } from "react";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import type { Trace } from "../../../../src/schema/inspect/trace.ts";
import { renew } from "../../api/queries.ts";
import { readTrace } from "../../api/read-trace.ts";
import { useSessionDetail } from "./use-session-detail.ts";

/** One of the two sessions, as far as it is there. */
export type Side = {
  sessionId: string;
  card: SessionCard | undefined;
  trace: Trace | undefined;
  /** When the trace was read, by the clock of this page. */
  readAtMs: number;
  /** Why it cannot be had; null while nothing is known against it. */
  failure: unknown;
  retry(): void;
};

const LEAST_WAIT_MS = 1_000;
/** A trace that takes long to load is loaded less often: at most a fifth of the time goes into it. */
const WAIT_PER_LOAD = 4;

/** A session with its tree of runs. Whenever its record has grown the tree is read again. */
export function useSide(sessionId: string): Side {
  const detail = useSessionDetail(sessionId);
  const tookMs = useRef(0);
  const trace = useQuery({
    queryKey: ["trace", sessionId],
    queryFn: async () => {
      const beganMs = performance.now();
      const read = await readTrace(sessionId);
      tookMs.current = performance.now() - beganMs;
      return read;
    },
    staleTime: 0,
    // After the other, so that the tree is never older than the seq beside it.
    enabled: detail.isSuccess,
  });
  useReload(sessionId, detail.data?.seq, tookMs);
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

function useReload(sessionId: string, seq: number | undefined, tookMs: RefObject<number>): void {
  const read = useRef({ sessionId, seq, atMs: 0 });
  useEffect(() => {
    const { current } = read;
    if (current.sessionId !== sessionId || current.seq === undefined) {
      read.current = { sessionId, seq, atMs: performance.now() };
      return;
    }
    if (seq === undefined || seq === current.seq) return;
    const wait = Math.max(LEAST_WAIT_MS, tookMs.current * WAIT_PER_LOAD);
    const timer = setTimeout(
      () => {
        read.current = { sessionId, seq, atMs: performance.now() };
        void renew({ queryKey: ["trace", sessionId] });
      },
      Math.max(0, current.atMs + wait - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [sessionId, seq, tookMs]);
}
