import { expect, test } from "vitest";
import { readSpawnOptions, readSpawnTask, type SpawnTask } from "./spawn-options.ts";

/** What a program that is not typed may write. */
const asTask = (given: unknown) => given as SpawnTask;

test("a task has its words, its tools and its limits, and a budget is its limit of tool calls", () => {
  const options = { budget: 4, tools: ["read"], limits: { turns: 3, toolCalls: 9 } };
  const read = { agent: "worker", task: "look", tools: ["read"], limits: { turns: 3, toolCalls: 4 } };
  expect(readSpawnTask(["worker", "look", options], 0)).toEqual(read);
  expect(readSpawnTask({ agent: "worker", task: "look", ...options }, 0)).toEqual(read);
  expect(readSpawnOptions(options)).toEqual({ tools: read.tools, limits: read.limits });
});

test("a task without options has no tools of its own and no limits, and an empty list of tools is one", () => {
  expect(readSpawnTask(["worker", "look"], 0)).toEqual({ agent: "worker", task: "look" });
  expect(readSpawnOptions({ limits: {} })).toEqual({});
  expect(readSpawnOptions({ tools: [] })).toEqual({ tools: [] });
});

test("an option that there is not is refused by its name and that of the task, so that nothing stays open by a slip", () => {
  expect(() => readSpawnOptions({ budgt: 3 } as object)).toThrow(
    "budgt is no option of spawn; did you mean 'budget'?",
  );
  expect(() => readSpawnTask(asTask(["worker", "look", { tool: ["read"] }]), 2)).toThrow(
    "tool is no option of tasks[2]",
  );
  expect(() => readSpawnTask(asTask({ agent: "worker", task: "look", limit: {} }), 1)).toThrow(
    "limit is no option of tasks[1]",
  );
  expect(() => readSpawnOptions(null as unknown as object)).toThrow("the options of spawn must be an object");
});

test("an option that is wrong is refused, with the place where it stands", () => {
  expect(() => readSpawnOptions({ tools: "read" as unknown as [] })).toThrow('tools is "read", but must be');
  expect(() => readSpawnTask(asTask(["worker", "look", { tools: [1] }]), 3)).toThrow("tasks[3].tools is [1]");
  expect(() => readSpawnTask(["worker", "look", { budget: -1 }], 0)).toThrow("tasks[0].budget");
  expect(() => readSpawnTask(["worker", "look", { limits: { turns: Number.NaN } }], 0)).toThrow(
    "tasks[0].limits",
  );
});

test("what names no agent, names no task or has a fourth part is no task", () => {
  const wrong = [["worker"], [1, "look"], { agent: "worker" }, { agent: "worker", task: 7 }];
  for (const given of wrong)
    expect(() => readSpawnTask(asTask(given), 1)).toThrow("tasks[1] must name an agent and a task");
  expect(() => readSpawnTask(asTask(["worker", "look", {}, {}]), 1)).toThrow(
    "tasks[1] has more than an agent, a task and options",
  );
});
