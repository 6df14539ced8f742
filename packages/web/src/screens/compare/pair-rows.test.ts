import { testRun } from "@retinue/core/show/test-run";
import { expect, test } from "vitest";
import { alignRuns } from "./align-runs.ts";
import { countPairs, differs, hasSameTask, pairRows } from "./pair-rows.ts";

const pairs = alignRuns(
  [
    testRun("main", { runId: "a" }, [
      testRun("coder", { runId: "a1", task: "edit" }, [
        testRun("tester", { runId: "a11", status: "failed" }),
      ]),
      testRun("reviewer", { runId: "a2" }),
    ]),
  ],
  [
    testRun("main", { runId: "b" }, [
      testRun("coder", { runId: "b1", task: "change" }, [testRun("tester", { runId: "b11" })]),
      testRun("reviewer", { runId: "b2" }),
      testRun("planner", { runId: "b3" }),
    ]),
  ],
);
const listIds = (rows: readonly { pair: { id: string } }[]) => rows.map(({ pair }) => pair.id);

test("rows come parents first, with level, place and what they are below", () => {
  const rows = pairRows(pairs, new Set(), false);
  expect(listIds(rows)).toEqual(["a", "a1", "a11", "a2", "b3"]);
  expect(rows.map(({ level }) => level)).toEqual([1, 2, 3, 2, 2]);
  expect(rows[4]).toMatchObject({ place: 3, siblings: 3, isExpanded: null, parentId: "a" });
});

test("a collapsed pair hides what is below it", () => {
  expect(listIds(pairRows(pairs, new Set(["a1"]), false))).toEqual(["a", "a1", "a2", "b3"]);
});

test("of differences alone only what stands alone or ended otherwise is left, with the way to it", () => {
  const rows = pairRows(pairs, new Set(), true);
  expect(listIds(rows)).toEqual(["a", "a1", "a11", "b3"]);
  expect(rows.map(({ isFaint }) => isFaint)).toEqual([true, true, false, false]);
});

test("a task that another agent was given is a difference, however alike it ended", () => {
  const given = (agent: string) => [testRun(agent, { task: "fix it" }, [testRun("coder", {})])];
  const others = alignRuns(given("main"), given("lead"));
  expect(others.map(differs)).toEqual([true]);
  expect(pairRows(others, new Set(), true)).toHaveLength(1);
  expect(alignRuns(given("main"), given("main")).map(differs)).toEqual([false]);
});

test("pairs are counted by kind, and reworded tasks are noticed", () => {
  expect(countPairs(pairs)).toEqual({ both: 4, onlyA: 0, onlyB: 1, otherwise: 1 });
  const [, coder] = pairRows(pairs, new Set(), false);
  expect(coder && hasSameTask(coder.pair)).toBe(false);
});
