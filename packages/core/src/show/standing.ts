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

/** Where a session stands for the person: it waits for them, it is at work, or it is over. */
export type SessionGroup = "needsYou" | "running" | "done";

/** The group of a session. One that was interrupted goes on only if the person says so. */
export function groupSession({ state, asks }: Pick<SessionCard, "state" | "asks">): SessionGroup {
  if (state === "waiting" || state === "interrupted" || (state === "running" && asks > 0)) return "needsYou";
  return state === "running" || state === "pending" ? "running" : "done";
}

const CONTEXTS: Readonly<Record<string, string>> = {
  task_only: "the task alone",
  summary: "a summary",
  full: "the whole conversation",
  selective: "chosen parts",
};

/** What the context mode of a delegation means. */
export function describeContext(mode: string | null): string | null {
  return mode === null ? null : (CONTEXTS[mode] ?? mode);
}

const BAILOUTS: Readonly<Record<string, string>> = {
  max_iterations: "it used all its turns",
  max_tool_calls: "it used all its tool calls",
  max_tokens: "its tokens were used up",
  max_cost: "its cost limit was reached",
  deadline: "its deadline passed",
  timeout: "it ran out of time",
  first_token_timeout: "the model did not start to answer",
  idle_timeout: "the model stopped answering",
  loop_detected: "it was going in circles",
  not_started: "it never started",
  cancelled: "it was stopped",
  error: "something went wrong",
};

/** How a run that did not simply get done came to its end. */
export function describeEnd({
  status,
  partial,
  bailoutReason,
}: {
  status: RunStatus;
  partial: boolean;
  bailoutReason: string | null;
}): string {
  const why = bailoutReason && bailoutReason !== status ? BAILOUTS[bailoutReason] : undefined;
  if (partial) return why ? `Cut short: ${why}.` : "Cut short.";
  if (status === "failed") return "Failed.";
  if (status === "timeout") return why ? `Timed out: ${why}.` : "Timed out.";
  if (bailoutReason === "not_started") return "Not started.";
  if (status === "cancelled") return "Stopped.";
  return "Done.";
}
