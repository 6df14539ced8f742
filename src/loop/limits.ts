import type { BailoutReason } from "../schema/result.ts";
import type { Run } from "./run.ts";

/** The part of a run's time, and the most of it, that is kept for its last report. */
const WRAP_UP_SHARE = 0.1;
const MAX_WRAP_UP_MS = 30_000;

/** Milliseconds at the end of a run's time that belong to its last report, so that its children must end before. */
export function wrapUpReserveMs({
  deadlineMs,
  startedMs,
}: Pick<Run["spec"], "deadlineMs" | "startedMs">): number {
  return Math.min(MAX_WRAP_UP_MS, (deadlineMs - startedMs) * WRAP_UP_SHARE);
}

/** The limit that a run has reached and that ends it after one last turn; null while it may go on. */
export function limitReached(run: Run, nowMs: number): BailoutReason | null {
  const { limits } = run.spec;
  if (run.turn >= limits.turns) return "max_iterations";
  if (run.overToolCalls) return "max_tool_calls";
  if (run.turn > 0 && nowMs >= run.deadlineMs - wrapUpReserveMs(run.spec)) return "deadline";
  return null;
}
