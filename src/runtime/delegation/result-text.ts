import type { IsolatedChanges, RunResult, SuiteTests } from "../../schema/result.ts";
import { patchStat } from "../changes/patch.ts";
import { complianceErrors, missedBy } from "./unmet-deliverables.ts";

/** A child's result as its parent reads it: marked as data, with anything that could pass for another voice escaped. */
export function resultText(result: RunResult, escapeText: (text: string) => string, task?: string): string {
  const { error } = result;
  const body = {
    ...(task !== undefined && { task_id: task }),
    status: result.status,
    success: result.success,
    summary: result.summary,
    ...(result.details !== result.summary && { details: result.details }),
    ...(result.data !== undefined && { data: result.data }),
    files_modified: result.files_modified,
    files_created: result.files_created,
    files_deleted: result.files_deleted,
    ...(result.changes && { changes: changesText(result.changes) }),
    ...(result.tests_run !== null && { tests_run: result.tests_run, tests_passed: result.tests_passed }),
    ...(result.tests.length > 0 && { tests: result.tests.map(shortSuite) }),
    warnings: result.warnings,
    suggestions: result.suggestions,
    iteration_count: result.iteration_count,
    duration_ms: result.duration_ms,
    tools_used: result.tools_used,
    tool_calls_used: result.tool_calls_used,
    ...(result.subtree.runs > 1 && {
      subtree: { ...result.subtree, tests: result.subtree.tests.map(shortSuite) },
    }),
    tokens: result.tokens,
    cost_usd: result.cost_usd,
    ...(result.partial && { partial: true }),
    ...(result.bailout_reason && { bailout_reason: result.bailout_reason }),
    ...(result.attempt > 0 && { retries: result.attempt }),
    ...(result.deliverables.length > 0 && { deliverables: result.deliverables }),
    ...(result.criteria && { success_criteria: result.criteria }),
    ...(result.unmet && { unmet: result.unmet }),
    ...(error && { error: { type: error.type, message: error.message, recoverable: error.recoverable } }),
  };
  const mark = `agent="${result.agent}" run_id="${result.run_id}"${result.tainted ? ' contains_untrusted_text="true"' : ""}`;
  const text = `<subagent_result ${mark}>\n${escapeText(JSON.stringify(body, null, 1))}\n</subagent_result>`;
  const broken = complianceErrors(missedBy(result));
  return broken.length > 0 ? `${text}\n\n${escapeText(broken.join("\n"))}` : text;
}

function shortSuite({ at_ms: _, ...suite }: SuiteTests): Omit<SuiteTests, "at_ms"> {
  return suite;
}

const MOST_FILES = 100;

/** Changes of an isolated run, and how they get into the project. */
function changesText({ files, diff, worktree }: IsolatedChanges): Record<string, unknown> {
  return {
    note: "made in the sub-agent's own copy, not in the project yet: bring them in with merge_changes, or leave them",
    stat: patchStat(files.slice(0, MOST_FILES)),
    ...(files.length > MOST_FILES && { more_files: files.length - MOST_FILES }),
    ...(diff && { diff: `the whole diff is in ${diff}` }),
    worktree,
  };
}

/** A delegation that goes on while its parent continues. */
export function runningText(agent: string, runId: string): string {
  return JSON.stringify({
    status: "running",
    run_id: runId,
    agent,
    note: "call collect_results to wait for it",
  });
}
