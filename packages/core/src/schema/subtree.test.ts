import { expect, test } from "vitest";
import type { SuiteTests } from "./result.ts";
import { addUpFiles, countTests, lastRuns } from "./subtree.ts";

const suite = (name: string, passed: number, run: number, more: Partial<SuiteTests> = {}): SuiteTests => ({
  suite: name,
  run,
  passed,
  runs: 1,
  at_ms: 0,
  ...more,
});
const part = (name: string, passed: number, run: number, at_ms = 0) =>
  suite(name, passed, run, { at_ms, part_of: ["node"] });

test("a part counts until the whole was run later, whatever the order in which they are told", () => {
  const whole = suite("node", 4, 4, { at_ms: 2 });
  expect(lastRuns([part("node --test a", 1, 2, 1), whole])).toEqual([whole]);
  expect(lastRuns([whole, part("node --test a", 1, 2, 1)])).toEqual([whole]);
  expect(lastRuns([whole, part("node --test a", 1, 2, 3)])).toHaveLength(2);
  const both = { ...part("a and b", 1, 2, 1), part_of: ["node in a", "node in b"] };
  const other = suite("node in a", 1, 1, { at_ms: 2 });
  expect(lastRuns([both, other])).toHaveLength(2);
  expect(lastRuns([both, other, suite("node in b", 1, 1, { at_ms: 2 })])).toHaveLength(2);
});

test("tests of a part that was run after the whole are not counted again, but its failures are", () => {
  expect(countTests([suite("node", 4, 4), part("a", 2, 2)])).toEqual({ tests_run: 4, tests_passed: 4 });
  expect(countTests([suite("node", 4, 4), part("a", 1, 2)])).toEqual({ tests_run: 4, tests_passed: 3 });
  expect(countTests([suite("node", 3, 4), part("a", 2, 2)])).toEqual({ tests_run: 4, tests_passed: 3 });
  expect(countTests([part("a", 2, 2), part("b", 3, 3)])).toEqual({ tests_run: 5, tests_passed: 5 });
});

test("a run that measured nothing takes the place of an earlier one and is not told, unless it had a fault", () => {
  const failed = suite("go", 0, 1);
  expect(lastRuns([failed, suite("go", 0, 0, { at_ms: 1 })])).toEqual([]);
  expect(lastRuns([failed, suite("go", 0, 0, { at_ms: 1, fault: "x" })])).toMatchObject([
    { run: 0, runs: 2 },
  ]);
});

test("nothing counted is null, not zero", () => {
  const nothing = { tests_run: null, tests_passed: null };
  expect(countTests([])).toEqual(nothing);
  expect(countTests([suite("pytest", 0, 0, { fault: "x" })])).toEqual(nothing);
  expect(countTests([suite("pytest", 0, 1)])).toEqual({ tests_run: 1, tests_passed: 0 });
});

test.each([
  [["created", "modified"], "files_created"],
  [["modified", "created"], "files_created"],
  [["created", "deleted"], null],
  [["deleted", "created"], "files_modified"],
  [["modified", "deleted"], "files_deleted"],
  [["created", "deleted", "created"], "files_created"],
  [["deleted", "created", "deleted"], "files_deleted"],
] as const)("a file that was %s counts as %s", (kinds, list) => {
  const none = { files_created: [], files_modified: [], files_deleted: [] };
  const all = kinds.map((kind) => ({ ...none, [`files_${kind}`]: ["x"] }));
  const expected = list === null ? none : { ...none, [list]: ["x"] };
  expect(addUpFiles(all)).toEqual(expected);
  expect(addUpFiles(all.toReversed(), () => kinds)).toEqual(expected);
});
