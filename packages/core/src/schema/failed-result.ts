import type { RunError, RunResult } from "./result.ts";

/** The result of a task that was given up before it became a run. */
export function unstartedResult(
  about: { runId: string; sessionId: string; agent: string },
  because: string,
): RunResult {
  const error = { type: "cancelled", message: `not started: ${because}`, recoverable: false } as const;
  return { ...failedResult(about, error), bailout_reason: "not_started" };
}

/** The result of a run that never began. */
export function failedResult(
  about: { runId: string; sessionId: string; agent: string; attempt?: number },
  error: RunError,
): RunResult {
  const files = { files_modified: [], files_created: [], files_deleted: [] };
  const tests = { tests: [], tests_run: null, tests_passed: null };
  const tools = { tool_calls_used: 0, tools_used: [] };
  return {
    run_id: about.runId,
    session_id: about.sessionId,
    agent: about.agent,
    model: "",
    status: error.type === "cancelled" ? "cancelled" : "failed",
    success: false,
    summary: error.message.slice(0, 500),
    details: error.message,
    ...files,
    ...tests,
    warnings: [],
    suggestions: [],
    iteration_count: 0,
    duration_ms: 0,
    ...tools,
    subtree: { runs: 1, ...files, ...tests, ...tools },
    context_size: 0,
    tokens: { self: 0, subtree: 0 },
    cost_usd: { self: 0, subtree: 0 },
    deliverables: [],
    partial: false,
    error,
    tainted: false,
    private_data: false,
    attempt: about.attempt ?? 0,
  };
}
