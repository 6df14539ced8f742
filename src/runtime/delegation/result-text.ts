import type { IsolatedChanges, RunResult } from "../../schema/result.ts";
import { cutAt } from "../../tools/truncate.ts";
import { patchStat } from "../changes/patch.ts";
import { complianceErrors, missedBy } from "./unmet-deliverables.ts";

/** Below this line stands what the host measured; above it stand the child's own words. */
const MEASURED = "[measured]";
const MAX_LISTED = 100;
const MAX_LINE_CHARS = 300;

/**
 * A child's result as its parent reads it: one measured line, the child's own text as it is, then what else was measured and
 * is not empty. It is marked as data, and whatever could pass for another voice is escaped.
 */
export function resultText(result: RunResult, escapeText: (text: string) => string, task?: string): string {
  const attributes = [
    `agent="${result.agent}" run_id="${result.run_id}"`,
    ...(task === undefined ? [] : [`task_id="${escapeText(task).replaceAll('"', "'")}"`]),
    `status="${result.status}"`,
    ...(result.partial ? ['partial="true"'] : []),
    ...(result.tainted ? ['contains_untrusted_text="true"'] : []),
  ];
  const said = result.details.replaceAll(MEASURED, ` ${MEASURED}`).trim();
  const measured = listMeasured(result);
  const body = [
    `${nameEnding(result)} · ${countWork(result)}`,
    ...(said === "" ? [] : [said]),
    ...(measured.length > 0 ? [[MEASURED, ...measured].join("\n")] : []),
  ].join("\n\n");
  const text = `<subagent_result ${attributes.join(" ")}>\n${escapeText(body)}\n</subagent_result>`;
  const broken = complianceErrors(missedBy(result));
  return broken.length > 0 ? `${text}\n\n${escapeText(broken.join("\n"))}` : text;
}

/** How a run ended, in a word or two; one that a limit cut short is called so. */
export function nameEnding({
  status,
  partial,
  bailout_reason,
  tool_calls_used,
  iteration_count,
}: RunResult): string {
  if (status !== "completed" || !partial) return status;
  if (bailout_reason === "max_tool_calls") return `cut short at ${countThings(tool_calls_used, "call")}`;
  if (bailout_reason === "max_iterations") return `cut short at ${countThings(iteration_count, "turn")}`;
  return `cut short (${(bailout_reason ?? "not complete").replaceAll("_", " ")})`;
}

function countWork({ iteration_count, tool_calls_used, attempt, subtree }: RunResult): string {
  const files = [...subtree.files_created, ...subtree.files_modified, ...subtree.files_deleted].length;
  const { tests_run, tests_passed } = subtree;
  const runs = subtree.tests.reduce((sum, one) => sum + one.runs, 0);
  return [
    countThings(iteration_count, "turn"),
    countThings(tool_calls_used, "call"),
    ...(attempt > 0 ? [countThings(attempt, "retry", "retries")] : []),
    ...(files > 0 ? [`${countThings(files, "file")} changed`] : []),
    ...(tests_run === null
      ? []
      : [`last test run ${tests_passed}/${tests_run}${runs > 1 ? ` of ${runs} runs` : ""}`]),
  ].join(" · ");
}

function countThings(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** What the host knows of a run and its text may not say; nothing that is empty. */
function listMeasured(result: RunResult): string[] {
  const { subtree, error, criteria, changes, data_file } = result;
  const told = (text: string) => result.details.includes(text);
  const failed = result.tests.filter(({ run, passed }) => passed < run);
  return [
    ...listNames("files created", subtree.files_created),
    ...listNames("files modified", subtree.files_modified),
    ...listNames("files deleted", subtree.files_deleted),
    ...(changes ? describeChanges(changes) : []),
    ...listLines(
      "tests that failed",
      failed.map(({ suite, run, passed }) => `${suite}: ${run - passed} of ${run}`),
    ),
    ...listLines(
      "sub_runs",
      (result.sub_runs ?? []).map(({ agent, status, summary }) => `${agent} ${status}: ${summary}`),
    ),
    ...listLines(
      "warnings",
      result.warnings.filter((warning) => !told(warning)),
    ),
    ...listLines(
      "suggestions",
      result.suggestions.filter((suggestion) => !told(suggestion)),
    ),
    ...listLines(
      "deliverables",
      result.deliverables.map(({ deliverable, ok, reason }) => `${deliverable}: ${ok ? "ok" : reason}`),
    ),
    ...(criteria
      ? [`success criteria: ${criteria.verdict.replaceAll("_", " ")} (${oneLine(criteria.reason)})`]
      : []),
    ...(error ? [`error: ${error.type}: ${oneLine(error.message)}`] : []),
    ...(data_file !== undefined ? [`data: in ${data_file}`] : listData(result)),
  ];
}

/** Data that stand in the text already are not told twice. */
function listData({ data, details }: RunResult): string[] {
  if (data === undefined || details.includes("```json") || details.trim().startsWith("{")) return [];
  return [`data: ${JSON.stringify(data)}`];
}

function listNames(title: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : "";
  return [`${title}: ${names.slice(0, MAX_LISTED).join(", ")}${more}`];
}

function listLines(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `- ${oneLine(line)}`)];
}

function oneLine(text: string): string {
  return cutAt(text.replaceAll(/\s+/g, " ").trim(), MAX_LINE_CHARS);
}

/** Changes of an isolated run, and how they get into the project. */
function describeChanges({ files, diff, worktree }: IsolatedChanges): string[] {
  return [
    "changes: in the sub-agent's own copy, not in the project yet; bring them in with merge_changes, or leave them",
    ...patchStat(files.slice(0, MAX_LISTED)).map((line) => `  ${line}`),
    ...(files.length > MAX_LISTED ? [`  and ${files.length - MAX_LISTED} files more`] : []),
    ...(diff ? [`  the whole diff is in ${diff}`] : []),
    `  copy: ${worktree}`,
  ];
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
