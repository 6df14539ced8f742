import { expect, test } from "vitest";
import { checkJson } from "../schema/check-json.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { LARGEST } from "../schema/number-range.ts";
import {
  acceptBatch,
  acceptDelegation,
  COLLECT_INPUT,
  DELEGATE_INPUT,
  DELEGATE_MANY_INPUT,
  DELEGATE_MANY_TOLD,
  DELEGATE_TOLD,
  REQUEST_WORDS,
} from "./delegation-input.ts";

const task = { agent: "scout", task: "look" };
const fits = async (schema: JsonSchema, value: unknown) => (await checkJson(schema, value)).length === 0;
const fitsOne = (more: object) => fits(DELEGATE_INPUT, { ...task, ...more });

test.each([
  ["turns", 1, 0],
  ["tokens", 1, 0],
  ["contextChars", 1, 0],
  ["toolCalls", 0, -1],
  ["spawns", 0, -1],
  ["minutes", 0.01, 0],
  ["costUsd", 0.01, 0],
])(
  "of %s a delegation may be given %d at least, and no more than a number can be trusted with",
  async (name, least, less) => {
    const given = await Promise.all(
      [least, LARGEST, less, LARGEST * 2].map((one) => fitsOne({ limits: { [name]: one } })),
    );
    expect(given).toEqual([true, true, false, false]);
  },
);

test("counts are whole numbers, minutes and costs need not be", async () => {
  for (const name of ["turns", "toolCalls", "tokens", "contextChars", "spawns"])
    expect(await fitsOne({ limits: { [name]: 1.5 } })).toBe(false);
  for (const name of ["minutes", "costUsd"]) expect(await fitsOne({ limits: { [name]: 1.5 } })).toBe(true);
  expect(await fitsOne({ limits: { depth: 1 } })).toBe(false);
});

test.each<[string, object]>([
  ["no words in its task", { task: "" }],
  ["an agent without a name", { agent: "" }],
  ["no last message", { lastMessages: 0 }],
  ["a deliverable without a file", { deliverables: [{}] }],
  ["a deliverable without a name", { deliverables: [{ file: "" }] }],
  ["a deliverable that is more than a file", { deliverables: [{ file: "a", command: "rm" }] }],
  ["a context that there is not", { context: "everything" }],
  ["a field that there is not", { folder: "src" }],
  ["one tool instead of a list", { tools: "read" }],
])("a delegation with %s is refused, alone and in a batch", async (_, more) => {
  expect(await fitsOne(more)).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [{ ...task, ...more }] })).toBe(false);
});

test("a task is needed and an agent may be left out; a batch has a task at least, of which each may have an id", async () => {
  expect(await fits(DELEGATE_INPUT, { task: "look" })).toBe(true);
  expect(await fits(DELEGATE_INPUT, { agent: "scout" })).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [{ task: "look" }, { ...task, id: "b" }] })).toBe(true);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [] })).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, {})).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [{ ...task, id: "" }] })).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [task], onFailure: "retry" })).toBe(false);
  expect(await fits(DELEGATE_MANY_INPUT, { tasks: [task], mode: "backwards" })).toBe(false);
});

test("a model is told to name an agent, which nobody checks by the schema", () => {
  expect(DELEGATE_TOLD).toMatchObject({ required: ["agent", "task"] });
  expect(DELEGATE_MANY_TOLD).toMatchObject({
    properties: { tasks: { items: { required: ["agent", "task"] } } },
  });
});

test("a collection waits for any or all, and takes nothing else", async () => {
  expect(await fits(COLLECT_INPUT, { ids: ["a"], wait: "all" })).toBe(true);
  for (const wrong of [{ wait: "some" }, { ids: "a" }, { id: "a" }])
    expect(await fits(COLLECT_INPUT, wrong)).toBe(false);
});

test("words of other systems are taken for a delegation, what the agent chooses is left out and said", () => {
  const ignored: string[] = [];
  const accept = (input: Record<string, unknown>) => acceptDelegation(input, (key) => ignored.push(key));
  expect(accept({ ...task, description: "a look", model: "big", run_in_background: true })).toEqual(task);
  expect(ignored).toEqual(["model", "run_in_background"]);
  expect(accept({ agent: "scout", description: "a look" })).toEqual({ agent: "scout", task: "a look" });
  expect(accept({ ...task, deliverables: ["a.md", { file: "b.md" }] })).toEqual({
    ...task,
    deliverables: [{ file: "a.md" }, { file: "b.md" }],
  });
  expect(REQUEST_WORDS).toMatchObject({
    ...{ subagent: "agent", subagent_type: "agent", agent_type: "agent", agent_name: "agent" },
    ...{ prompt: "task", instructions: "task", message: "task", delegations: "tasks" },
  });
});

test("tasks of a batch without an id get their number, others keep theirs", () => {
  const batch = acceptBatch(
    { tasks: [task, { ...task, id: "mine", model: "big" }, "no task"], mode: "sequential" },
    () => {},
  );
  expect(batch).toEqual({
    tasks: [{ ...task, id: "task-1" }, { ...task, id: "mine" }, "no task"],
    mode: "sequential",
  });
  expect(acceptBatch({ tasks: "none" }, () => {})).toEqual({ tasks: "none" });
});
