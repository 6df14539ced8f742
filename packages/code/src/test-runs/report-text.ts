import type { CommandOutcome } from "../shell/command.ts";
import type { Candidate } from "./detect-runner.ts";
import type { Failure, TestReport } from "./test-report.ts";

/** A run of the tests and what is known of it. */
export type TestRunOutcome = {
  readonly candidate: Candidate;
  /** Other runners that the project seems to use. */
  readonly others: readonly Candidate[];
  readonly argv: readonly string[];
  readonly projectDir: string;
  readonly reportDir: string;
  readonly report: TestReport | null;
  readonly outcome: CommandOutcome;
  readonly notes: readonly string[];
};

const MAX_FAILURES = 50;
const TAIL_LINES = 60;

/**
 * The result as text:
 *
 *     runner: vitest (the test script of package.json calls it)
 *     command: node node_modules/vitest/vitest.mjs run
 *     tests: 3 run, 1 passed, 2 failed, 1 skipped
 *
 *     FAILED sum > adds
 *       at src/sum.test.ts:5
 *       in src/sum.ts:2
 *       | AssertionError: expected -1 to be 3
 *
 *     NOT LOADED src/broken.test.ts
 *
 * Without a report there is no line `tests:`, but the end of the output.
 */
export function describeTestRun(run: TestRunOutcome): string {
  const { candidate, report, outcome, others } = run;
  const failures = [
    ...(report?.failures ?? []).map((failure) => formatFailure("FAILED", failure, run.projectDir)),
    ...(report?.broken ?? []).map((failure) => formatFailure("NOT LOADED", failure, run.projectDir)),
  ];
  const head = [
    `runner: ${candidate.runner} (${candidate.why})`,
    `command: ${describeCommand(run)}`,
    ...(report ? [describeCounts(report)] : []),
    ...describeEnding(run),
    ...[...run.notes, ...outcome.notes].map((note) => `note: ${note}`),
    ...(others.length > 0
      ? [`note: also here: ${others.map(({ runner }) => runner).join(", ")}; choose with 'runner'`]
      : []),
  ];
  const more = failures.length > MAX_FAILURES ? [`(${failures.length - MAX_FAILURES} more)`] : [];
  const isExplained = failures.length > 0 || (report !== null && outcome.exitCode === 0);
  return [
    head.join("\n"),
    ...failures.slice(0, MAX_FAILURES),
    ...more,
    ...(isExplained ? [] : [showTail(outcome)]),
  ].join("\n\n");
}

/** Whether the tool did not get what it was asked for. Failed tests are an answer; tests that did not run are none. */
export function isFault({ report, outcome }: Pick<TestRunOutcome, "report" | "outcome">): boolean {
  if (!report) return true;
  const told = report.failed > 0 || outcome.exitCode === 0;
  const ran = report.passed + report.failed + report.skipped > 0;
  return (
    outcome.exitCode === null ||
    !told ||
    (!ran && outcome.exitCode !== 0) ||
    (!ran && report.broken.length > 0)
  );
}

function describeCounts({ passed, failed, skipped, broken }: TestReport): string {
  const files = broken.length > 0 ? `, ${broken.length} not loaded` : "";
  return `tests: ${passed + failed} run, ${passed} passed, ${failed} failed, ${skipped} skipped${files}`;
}

function describeEnding({ report, outcome }: TestRunOutcome): string[] {
  if (outcome.timedOut) return ["the tests did not end in time and were stopped"];
  if (outcome.exitCode === null) return ["the tests were stopped"];
  if (!report)
    return [
      `no counts: the runner ended with exit code ${outcome.exitCode} and left no report that could be read`,
    ];
  const isClean = report.failed === 0 && report.broken.length === 0;
  if (isClean && outcome.exitCode !== 0)
    return [`no test failed, but the runner ended with exit code ${outcome.exitCode}`];
  return report.passed + report.failed + report.skipped === 0 && isClean ? ["no tests were found"] : [];
}

function formatFailure(
  word: string,
  { name, file, line, frame, message }: Failure,
  projectDir: string,
): string {
  const place = file === undefined ? [] : [`  at ${file}${line === undefined ? "" : `:${line}`}`];
  const lines = message
    .replaceAll(`${projectDir}/`, "")
    .split("\n")
    .map((each) => `  | ${each}`.trimEnd());
  return [`${word} ${name}`, ...place, ...(frame ? [`  in ${frame}`] : []), ...lines].join("\n");
}

/** Without paths of the host, and without the file that only this tool reads. */
function describeCommand({ argv, projectDir, reportDir }: TestRunOutcome): string {
  const [program = "", ...args] = argv;
  const name = program === process.execPath ? "node" : program;
  const shown = [name, ...args].map((arg) =>
    arg.replaceAll(`${reportDir}/`, "").replaceAll(`${projectDir}/`, ""),
  );
  return shown.map((arg) => (/^[\w./:=@%+,-]+$/.test(arg) ? arg : JSON.stringify(arg))).join(" ");
}

function showTail({ stdout, stderr }: CommandOutcome): string {
  const tail = (name: string, text: string) => {
    const lines = text.trimEnd().split("\n");
    const cut = lines.length > TAIL_LINES ? ` (last ${TAIL_LINES} lines)` : "";
    return text.trim() === "" ? [] : [`${name}${cut}:\n${lines.slice(-TAIL_LINES).join("\n")}`];
  };
  const parts = [...tail("stdout", stdout), ...tail("stderr", stderr)];
  return parts.length > 0 ? parts.join("\n") : "(it printed nothing)";
}
