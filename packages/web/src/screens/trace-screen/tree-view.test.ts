import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { expect, test } from "vitest";
import { makeTraceRun } from "../../../../../test/fixtures/trace-run.ts";
import { flattenTree } from "../../ui/tree.tsx";
import { fitting } from "./tree-view.tsx";

const treeRows = (roots: readonly TraceRun[], collapsed: ReadonlySet<string>, filter: string) =>
  flattenTree(roots, collapsed, {
    findId: ({ runId }) => runId,
    kept: fitting(roots, filter),
    isOpened: true,
  });

const deep = makeTraceRun("lead", { task: "release" }, [
  makeTraceRun("scout", { task: "read the notes" }, [
    makeTraceRun("checker", { task: "check a date", error: "404" }),
  ]),
  makeTraceRun("writer", { task: "write the note" }),
]);
const names = (rows: readonly { node: { agent: string } }[]) => rows.map(({ node }) => node.agent);

test("rows come parents first, with their level and place among siblings", () => {
  const rows = treeRows([deep], new Set(), "");
  expect(names(rows)).toEqual(["lead", "scout", "checker", "writer"]);
  expect(rows.map(({ level }) => level)).toEqual([1, 2, 3, 2]);
  expect(rows[3]).toMatchObject({ place: 2, siblings: 2, isExpanded: null });
});

test("a collapsed run hides everything below it and says so", () => {
  const rows = treeRows([deep], new Set(["run_scout"]), "");
  expect(names(rows)).toEqual(["lead", "scout", "writer"]);
  expect(rows[1]?.isExpanded).toBe(false);
});

test("a filter keeps what fits with all above it, and opens the way to it", () => {
  const rows = treeRows([deep], new Set(["run_scout"]), "404");
  expect(names(rows)).toEqual(["lead", "scout", "checker"]);
  expect(rows.map(({ isFaint }) => isFaint)).toEqual([true, true, false]);
});

test("all words of a filter must be in the run", () => {
  expect(names(treeRows([deep], new Set(), "writer note"))).toEqual(["lead", "writer"]);
  expect(treeRows([deep], new Set(), "writer date")).toEqual([]);
});

test("a chain of ten thousand runs is walked without recursion", () => {
  let chain = makeTraceRun("last", {});
  for (let depth = 0; depth < 10_000; depth++) chain = makeTraceRun(`a${depth}`, {}, [chain]);
  expect(treeRows([chain], new Set(), "")).toHaveLength(10_001);
  expect(treeRows([chain], new Set(), "last")).toHaveLength(10_001);
});
