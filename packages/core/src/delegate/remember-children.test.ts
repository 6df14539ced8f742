import { expect, test } from "vitest";
import { makeCallRow, makeRow, makeRunRow, makeTurnRow } from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { recordedMoment } from "../run/read-row.ts";
import type { Profile } from "../run/run.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import { Children } from "./children.ts";
import { EarlierAttempts } from "./earlier-attempts.ts";
import { rememberChildren } from "./remember-children.ts";

const scout = defineAgent({ name: "scout", description: "x", prompt: "x" });
const lead = defineAgent({ name: "lead", description: "x", prompt: "x", subagents: { allow: ["*"] } });

/** Children that only note what begins. */
class Noted extends Children {
  readonly begun: object[] = [];

  override delegate(...[id, request, origin]: Parameters<Children["delegate"]>): Promise<RunResult> {
    this.begun.push({ ...request, ...origin, id });
    return new Promise(() => {});
  }
}

/** The children of a run whose turns were recorded so; `asked` are calls that have no answer yet. */
async function remember(turns: MessageNode[], { asked = [] as string[], answered = [] as string[] } = {}) {
  const { run } = makeRun({ agent: lead, host: { createRunId: () => "run_new" } });
  const node = makeRunRow(turns);
  const earlier = new EarlierAttempts(node);
  const answer = (callId: string) => ({ callId, tool: "delegate", text: "", outcome: "ok" as const });
  run.resumption = {
    kind: "calls",
    calls: [...asked, ...answered].map((callId) => ({ callId, tool: "delegate", input: "{}" })),
    answered: new Map(answered.map((callId) => [callId, answer(callId)])),
    repeating: "no",
  };
  const children = new Noted(
    run,
    { agent: lead, delegates: [scout] } as Partial<Profile> as Profile,
    earlier,
  );
  rememberChildren(children, node, earlier);
  await new Promise((resolve) => setImmediate(resolve));
  const undelivered = children.delegations.undelivered().map(({ id }) => id);
  return { delegations: children.delegations, begun: children.begun, undelivered };
}

const resultOf = (runId: string, status: RunResult["status"]): RunResult => ({
  ...failedResult(
    { runId, sessionId: "ses_1", agent: "scout" },
    { type: "failed", message: "x", recoverable: false },
  ),
  status,
});

/** The row of a child run; without a status it was open. */
function childRow(
  runId: string,
  {
    callId = "a",
    status,
    taskId,
    seqs = [3, 4] as const,
  }: {
    callId?: string;
    status?: RunResult["status"];
    taskId?: string;
    seqs?: readonly [opened: number, closed: number];
  },
): MessageNode {
  return makeRow({
    ...{ request_type: "delegation", call_id: callId, run_id: runId, agent_role: "scout" },
    ...{ opened_seq: seqs[0], closed_seq: status ? seqs[1] : null, request_content: "look around" },
    metadata: {
      snapshot: "s",
      ...(taskId && { taskId }),
      ...(status && { result: resultOf(runId, status) }),
    },
  });
}

/** A turn that asked for calls, by their ids. */
const turnRow = (
  calls: { [callId: string]: { tool?: string; input?: object } },
  { metadata = {}, ...parts }: { id?: number; children?: MessageNode[]; metadata?: object } = {},
) =>
  makeTurnRow(1, {
    tool_calls_json: JSON.stringify(
      Object.entries(calls).map(([callId, { tool = "delegate", input }]) => ({
        ...{ callId, tool },
        input: JSON.stringify(input ?? { agent: "scout", task: "look around" }),
      })),
    ),
    metadata,
    ...parts,
  });

const lastTurn = (running: OpenDelegation[] = [], children: MessageNode[] = []) =>
  makeTurnRow(9, { id: 90, metadata: { running }, children });

const open = (id: string, callId = "a", taskId?: string): OpenDelegation => ({
  ...{ id, agent: "scout", callId },
  ...(taskId && { taskId }),
});

test("what had ended and was told is known with its last attempt, and is not told or begun again", async () => {
  const children = [
    childRow("run_1", { status: "failed", taskId: "t1", seqs: [3, 4] }),
    childRow("run_2", { status: "completed", taskId: "t1", seqs: [5, 6] }),
  ];
  const { delegations, begun, undelivered } = await remember([turnRow({ a: {} }, { children }), lastTurn()]);
  expect([begun, undelivered]).toEqual([[], []]);
  expect([delegations.knows("run_1"), delegations.knows("t1")]).toEqual([true, true]);
  expect(delegations.resultOf("t1")).toMatchObject({ run_id: "run_2", status: "completed" });
  expect(delegations.findTaskId(resultOf("run_2", "completed"))).toBe("t1");
  expect(delegations.ended().map(({ result, began, ended }) => [result.run_id, began, ended])).toEqual([
    ["run_1", recordedMoment(3), recordedMoment(4)],
    ["run_2", recordedMoment(5), recordedMoment(6)],
  ]);
});

test("an attempt that was open has no result yet, and neither has its delegation", async () => {
  const children = [
    childRow("run_1", { status: "failed", taskId: "t1" }),
    childRow("run_2", { taskId: "t1" }),
  ];
  const { delegations } = await remember([turnRow({ a: {} }, { children })]);
  expect(delegations.ended().map(({ result }) => result.run_id)).toEqual(["run_1"]);
  expect(delegations.resultOf("t1")).toBeUndefined();
});

test("what a call that has no answer yet had begun is told with that answer, what others had begun is known", async () => {
  const children = [
    childRow("run_1", { callId: "a", status: "failed", taskId: "t1" }),
    childRow("run_2", { callId: "b", status: "completed", taskId: "t2" }),
  ];
  const turn = turnRow({ a: {}, b: {} }, { children });
  const { delegations } = await remember([turn], { asked: ["a"], answered: ["b"] });
  expect([delegations.knows("t1"), delegations.knows("t2")]).toEqual([false, true]);
});

test("a delegation that its model was told is running goes on under its id, by the call that had asked for it", async () => {
  const calls = { note: { tool: "note", input: {} }, b: {} };
  const turns = [
    turnRow({ a: {} }, { id: 11 }),
    turnRow(calls, { id: 12, children: [childRow("run_1", { callId: "b" })] }),
    lastTurn([open("run_1", "b")]),
  ];
  const { begun, undelivered } = await remember(turns);
  expect(begun).toEqual([{ id: "run_1", agent: "scout", task: "look around", callId: "b", rowId: 12 }]);
  expect(undelivered).toEqual(["run_1"]);
});

test("one that ended after its model was told that it is running is still to be told", async () => {
  const turns = [
    turnRow({ a: {} }, { children: [childRow("run_1", { status: "completed" })] }),
    lastTurn([open("run_1")]),
  ];
  const { begun, undelivered } = await remember(turns);
  expect(begun).toHaveLength(1);
  expect(undelivered).toEqual(["run_1"]);
});

test("only what the latest turn was told is running goes on", async () => {
  const turns = [
    turnRow({ a: {} }, { children: [childRow("run_1", { status: "completed" })] }),
    turnRow({}, { metadata: { running: [open("run_1")] } }),
    lastTurn(),
  ];
  expect(await remember(turns)).toMatchObject({ begun: [], undelivered: [] });
});

test("answers of the last turn have delivered some of it, and promised more", async () => {
  const told = { delivered: ["run_1"], running: [open("run_2", "b")] };
  const turns = [
    turnRow({ a: {} }, { children: [childRow("run_1", { status: "completed" })] }),
    turnRow({ b: {} }, { id: 12 }),
    lastTurn([open("run_1")], [makeCallRow("c", { metadata: { children: told } })]),
  ];
  const { begun, undelivered } = await remember(turns);
  expect(begun).toMatchObject([{ id: "run_2", callId: "b", rowId: 12 }]);
  expect(undelivered).toEqual(["run_2"]);
});

test("of a batch the tasks that were running go on below its own row, and the others are over", async () => {
  const task = (id: string) => ({ id, agent: "scout", task: `do ${id}` });
  const calls = { a: { tool: "delegate_many", input: { tasks: ["t1", "t2"].map(task) } } };
  const inBatch = [
    childRow("run_t1", { status: "completed", taskId: "t1" }),
    childRow("run_t2", { taskId: "t2" }),
  ];
  const batch = makeCallRow("a", { id: 55, children: inBatch });
  const turns = (children: MessageNode[]) => [
    turnRow(calls, { id: 11, children }),
    lastTurn([open("run_t2", "a", "t2")]),
  ];
  const { begun, undelivered } = await remember(turns([batch]));
  expect(begun).toContainEqual({ ...task("t2"), id: "run_t2", callId: "a", rowId: 55, taskId: "t2" });
  expect(undelivered).toEqual(["run_t2"]);
  expect((await remember(turns([]))).begun).toMatchObject([{ id: "run_t2", rowId: 11 }]);
});

test("a delegation in the words of other systems begins as it would have begun, one that cannot be read does not", async () => {
  const input = { agent: "scout", description: "look", deliverables: ["a.md"], model: "small" };
  const turns = [turnRow({ a: { input } }), lastTurn([open("run_1")])];
  expect((await remember(turns)).begun).toMatchObject([{ task: "look", deliverables: [{ file: "a.md" }] }]);
  expect((await remember([lastTurn([open("run_1")])])).begun).toEqual([]);
});
