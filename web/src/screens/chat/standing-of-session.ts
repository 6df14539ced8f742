import type { SessionCard } from "../../../../src/schema/api/session.ts";

/** How a session stands for the person: one that works on while a part of it asks needs them all the same. */
export function standingOfSession({ state, asks }: SessionCard): string {
  return state === "running" && asks > 0 ? "waiting" : state;
}
