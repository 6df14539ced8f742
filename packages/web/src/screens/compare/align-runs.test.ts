import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { testRun } from "@retinue/core/show/test-run";
import { walkRuns } from "@retinue/core/show/walk-runs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { alignRuns, type RunPair } from "./align-runs.ts";
import { everyPair } from "./pair-rows.ts";

let made = 0;
const run = (agent: string, task = "", children: readonly TraceRun[] = []) =>
  testRun(agent, { runId: `run_${++made}`, task }, children);

/** The pairs as lines, indented by level: `agent task | agent task`, a dash where there is none. */
function drawn(pairs: readonly RunPair[], level = 0): string[] {
  const word = (one: TraceRun | null) => (one ? `${one.agent} ${one.task}`.trim() : "–");
  return pairs.flatMap(({ a, b, children }) => [
    `${"  ".repeat(level)}${word(a)} | ${word(b)}`,
    ...drawn(children, level + 1),
  ]);
}

test("children with the same agent and task stand side by side, the others alone and in their order", () => {
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

test("everything below a run without a counterpart is without one as well", () => {
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
        const shown = [...everyPair(roots)].flatMap((pair) => pair[side] ?? []);
        expect(shown).toEqual([...walkRuns(sides[side])]);
        for (const pair of everyPair(roots))
          expect(pair.children.flatMap((child) => child[side] ?? [])).toEqual(pair[side]?.children ?? []);
      }
    }),
  );
});

test("a session is wholly matched with itself", () => {
  fc.assert(
    fc.property(seeds(3), (seed) => {
      const runs = seed.map(grown);
      for (const { a, b } of everyPair(alignRuns(runs, runs))) expect(a).toBe(b);
    }),
  );
});

test("a chain and a row of ten thousand runs are walked without recursion", () => {
  const chain = () => {
    let last = run("last");
    for (let depth = 0; depth < 10_000; depth++) last = run(`a${depth % 7}`, "", [last]);
    return last;
  };
  expect([...everyPair(alignRuns([chain()], [chain()]))]).toHaveLength(10_001);
  const row = (turned: boolean) => {
    const parts = Array.from({ length: 10_000 }, (_, index) => run("coder", `part ${index}`));
    return run("main", "", turned ? parts.reverse() : parts);
  };
  const [root] = alignRuns([row(false)], [row(true)]);
  expect(root?.children.flatMap(({ a }) => a ?? [])).toHaveLength(10_000);
});
