import type { ChangeKind, RunResult, SubtreeFigures, SuiteTests } from "./result.ts";

/** Files that runs made, changed and deleted. */
export type FileFigures = Pick<RunResult, "files_created" | "files_modified" | "files_deleted">;

/** What a run did itself, as far as it adds up with what runs below it did. */
export type OwnFigures = FileFigures & Pick<RunResult, "tests" | "tool_calls_used" | "tools_used">;

/** What some runs did to a file, in the order in which they did it. */
export type FileHistory = (file: string) => readonly ChangeKind[];

/**
 * A run with everything below it: a file that several runs touched counts once, as what they came to; a suite of tests
 * counts by its last run, in any run. Files of an isolated run are in its own copy and count when they are merged, as
 * those of the run that merged them; its tests are of that copy. Where files were changed, what fails is no mere observation.
 */
export function addUpSubtree(
  own: OwnFigures,
  below: readonly RunResult[],
  history: FileHistory = () => [],
): SubtreeFigures {
  const inProject = below.filter((one) => !one.changes).map((one) => one.subtree);
  const all = below.map((one) => one.subtree);
  const files = addUpFiles([own, ...inProject], history);
  const last = lastRuns([own, ...inProject].flatMap((one) => one.tests));
  const tests = hasChanges(files) ? last.map(({ observed: _, ...one }) => one) : last;
  return {
    runs: all.reduce((sum, one) => sum + one.runs, 1),
    ...files,
    tests,
    ...countTests(tests),
    tool_calls_used: all.reduce((sum, one) => sum + one.tool_calls_used, own.tool_calls_used),
    tools_used: [...new Set([own, ...all].flatMap((one) => one.tools_used))],
  };
}

/** Whether any file was made, changed or deleted. */
export function hasChanges({ files_created, files_modified, files_deleted }: FileFigures): boolean {
  return files_created.length + files_modified.length + files_deleted.length > 0;
}

/** What runs came to for each file; where its history is not known, they stand in the order in which they ended. */
export function addUpFiles(all: readonly FileFigures[], history: FileHistory = () => []): FileFigures {
  if (!all.some(hasChanges)) return listFiles([]);
  const kinds = new Map<string, ChangeKind[]>();
  const note = (files: readonly string[], kind: ChangeKind) => {
    for (const file of files) kinds.set(file, [...(kinds.get(file) ?? []), kind]);
  };
  for (const one of all) {
    note(one.files_created, "created");
    note(one.files_modified, "modified");
    note(one.files_deleted, "deleted");
  }
  return listFiles(
    [...kinds].map(([file, told]) => {
      const known = history(file);
      return [file, netChange(known.length > 0 ? known : told)];
    }),
  );
}

/** Files in lists by what became of them; one that came to nothing is in none. */
export function listFiles(
  files: Iterable<readonly [file: string, kind: ChangeKind | undefined]>,
): FileFigures {
  const all = [...files];
  const list = (wanted: ChangeKind) => all.flatMap(([file, kind]) => (kind === wanted ? [file] : [])).sort();
  return { files_created: list("created"), files_modified: list("modified"), files_deleted: list("deleted") };
}

/** Made and then deleted is as if nothing had been; deleted and made again is modified. */
function netChange(kinds: readonly ChangeKind[]): ChangeKind | undefined {
  if (!kinds.includes("deleted")) return kinds.includes("created") ? "created" : kinds[0];
  return kinds.reduce<ChangeKind | undefined>(combineChanges, undefined);
}

/** What a file's change comes to after what was known of it; undefined if it is as if nothing had been. */
export function combineChanges(before: ChangeKind | undefined, kind: ChangeKind): ChangeKind | undefined {
  if (before === undefined) return kind;
  if (before === "created") return kind === "deleted" ? undefined : "created";
  return kind === "deleted" ? "deleted" : "modified";
}

/** Tests over all suites, each by its last run, or null if nothing was counted; those of a part that was run after the whole are not counted again. */
export function countTests(tests: readonly SuiteTests[]): Pick<RunResult, "tests_run" | "tests_passed"> {
  if (tests.every((one) => one.run === 0)) return { tests_run: null, tests_passed: null };
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
  if (tests.length === 0) return [];
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

/** What is wrong with the tests of a run, in one line; null if none failed, or they were only observed. */
export function describeFailedTests(tests: readonly SuiteTests[]): string | null {
  const failing = tests.filter(({ run, passed, observed }) => run > passed && !observed);
  if (failing.length === 0) return null;
  const list = failing.map(({ suite, run, passed }) => `${run - passed} of ${run} in ${suite}`);
  return `Tests failed: ${list.join("; ")}`;
}

/** What went wrong with test runs of which no test is known to have failed, one line each. */
export function describeFaults(tests: readonly SuiteTests[]): string[] {
  return tests.flatMap(({ suite, fault, observed }) =>
    fault === undefined || observed ? [] : [`Tests of ${suite}: ${fault}`],
  );
}
