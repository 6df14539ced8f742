import type { RunView } from "../../../../../src/schema/api/session.ts";

const REASONS: Readonly<Record<string, string>> = {
  max_iterations: "it had taken all its turns",
  max_tool_calls: "it had made all its tool calls",
  max_tokens: "its tokens were used up",
  max_cost: "its money was spent",
  deadline: "its deadline had come",
  timeout: "its time was up",
  first_token_timeout: "the model did not begin to answer",
  idle_timeout: "the model fell silent",
  loop_detected: "it went in circles",
  not_started: "it was never started",
  cancelled: "it was stopped",
  error: "something went wrong",
};

/** How a run that did not simply get done came to its end. */
export function endInWords({
  status,
  partial,
  bailoutReason,
}: Pick<RunView, "status" | "partial" | "bailoutReason">): string {
  const why = bailoutReason && bailoutReason !== status ? REASONS[bailoutReason] : undefined;
  if (partial) return why ? `Cut short: ${why}.` : "Cut short.";
  if (status === "failed") return "Failed.";
  if (status === "timeout") return why ? `Timed out: ${why}.` : "Timed out.";
  if (bailoutReason === "not_started") return "Not started.";
  if (status === "cancelled") return "Stopped.";
  return "Done.";
}
