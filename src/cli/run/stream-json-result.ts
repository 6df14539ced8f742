import { ANSWER_FORM } from "../../loop/deliverables.ts";
import type { Approval } from "../../schema/record.ts";
import type { RunResult, Usage } from "../../schema/result.ts";
import { type WaitingLine, waitingLine } from "../approve/describe-waiting.ts";

/** What is counted while a stream goes on. */
export type StreamTotals = {
  usage: Usage;
  denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[];
  /** Results of all sub-agents, retries included. */
  runs: RunResult[];
};

/**
 * The last line of a stream: what scripts written for Claude Code read, and beside it all of the result. Usage and cost
 * are of the whole tree; an unknown price is null.
 */
export function resultMessage(
  result: RunResult,
  { usage, denials, runs }: StreamTotals,
  approvals: readonly Approval[],
): object {
  const waiting = approvals.map(waitingLine);
  const shown = waiting.length > 0 ? leftForLater(result, waiting) : result;
  const subtype = waiting.length > 0 ? "parked" : subtypeOf(result);
  return {
    type: "result",
    subtype,
    is_error: subtype !== "success",
    result: shown.details || shown.summary,
    num_turns: result.iteration_count,
    total_cost_usd: result.cost_usd.subtree,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    permission_denials: waiting.length > 0 ? [] : denials,
    subagent_stats: statsOf(waiting.length > 0 ? [] : runs),
    ...(hasFittingAnswer(result) && { structured_output: result.data }),
    ...(waiting.length > 0 && { waiting }),
    ...shown,
  };
}

/** Whether the run was asked for an answer of a given form, and gave it. */
export function hasFittingAnswer(result: RunResult): boolean {
  return wantsForm(result) && result.success && result.data !== undefined;
}

/** Whether the run was asked for an answer of a given form. */
export function wantsForm({ deliverables }: RunResult): boolean {
  return deliverables.some((one) => one.deliverable === ANSWER_FORM);
}

/** What is known of a run that waits: it has not ended, whatever became of it in this process. */
function leftForLater(result: RunResult, waiting: readonly WaitingLine[]): RunResult {
  const { error: _error, bailout_reason: _bailout, data: _data, ...rest } = result;
  const ids = waiting.map((one) => one.approval_id).join(", ");
  const summary = `waiting for approval: ${ids}; answer with: retinue approve ${waiting[0]?.approval_id}`;
  return { ...rest, status: "running", success: false, partial: true, summary, details: summary };
}

function subtypeOf({ success, bailout_reason: bailout }: RunResult): string {
  if (bailout === "max_iterations") return "error_max_turns";
  if (bailout === "max_cost") return "error_max_budget_usd";
  return success && !bailout ? "success" : "error_during_execution";
}

/** Completed with what there was when a limit cut it short: neither a success nor a failure. */
function isPartial({ status, partial }: RunResult): boolean {
  return status === "completed" && partial;
}

function statsOf(runs: readonly RunResult[]): object {
  const byAgent = Map.groupBy(runs, (run) => run.agent);
  const count = (some: readonly RunResult[]) => ({
    runs: some.length,
    succeeded: some.filter((run) => run.success).length,
    failed: some.filter((run) => !run.success && !isPartial(run) && run.status !== "cancelled").length,
    partial: some.filter(isPartial).length,
    cancelled: some.filter((run) => run.status === "cancelled").length,
    tokens: some.reduce((sum, run) => sum + run.tokens.self, 0),
  });
  return {
    ...count(runs),
    by_agent: Object.fromEntries([...byAgent].map(([name, some]) => [name, count(some)])),
  };
}
