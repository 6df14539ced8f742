import type { WaitingOn } from "@retinue/core/schema/event";
import type { RunStatus } from "@retinue/core/schema/result";

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

/** Says that a list was cut at its limit. */
export function sayMore(limit: number): string {
  return `hint: there are more than ${limit}; see more of them with --limit`;
}
