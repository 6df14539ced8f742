import type { SessionCard } from "@retinue/core/schema/api/session";
import type { Trace } from "@retinue/core/schema/inspect/trace";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "wouter";
import { readTrace, renew, useSessionDetail } from "../../data/queries.ts";
import { gatherFacts, type SessionFacts } from "./session-facts.ts";

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

/** How the two answers are shown: beside each other, or as one text in which words or lines are marked. */
const ANSWER_VIEWS = ["beside", "words", "lines"] as const;
export type AnswerView = (typeof ANSWER_VIEWS)[number];

/** What is compared and how it is looked at, which lives in the address. */
export function useCompareAddress() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Readonly<Record<string, string>>) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === "") after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  const view = params.get("answers");
  return {
    a,
    b,
    swap: () => set({ a: b, b: a }),
    /** Runs that are the same on both sides are left out. */
    isOnlyDifferent: params.get("runs") === "differences",
    showRuns: (which: "all" | "differences") => set({ runs: which === "all" ? "" : which }),
    answerView: ANSWER_VIEWS.find((one) => one === view) ?? "beside",
    showAnswers: (which: AnswerView) => set({ answers: which === "beside" ? "" : which }),
    /** Which of several prompts the answers are of, from 1; null for the last one. */
    prompt: Number(params.get("prompt")) || null,
    showPrompt: (prompt: number) => set({ prompt: String(prompt) }),
  };
}
