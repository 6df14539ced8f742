import type { BailoutReason } from "../schema/result.ts";
import type { Run } from "./run.ts";

/** The part of a run's time that is kept for its last report. */
const WRAP_UP_SHARE = 0.2;

/** The limit that a run has reached and that ends it after one last turn; null while it may go on. */
export function limitReached(run: Run, nowMs: number): BailoutReason | null {
  const { limits } = run.spec;
  if (run.turn >= limits.turns) return "max_iterations";
  if (run.overToolCalls) return "max_tool_calls";
  if (run.turn > 0 && nowMs >= run.deadlineMs - limits.timeoutMs * WRAP_UP_SHARE) return "deadline";
  return null;
}
