import type { PlanResult, StepResult } from "../schema/plan.ts";
import { cutAt } from "../tools/truncate.ts";

const MAX_SAID_CHARS = 300;
const MAX_REVIEW_CHARS = 4_000;

/** The outcome of a plan for a person: steps, review, files, tests, and the tool calls of each phase. */
export function reportOf(result: PlanResult): string {
  const { tool_calls: calls, review } = result;
  const head = `Plan ${result.plan_id}: ${result.status}. ${result.summary}.`;
  const lines = [head, "", ...result.steps.map(stepLine)];
  if (review) lines.push("", "Review:", cutAt(review.details || review.summary, MAX_REVIEW_CHARS));
  lines.push("", ...filesOf(result), testsLine(result));
  for (const warning of result.warnings) lines.push(`Warning: ${warning}`);
  lines.push(
    `Tool calls: planning ${calls.planning}, execution ${calls.execution}, review ${calls.review}, total ${calls.total}`,
  );
  return lines.join("\n");
}

function stepLine({ step_id, title, role, status, reason, result, replaced, reused }: StepResult): string {
  const said = cutAt((reason ?? result?.summary ?? "").replace(/\s+/g, " ").trim(), MAX_SAID_CHARS);
  const note = replaced ? ", replaced by another plan" : reused ? ", done before" : "";
  return `- ${step_id} (${role}): ${status}${note}. ${title}${said ? `: ${said}` : ""}`;
}

function testsLine({ tests_run, tests_passed }: PlanResult): string {
  return tests_run === null ? "Tests: none were run" : `Tests: ${tests_passed} of ${tests_run} passed`;
}

function filesOf({ files_created, files_modified, files_deleted }: PlanResult): string[] {
  return [
    `Files created: ${files_created.join(", ") || "none"}`,
    `Files modified: ${files_modified.join(", ") || "none"}`,
    ...(files_deleted.length > 0 ? [`Files deleted: ${files_deleted.join(", ")}`] : []),
  ];
}
