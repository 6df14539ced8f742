import type { SessionCard } from "../schema/api/session.ts";
import type { WaitingOn } from "../schema/event.ts";
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

const ICONS: Readonly<Record<RunStatus, string>> = {
  pending: "⏳",
  running: "⏳",
  completed: "✅",
  failed: "❌",
  cancelled: "⚠️",
  timeout: "⏱️",
};

/** A status as icon and word; a run that a limit cut short is never shown as plainly completed. */
export function showStatus(status: RunStatus, partial = false): string {
  if (status === "completed" && partial) return "⚠️ partial";
  return `${ICONS[status]} ${status}`;
}

/** What a run waits for, in words. */
export const WAITS: Readonly<Record<WaitingOn, string>> = {
  children: "sub-agents",
  approval: "approval",
  budget: "budget",
  slot: "a slot",
  provider: "the provider",
  pause: "the end of the pause",
  store: "the disk",
};
