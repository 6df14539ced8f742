import type { RunResult, Usage } from "../../schema/result.ts";

/** What is counted while a stream goes on. */
export type StreamTotals = {
  usage: Usage;
  denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[];
  /** Results of all sub-agents, retries included. */
  runs: RunResult[];
};

/** The last line of a stream. Usage is of the whole tree, and so is the cost; an unknown price is null. */
export function resultMessage(result: RunResult, { usage, denials, runs }: StreamTotals): object {
  const subtype = subtypeOf(result);
  return {
    type: "result",
    subtype,
    is_error: subtype !== "success",
    result: result.details || result.summary,
    duration_ms: result.duration_ms,
    num_turns: result.iteration_count,
    session_id: result.session_id,
    total_cost_usd: result.cost_usd.subtree,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    permission_denials: denials,
    subagent_stats: statsOf(runs),
    ...(result.error && { error: result.error }),
    ...(result.bailout_reason && { bailout_reason: result.bailout_reason }),
  };
}

function subtypeOf({ success, bailout_reason: bailout }: RunResult): string {
  if (bailout === "max_iterations") return "error_max_turns";
  if (bailout === "max_cost") return "error_max_budget_usd";
  return success && !bailout ? "success" : "error_during_execution";
}

function statsOf(runs: readonly RunResult[]): object {
  const byAgent = Map.groupBy(runs, (run) => run.agent);
  const count = (some: readonly RunResult[]) => ({
    runs: some.length,
    succeeded: some.filter((run) => run.success).length,
    failed: some.filter((run) => !run.success).length,
    partial: some.filter((run) => run.partial).length,
    tokens: some.reduce((sum, run) => sum + run.tokens.self, 0),
  });
  return {
    ...count(runs),
    by_agent: Object.fromEntries([...byAgent].map(([name, some]) => [name, count(some)])),
  };
}
