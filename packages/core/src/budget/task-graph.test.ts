import { expect, test } from "vitest";
import { Gate } from "./gate.ts";
import { checkGraph, runGraph } from "./task-graph.ts";

const gate = new Gate(10);
const within = <Result>(work: () => Promise<Result>) => gate.run(work);

test("a task starts when all it depends on has ended, and gets their values", async () => {
  const log: string[] = [];
  const tasks = [{ id: "c", dependsOn: ["a", "b"] }, { id: "a" }, { id: "b" }];
  const outcomes = await runGraph<(typeof tasks)[number], string>(tasks, {
    within,
    onFailure: "continue",
    run: async (task, needed) => {
      log.push(`${task.id}(${needed.join(",")})`);
      return { value: task.id.toUpperCase(), success: true };
    },
  });
  expect(log).toEqual(["a()", "b()", "c(A,B)"]);
  expect(outcomes.map((outcome) => (outcome.kind === "done" ? outcome.value : outcome.because))).toEqual([
    "C",
    "A",
    "B",
  ]);
});

test("what depends on a failed task is skipped and says why; the rest goes on", async () => {
  const tasks = [{ id: "a" }, { id: "b", dependsOn: ["a"] }, { id: "c" }];
  const outcomes = await runGraph<{ id: string; dependsOn?: string[] }, string>(tasks, {
    within,
    onFailure: "continue",
    run: async (task) => ({ value: task.id, success: task.id !== "a" }),
  });
  expect(outcomes.map((outcome) => outcome.kind)).toEqual(["done", "skipped", "done"]);
  expect(outcomes[1]).toMatchObject({ because: expect.stringContaining("'a'") });
});

test("with stop nothing begins after a failure", async () => {
  const one = new Gate(1);
  const begun: string[] = [];
  await runGraph([{ id: "a" }, { id: "b" }, { id: "c" }], {
    within: (work) => one.run(work),
    onFailure: "stop",
    run: async (task) => {
      begun.push(task.id);
      return { value: task.id, success: false };
    },
  });
  expect(begun).toEqual(["a"]);
});

test("a circle, an unknown id and a doubled id are refused by name", () => {
  expect(() =>
    checkGraph([
      { id: "a", dependsOn: ["b"] },
      { id: "b", dependsOn: ["c"] },
      { id: "c", dependsOn: ["a"] },
    ]),
  ).toThrow(/a → b → c → a/);
  expect(() => checkGraph([{ id: "a", dependsOn: ["x"] }])).toThrow(/'a' depends on 'x'/);
  expect(() => checkGraph([{ id: "a" }, { id: "a" }])).toThrow(/'a'/);
});

test("a chain of ten thousand tasks is checked without running out of stack", () => {
  const tasks = Array.from({ length: 10_000 }, (_, index) => ({
    id: `t${index}`,
    dependsOn: index > 0 ? [`t${index - 1}`] : [],
  }));
  expect(() => checkGraph(tasks)).not.toThrow();
});

test("what did not begin after several failures is told of the first", async () => {
  const outcomes = await runGraph([{ id: "a" }, { id: "b" }, { id: "c", dependsOn: ["d"] }, { id: "d" }], {
    within: (work) => work(),
    onFailure: "stop",
    run: async ({ id }) => ({ value: id, success: id === "d" }),
  });
  expect(outcomes[2]).toEqual({
    kind: "skipped",
    because: "'a' failed and the batch stops on failure",
  });
});

test("tasks may share what they depend on, and a wide graph is checked in no more steps than it has dependencies", () => {
  const layers = Array.from({ length: 40 }, (_, layer) =>
    ["left", "right"].map((side) => ({
      id: `${side}${layer}`,
      dependsOn: layer > 0 ? [`left${layer - 1}`, `right${layer - 1}`] : [],
    })),
  );
  expect(() => checkGraph(layers.flat().toReversed())).not.toThrow();
});
