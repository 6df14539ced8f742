import type { SessionCard } from "../schema/api/session.ts";
import type { RunStatus } from "../schema/result.ts";

/** How a run stands in one word: one that was cut short is not simply completed. */
export function nameStatus({ status, partial }: { status: string; partial: boolean }): string {
  return partial ? "partial" : status;
}

/** How a session stands in one word: one that works on while a part of it asks needs the person all the same. */
export function nameSessionStatus({ state, asks }: Pick<SessionCard, "state" | "asks">): string {
  return state === "running" && asks > 0 ? "waiting" : state;
}

/** Whether a run did not do what it was for. */
export function hasFailed({ status }: { status: RunStatus }): boolean {
  return status === "failed" || status === "timeout";
}
