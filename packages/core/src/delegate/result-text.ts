import { parseAnswer, parseReport } from "../run/parse-report.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type {
  CriteriaVerdict,
  DeliverableVerdict,
  IsolatedChanges,
  RunError,
  RunResult,
  SubRun,
  SuiteTests,
} from "../schema/result.ts";
import { describeFailedTests, describeFaults } from "../schema/subtree.ts";
import { showChangedFiles } from "../show/changed-files.ts";
import { showCount } from "../show/measures.ts";
import { cutAt } from "../tools/truncate.ts";
import { complianceErrors, missedBy } from "./unmet-deliverables.ts";

/** Below this line stands what the host measured; above it stand the child's own words, in which the mark is escaped. */
const MEASURED = "[measured]";
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;
const MAX_LISTED = 100;
const MAX_LINE_CHARS = 300;
const MAX_ERROR_CHARS = 4_000;

/** Who reads a result: how words of others are made harmless to it, and its workspace, if its tools reach that by `workspace:PATH`. */
export type Reader = { escapeText(text: string): string; workspaceDir: string | null };

/**
 * A child's result as its parent reads it: what its contract demands and it did not leave, one measured line, the child's own
 * text as it is, then what else was measured and is not empty. It is marked as data, and whatever could pass for another voice
 * is escaped.
 */
export function resultText(result: RunResult, reader: Reader, task?: string): string {
  const { escapeText } = reader;
  const attributes = [
    `agent="${result.agent}" run_id="${result.run_id}"`,
    ...(task === undefined ? [] : [`task_id="${escapeText(task).replaceAll('"', "'")}"`]),
    `status="${result.status}"`,
    ...(result.partial ? ['partial="true"'] : []),
    ...(result.tainted ? ['contains_untrusted_text="true"'] : []),
  ];
  // A run that never began has no words of its own: its text is the error.
  const said = result.details === result.error?.message ? "" : escapeText(result.details).trim();
  const measured = escapeText(listMeasured(result, reader).join("\n"));
  const body = [
    escapeText(`${nameEnding(result)} · ${countWork(result)}`),
    ...(said === "" ? [] : [said]),
    ...(measured === "" ? [] : [`${MEASURED}\n${measured}`]),
  ].join("\n\n");
  const text = `<subagent_result ${attributes.join(" ")}>\n${body}\n</subagent_result>`;
  const broken = complianceErrors(missedBy(result));
  return broken.length > 0 ? `${escapeText(broken.join("\n"))}\n\n${text}` : text;
}

/** How a run ended, in a word or two; one that a limit cut short is called so. */
export function nameEnding({
  status,
  partial,
  bailout_reason,
  tool_calls_used,
  iteration_count,
}: RunResult): string {
  if (bailout_reason === "not_started") return "not started";
  if (status !== "completed" || !partial) return status;
  if (bailout_reason === "max_tool_calls") return `cut short at ${showCount(tool_calls_used, "call")}`;
  if (bailout_reason === "max_iterations") return `cut short at ${showCount(iteration_count, "turn")}`;
  return `cut short (${(bailout_reason ?? "not complete").replaceAll("_", " ")})`;
}

function countWork({ iteration_count, tool_calls_used, attempt, subtree }: RunResult): string {
  const files = [...subtree.files_created, ...subtree.files_modified, ...subtree.files_deleted].length;
  return [
    showCount(iteration_count, "turn"),
    showCount(tool_calls_used, "call"),
    ...(attempt > 0 ? [showCount(attempt, "retry", "retries")] : []),
    ...(files > 0 ? [`${showCount(files, "file")} changed`] : []),
    ...describeTests(subtree.tests),
  ].join(" · ");
}

const MAX_SUITES = 6;
const MAX_SUITE_CHARS = 60;

/** The last run of each suite; those with failures first where not all of them are told. */
function describeTests(tests: readonly SuiteTests[]): string[] {
  const told = tests.filter(({ run, observed }) => run > 0 || observed);
  const [only] = told;
  if (!only) return [];
  if (told.length === 1) return [`last test run ${countPassed(only)}`];
  const ranked =
    told.length > MAX_SUITES
      ? told.toSorted((one, other) => other.run - other.passed - (one.run - one.passed))
      : told;
  const list = ranked.slice(0, MAX_SUITES).map((one) => `${countPassed(one)} (${quoteSuite(one)})`);
  const more = told.length > MAX_SUITES ? ` and ${showCount(told.length - MAX_SUITES, "more suite")}` : "";
  return [`tests ${list.join(", ")}${more}`];
}

/** What no warning tells is told here. */
function countPassed({ run, passed, fault, observed }: SuiteTests): string {
  const count = run > 0 ? `${passed}/${run}` : "no result";
  return fault === undefined || !observed ? count : `${count}: ${fault}`;
}

/** A name with signs that could be taken for the host's own stands in quotes. */
function quoteSuite({ suite }: SuiteTests): string {
  const name = cutAt(suite.replaceAll(/\s+/g, " "), MAX_SUITE_CHARS);
  return /^[\w ./@:=-]+$/.test(name) ? name : JSON.stringify(name);
}

/** What the host knows of a run and its text may not say; nothing that is empty, and nothing twice. */
function listMeasured(result: RunResult, { workspaceDir }: Reader): string[] {
  const { subtree, criteria, error, changes } = result;
  const own = parseReport(result.details);
  const told = [
    ...own.warnings,
    ...complianceErrors(missedBy(result)),
    error?.message,
    // The tests of the subtree are told instead: a run below may have run a suite again.
    describeFailedTests(result.tests),
    ...describeFaults(result.tests),
  ];
  const warnings = result.warnings.filter(
    (warning) => !told.includes(warning) && !(criteria && warning.endsWith(`: ${criteria.reason}`)),
  );
  const suggestions = result.suggestions.filter((suggestion) => !own.suggestions.includes(suggestion));
  const failing = describeFailedTests(subtree.tests);
  const faults = [...(failing === null ? [] : [failing]), ...describeFaults(subtree.tests)];
  const nameFile = (path: string) =>
    workspaceDir !== null && path.startsWith(`${workspaceDir}/`)
      ? `workspace:${path.slice(workspaceDir.length + 1)}`
      : path;
  return [
    ...listNames("files created", subtree.files_created.map(nameFile)),
    ...listNames("files modified", subtree.files_modified.map(nameFile)),
    ...listNames("files deleted", subtree.files_deleted.map(nameFile)),
    ...(changes ? describeChanges(changes) : []),
    ...listLines("sub_runs", (result.sub_runs ?? []).map(describeSubRun)),
    ...listLines("warnings", [...new Set([...faults, ...warnings])]),
    ...listLines("suggestions", suggestions),
    ...listLines("deliverables", result.deliverables.filter(({ ok }) => ok).map(describeDeliverable)),
    ...(criteria ? [describeCriteria(criteria, result.success)] : []),
    ...(error && error.type !== "deliverable" ? [describeError(error)] : []),
    ...describeData(result),
  ];
}

function describeSubRun({ agent, status, success, summary }: SubRun): string {
  return `${agent} ${status === "completed" && !success ? "cut short" : status}: ${summary}`;
}

function describeDeliverable({ deliverable, files }: DeliverableVerdict): string {
  const others = files.filter((file) => file !== deliverable);
  return `${deliverable}: ok${others.length > 0 ? ` (${others.map(quoteName).join(", ")})` : ""}`;
}

/** What nobody judged is for the parent to find out. */
function describeCriteria({ verdict, by, reason }: CriteriaVerdict, success: boolean): string {
  const judge = by === null ? "" : ` by ${by}`;
  const next =
    verdict === "not_verified" && by === null && success
      ? "; check them yourself, or delegate that to an agent that can run or see the result"
      : "";
  return `success criteria: ${verdict.replaceAll("_", " ")}${judge}: ${oneLine(reason)}${next}`;
}

/** The whole message; lines after its first are indented, so that none can pass for another fact. */
function describeError({ type, message, recoverable }: RunError): string {
  const lines = cutAt(message.trim(), MAX_ERROR_CHARS).split(LINE_BREAK);
  return `error: ${type}${recoverable ? " (recoverable)" : ""}: ${lines.join("\n  ")}`;
}

/** Data that are the text itself are not told twice. */
function describeData({ data, data_file, details }: RunResult): string[] {
  if (data_file !== undefined) return [`data: in ${data_file}`];
  if (data === undefined) return [];
  const json = JSON.stringify(data);
  const answer = parseAnswer(details);
  if (answer.ok && JSON.stringify(answer.value) === json) return [];
  return [`data: ${json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}`];
}

function listNames(title: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return [`${title}: ${names.slice(0, MAX_LISTED).map(quoteName).join(", ")}${more}`];
}

/** A name that could be taken for several, or for another line, stands in quotes. */
function quoteName(name: string): string {
  return /[",\s\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
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
    ...showChangedFiles(files.slice(0, MAX_LISTED)).map((line) => `  ${line.replaceAll(LINE_BREAK, " ")}`),
    ...(files.length > MAX_LISTED ? [`  and ${files.length - MAX_LISTED} files more`] : []),
    ...(diff ? [`  the whole diff is in ${diff}`] : []),
    `  copy: ${worktree}`,
  ];
}

/** Delegations that go on while their parent continues, a line each, and how it gets their results. */
export function runningText(
  running: readonly (Pick<OpenDelegation, "id" | "agent" | "taskId"> & { task: string })[],
  { escapeText }: Pick<Reader, "escapeText">,
): string {
  const lines = running.map(({ id, agent, taskId, task }) =>
    escapeText(`still running: ${taskId ?? id} (${agent}): ${oneLine(task)}`),
  );
  return [...lines, `collect_results waits for ${running.length === 1 ? "it" : "them"}`].join("\n");
}
