import { useMemo } from "react";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import type { Trace } from "../../../../src/schema/inspect/trace.ts";
import { factsOfSession, type SessionFacts } from "./figures/facts-of-session.ts";
import type { Side } from "./use-side.ts";

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
    return { card, trace, facts: factsOfSession(trace, card, aheadMs), nowMs: trace.endMs + aheadMs };
  }, [card, trace, aheadMs]);
}
