import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { walkRuns } from "@retinue/core/show/walk-runs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeTraceRun } from "../../../../../test/fixtures/trace-run.ts";
import { flattenTree, keepFitting } from "../../ui/tree.tsx";
import { alignRuns, countPairs, differs, hasSameTask, type RunPair } from "./align-runs.ts";

let made = 0;
const run = (agent: string, task = "", children: readonly TraceRun[] = []) =>
  makeTraceRun(agent, { runId: `run_${++made}`, task }, children);

/** The pairs as lines, indented by level: `agent task | agent task`, a dash where there is none. */
function drawn(pairs: readonly RunPair[], level = 0): string[] {
  const word = (one: TraceRun | null) => (one ? `${one.agent} ${one.task}`.trim() : "–");
  return pairs.flatMap(({ a, b, children }) => [
    `${"  ".repeat(level)}${word(a)} | ${word(b)}`,
    ...drawn(children, level + 1),
  ]);
}

test("children with the same agent and task are paired, the others stay alone and in their order", () => {
  const a = run("main", "fix", [run("coder", "edit"), run("tester", "try"), run("reviewer", "look")]);
  const b = run("main", "fix", [run("planner", "think"), run("coder", "edit"), run("reviewer", "look")]);
  expect(drawn(alignRuns([a], [b]))).toEqual([
    "main fix | main fix",
    "  – | planner think",
    "  coder edit | coder edit",
    "  tester try | –",
    "  reviewer look | reviewer look",
  ]);
});

test("where the words of a task differ the agent decides, but never against an exact match", () => {
  const a = [run("coder", "edit the cart"), run("coder", "edit the bill")];
  const b = [run("coder", "look at it"), run("coder", "Edit  the BILL"), run("coder", "say so")];
  expect(drawn(alignRuns([run("main", "", a)], [run("main", "", b)]))).toEqual([
    "main | main",
    "  coder edit the cart | coder look at it",
    "  coder edit the bill | coder Edit  the BILL",
    "  – | coder say so",
  ]);
});

test("two root runs are compared even if their agents differ", () => {
  const a = run("main", "fix", [run("coder", "edit")]);
  const b = run("solo", "fix it", [run("coder", "edit")]);
  expect(drawn(alignRuns([a], [b]))).toEqual(["main fix | solo fix it", "  coder edit | coder edit"]);
});

test("everything below a run without a counterpart has none either", () => {
  const a = run("main", "", [run("coder", "edit", [run("tester", "try")])]);
  expect(drawn(alignRuns([a], [run("main", "")]))).toEqual([
    "main | main",
    "  coder edit | –",
    "    tester try | –",
  ]);
  expect(alignRuns([], [])).toEqual([]);
});

type Seed = { agent: string; task: string; children: Seed[] };
const seeds = (levels: number): fc.Arbitrary<Seed[]> =>
  fc.array(
    fc.record({
      agent: fc.constantFrom("coder", "tester", "reviewer"),
      task: fc.constantFrom("one", "two", "three"),
      children: levels > 1 ? seeds(levels - 1) : fc.constant([]),
    }),
    { maxLength: 6 },
  );
const grown = ({ agent, task, children }: Seed): TraceRun => run(agent, task, children.map(grown));

test("every run of either side appears exactly once, below the pair of its parent and in its side's order", () => {
  fc.assert(
    fc.property(seeds(3), seeds(3), (seedA, seedB) => {
      const sides = { a: seedA.map(grown), b: seedB.map(grown) };
      const roots = alignRuns(sides.a, sides.b);
      for (const side of ["a", "b"] as const) {
        const shown = [...walkRuns(roots)].flatMap((pair) => pair[side] ?? []);
        expect(shown).toEqual([...walkRuns(sides[side])]);
        for (const pair of walkRuns(roots))
          expect(pair.children.flatMap((child) => child[side] ?? [])).toEqual(pair[side]?.children ?? []);
      }
    }),
  );
});

test("a session compared with itself matches completely", () => {
  fc.assert(
    fc.property(seeds(3), (seed) => {
      const runs = seed.map(grown);
      for (const { a, b } of walkRuns(alignRuns(runs, runs))) expect(a).toBe(b);
    }),
  );
});

test("a chain and a row of ten thousand runs are walked without recursion", () => {
  const chain = () => {
    let last = run("last");
    for (let depth = 0; depth < 10_000; depth++) last = run(`a${depth % 7}`, "", [last]);
    return last;
  };
  expect([...walkRuns(alignRuns([chain()], [chain()]))]).toHaveLength(10_001);
  const row = (turned: boolean) => {
    const parts = Array.from({ length: 10_000 }, (_, index) => run("coder", `part ${index}`));
    return run("main", "", turned ? parts.reverse() : parts);
  };
  const [root] = alignRuns([row(false)], [row(true)]);
  expect(root?.children.flatMap(({ a }) => a ?? [])).toHaveLength(10_000);
});

const pairRows = (roots: readonly RunPair[], collapsed: ReadonlySet<string>, isOnlyDifferent: boolean) =>
  flattenTree(roots, collapsed, {
    findId: ({ id }) => id,
    kept: isOnlyDifferent ? keepFitting(roots, differs) : null,
  });

const two = alignRuns(
  [
    makeTraceRun("main", { runId: "a" }, [
      makeTraceRun("coder", { runId: "a1", task: "edit" }, [
        makeTraceRun("tester", { runId: "a11", status: "failed" }),
      ]),
      makeTraceRun("reviewer", { runId: "a2" }),
    ]),
  ],
  [
    makeTraceRun("main", { runId: "b" }, [
      makeTraceRun("coder", { runId: "b1", task: "change" }, [makeTraceRun("tester", { runId: "b11" })]),
      makeTraceRun("reviewer", { runId: "b2" }),
      makeTraceRun("planner", { runId: "b3" }),
    ]),
  ],
);
const listIds = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

test("rows come parents first, with level, place and parent", () => {
  const rows = pairRows(two, new Set(), false);
  expect(listIds(rows)).toEqual(["a", "a1", "a11", "a2", "b3"]);
  expect(rows.map(({ level }) => level)).toEqual([1, 2, 3, 2, 2]);
  expect(rows[4]).toMatchObject({ place: 3, siblings: 3, isExpanded: null, parentId: "a" });
});

test("a collapsed pair hides what is below it", () => {
  expect(listIds(pairRows(two, new Set(["a1"]), false))).toEqual(["a", "a1", "a2", "b3"]);
});

test("the view of differences keeps runs without a counterpart or with another end, and the runs above them", () => {
  const rows = pairRows(two, new Set(), true);
  expect(listIds(rows)).toEqual(["a", "a1", "a11", "b3"]);
  expect(rows.map(({ isFaint }) => isFaint)).toEqual([true, true, false, false]);
});

test("a task given to another agent is a difference, even if it ended the same way", () => {
  const given = (agent: string) => [makeTraceRun(agent, { task: "fix it" }, [makeTraceRun("coder", {})])];
  const others = alignRuns(given("main"), given("lead"));
  expect(others.map(differs)).toEqual([true]);
  expect(pairRows(others, new Set(), true)).toHaveLength(1);
  expect(alignRuns(given("main"), given("main")).map(differs)).toEqual([false]);
});

test("pairs are counted by kind, and reworded tasks are noticed", () => {
  expect(countPairs(two)).toEqual({ both: 4, onlyA: 0, onlyB: 1, otherwise: 1 });
  const [, coder] = pairRows(two, new Set(), false);
  expect(coder && hasSameTask(coder.node)).toBe(false);
});
