import type { RetinueErrorCode } from "@retinue/core/schema/error";
import type { BailoutReason, RunResult } from "@retinue/core/schema/result";

/** What the program answers its caller with. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  auth: 41,
  input: 42,
  config: 52,
  limit: 53,
  denied: 54,
} as const;

const BY_CODE: Readonly<Record<RetinueErrorCode, number>> = { ...EXIT, store: EXIT.failed };

/** The exit code of an error that a person must fix. */
export function findExitCode(code: RetinueErrorCode): number {
  return BY_CODE[code];
}

const LIMITS: readonly BailoutReason[] = [
  "max_iterations",
  "max_tool_calls",
  "max_tokens",
  "max_cost",
  "deadline",
  "timeout",
  "loop_detected",
];

/**
 * The exit code of a run. `unanswered`: something needed approval and nobody was there to give it, which a
 * caller must learn even if the run found a way around it.
 */
export function chooseExitCode(result: RunResult, unanswered: boolean): number {
  const { success, partial, status, bailout_reason: bailout, error } = result;
  if (success) return unanswered ? EXIT.denied : EXIT.ok;
  if (error?.type === "auth") return EXIT.auth;
  if (error?.type === "config") return EXIT.config;
  if (error?.type === "budget" || error?.type === "spawn_limit") return EXIT.limit;
  if (unanswered || error?.type === "permission" || error?.type === "not_allowed") return EXIT.denied;
  if (error?.type === "deliverable") return EXIT.failed;
  if (bailout && LIMITS.includes(bailout)) return EXIT.limit;
  if (status === "completed" && partial) return EXIT.limit;
  return EXIT.failed;
}
