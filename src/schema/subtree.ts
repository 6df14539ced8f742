import type { RunResult, SubtreeFigures, SuiteTests } from "./result.ts";

/** What a run did itself, as far as it adds up with what runs below it did. */
export type OwnFigures = Pick<
  RunResult,
  "files_created" | "files_modified" | "tests" | "tool_calls_used" | "tools_used"
>;

/**
 * A run with everything below it: a file that several runs touched counts once, and as created if one of them made it;
 * a suite of tests counts by its last run, in any run. Files of an isolated run are in its own copy and count when
 * they are merged, as those of the run that merged them.
 */
export function addUpSubtree(own: OwnFigures, below: readonly RunResult[]): SubtreeFigures {
  const inProject = below.filter((one) => !one.changes).map((one) => one.subtree);
  const all = below.map((one) => one.subtree);
  const created = new Set([own, ...inProject].flatMap((one) => one.files_created));
  const modified = new Set([own, ...inProject].flatMap((one) => one.files_modified));
  const tests = lastRuns([own, ...all].flatMap((one) => one.tests));
  return {
    runs: all.reduce((sum, one) => sum + one.runs, 1),
    files_created: [...created].sort(),
    files_modified: [...modified].filter((file) => !created.has(file)).sort(),
    tests,
    ...countTests(tests),
    tool_calls_used: all.reduce((sum, one) => sum + one.tool_calls_used, own.tool_calls_used),
    tools_used: [...new Set([own, ...all].flatMap((one) => one.tools_used))],
  };
}

/** Tests over all suites, each by its last run. */
export function countTests(tests: readonly SuiteTests[]): Pick<RunResult, "tests_run" | "tests_passed"> {
  return {
    tests_run: tests.reduce((sum, { run }) => sum + run, 0),
    tests_passed: tests.reduce((sum, { passed }) => sum + passed, 0),
  };
}

/** Of suites that were run several times: what the last run said, and how many there were. */
export function lastRuns(tests: readonly SuiteTests[]): SuiteTests[] {
  return [...Map.groupBy(tests, ({ suite }) => suite).values()].map((runs) => {
    const last = runs.reduce((latest, one) => (one.at_ms >= latest.at_ms ? one : latest));
    return { ...last, runs: runs.reduce((sum, one) => sum + one.runs, 0) };
  });
}

/** What is wrong with the tests of a run, in one line; null if none failed. */
export function describeFailedTests(tests: readonly SuiteTests[]): string | null {
  const failing = tests.filter(({ run, passed }) => run > passed);
  if (failing.length === 0) return null;
  const list = failing.map(({ suite, run, passed }) => `${run - passed} of ${run} in ${suite}`);
  return `Tests failed: ${list.join("; ")}`;
}
