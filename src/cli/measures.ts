import type { WaitingOn } from "../schema/event.ts";
import type { RunStatus } from "../schema/result.ts";

const ICONS: Readonly<Record<RunStatus, string>> = {
  pending: "⏳",
  running: "⏳",
  completed: "✅",
  failed: "❌",
  cancelled: "⚠️",
  timeout: "⏱️",
};

/** A status as icon and word; what was cut short by a limit is never shown as plainly completed. */
export function statusLabel(status: RunStatus, partial = false): string {
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

/** A length of time as people read it. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** How long something has lasted that goes on: whole seconds, because a finer number would never stand still. */
export function showElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds}s` : showDuration(seconds * 1_000);
}

/** A number in at most five signs: `812`, `4.2k`, `123k`, `1.2M`. */
export function showShort(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return count < 9_950_000 ? `${(count / 1_000_000).toFixed(1)}M` : `${Math.round(count / 1_000_000)}M`;
}

/** An amount of money; what nobody knows is `?`, never nothing. */
export function showCost(usd: number | null): string {
  if (usd === null) return "$?";
  if (usd === 0) return "$0";
  return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}

/** `1 turn`, `2 turns`, `1,234 tokens`. */
export function countOf(count: number, thing: string): string {
  // The first use of a locale takes 30 ms, a tenth of a short run.
  const digits = count < 1_000 ? String(count) : count.toLocaleString("en-US");
  return `${digits} ${thing}${count === 1 ? "" : "s"}`;
}

/** That a list ends where it was told to end, and not where there is nothing more. */
export function sayMore(limit: number): string {
  return `hint: there are more than ${limit}; see more of them with --limit`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
