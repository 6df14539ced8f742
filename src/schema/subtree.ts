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

/** Tests over all suites, each by its last run; those of a part that was run after the whole are not counted again. */
export function countTests(tests: readonly SuiteTests[]): Pick<RunResult, "tests_run" | "tests_passed"> {
  const wholes = (part: SuiteTests) => tests.filter(({ suite }) => part.part_of?.includes(suite));
  let [run, failed] = [0, 0];
  for (const one of tests) {
    const above = wholes(one);
    const isCounted = one.part_of !== undefined && above.length === one.part_of.length;
    if (isCounted) failed += Math.max(0, one.run - one.passed - sumFailed(above));
    else {
      run += one.run;
      failed += one.run - one.passed;
    }
  }
  return { tests_run: run, tests_passed: Math.max(0, run - failed) };
}

function sumFailed(tests: readonly SuiteTests[]): number {
  return tests.reduce((sum, { run, passed }) => sum + run - passed, 0);
}

/**
 * Of suites that were run several times: what the last run said, and how many there were. A part of a suite does not
 * count if the whole was run later, and a run that measured nothing and had no fault only takes the place of an earlier one.
 */
export function lastRuns(tests: readonly SuiteTests[]): SuiteTests[] {
  const order = new Map(tests.toSorted((one, other) => one.at_ms - other.at_ms).map((one, at) => [one, at]));
  const isLater = (one: SuiteTests, other: SuiteTests) => (order.get(one) ?? 0) > (order.get(other) ?? 0);
  const last = [...Map.groupBy(tests, ({ suite }) => suite).values()].map((runs) => {
    const latest = runs.reduce((one, other) => (isLater(other, one) ? other : one));
    return { latest, runs: runs.reduce((sum, one) => sum + one.runs, 0) };
  });
  const isCovered = (part: SuiteTests) =>
    part.part_of?.every((name) =>
      last.some(({ latest }) => latest.suite === name && isLater(latest, part)),
    ) ?? false;
  return last
    .filter(({ latest }) => !isCovered(latest) && (latest.run > 0 || latest.fault !== undefined))
    .map(({ latest, runs }) => ({ ...latest, runs }));
}

/** What is wrong with the tests of a run, in one line; null if none failed. */
export function describeFailedTests(tests: readonly SuiteTests[]): string | null {
  const failing = tests.filter(({ run, passed }) => run > passed);
  if (failing.length === 0) return null;
  const list = failing.map(({ suite, run, passed }) => `${run - passed} of ${run} in ${suite}`);
  return `Tests failed: ${list.join("; ")}`;
}

/** What went wrong with test runs of which no test is known to have failed, one line each. */
export function describeFaults(tests: readonly SuiteTests[]): string[] {
  return tests.flatMap(({ suite, fault }) => (fault === undefined ? [] : [`Tests of ${suite}: ${fault}`]));
}
