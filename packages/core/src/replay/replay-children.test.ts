import { expect, test } from "vitest";
import {
  makeCallRow,
  makeRunRow,
  makeTurnRow,
  type RowParts,
} from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import type { MessageNode } from "../schema/record.ts";
import { RecordedSession } from "./recorded-session.ts";
import { ReplayChildren } from "./replay-children.ts";

const childRow = (run_id: string, metadata: object = {}, more: RowParts = {}) =>
  makeRunRow([], { run_id, call_id: "call_1", ...more, metadata: { parentRun: "run_root", ...metadata } });
const keyOf = (callId: string, attempt = 0) => ({ callId, attempt });

/** The children of a run that is played again, whose recorded turns are these. */
function replay(turns: MessageNode[], root: RowParts = {}) {
  const session = new RecordedSession([makeRunRow(turns, root)], () => undefined);
  return { parent: makeRun().run, session, children: new ReplayChildren(session) };
}

const open = (callId: string) => ({ id: `run_of_${callId}`, callId, agent: "worker" });
const calls = (...ids: string[]) =>
  JSON.stringify(ids.map((callId) => ({ callId, tool: "delegate", input: "{}" })));

test("a child has the id that it had, and one that never began the id under which it was left open", () => {
  const running = [open("call_1"), open("call_2")];
  const { parent, children } = replay([
    makeTurnRow(0, { children: [childRow("run_child", { attempt: 0 })], metadata: { running } }),
  ]);
  expect(children.childId(parent, keyOf("call_1"))).toBe("run_child");
  expect(children.childId(parent, keyOf("call_2"))).toBe("run_of_call_2");
  expect(children.childId(parent, keyOf("call_3"))).toBeUndefined();
});

test("another attempt does not get the id under which the first was left open", () => {
  const { parent, children } = replay([makeTurnRow(0, { metadata: { running: [open("call_1")] } })]);
  expect(children.childId(parent, keyOf("call_1", 1))).toBeUndefined();
});

test("a child that began begins again, and its call is not incomplete", () => {
  const { parent, session, children } = replay([makeTurnRow(0, { children: [childRow("run_child")] })]);
  expect(children.begins(parent, keyOf("call_1"), "worker")).toBe(true);
  expect(children.isIncomplete(parent, "call_1")).toBe(false);
  expect(session.divergences.first).toBeNull();
});

test("a child that never started does not begin, which makes its own call incomplete and no other", () => {
  const unstarted = childRow("run_child", {}, { bailout_reason: "not_started" });
  const { parent, session, children } = replay([makeTurnRow(0, { children: [unstarted] })]);
  expect(children.begins(parent, keyOf("call_1"), "worker")).toBe(false);
  expect([children.isIncomplete(parent, "call_1"), children.isIncomplete(parent, "call_2")]).toEqual([
    ...[true, false],
  ]);
  expect(session.divergences.first).toBeNull();
});

test("a child that is in no record is a difference, and does not begin", () => {
  const { parent, session, children } = replay([makeTurnRow(0)]);
  expect(children.begins(parent, keyOf("call_1"), "worker")).toBe(false);
  expect(session.divergences.first).toMatchObject({ what: "a run", now: "worker is started" });
});

test.each([
  ["its parent was cut short", [makeTurnRow(0)], { bailout_reason: "cancelled" }],
  ["its parent's record ends there", [makeTurnRow(0)], { closed_seq: null }],
  ["its call was answered all the same", [makeTurnRow(0, { children: [makeCallRow("call_1")] })], {}],
])("a child may be missing in the record where %s", (_, turns, root) => {
  const { parent, session, children } = replay(turns, root);
  expect(children.begins(parent, keyOf("call_1"), "worker")).toBe(false);
  expect(children.isIncomplete(parent, "call_1")).toBe(true);
  expect(session.divergences.first).toBeNull();
});

test("a parent that differs already has no further differences by its children", () => {
  const { parent, session, children } = replay([makeTurnRow(0)]);
  session.differs(parent, "before", "a", "b");
  const recorded = session.of(parent);
  if (recorded) recorded.position = 0;
  expect(children.begins(parent, keyOf("call_1"), "worker")).toBe(false);
  expect(session.divergences.first?.what).toBe("before");
});

/** A run that asked for two children at first, was given one in turn 2 and the other in turn 4. */
const two = () => {
  const deliver = (callId: string) =>
    makeCallRow(`get_${callId}`, { metadata: { children: { delivered: [open(callId).id] } } });
  return replay([
    makeTurnRow(0, { tool_calls_json: calls("call_1", "call_2") }),
    makeTurnRow(2, { metadata: { running: [open("call_1")] }, children: [deliver("call_1")] }),
    makeTurnRow(4, { metadata: { running: [open("call_2")] }, children: [deliver("call_2")] }),
  ]);
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a parent is told of each child in the turn in which it was told of it, not before", async () => {
  const { parent, children } = two();
  const told: string[] = [];
  for (const callId of ["call_2", "call_1"])
    void children.untilTold(parent, open(callId)).then(() => told.push(callId));
  const seen: string[][] = [];
  for (parent.turn = 1; parent.turn <= 4; parent.turn++) {
    children.turnBegan(parent);
    await settled();
    seen.push([...told]);
  }
  expect(seen).toEqual([[], ["call_1"], ["call_1"], ["call_1", "call_2"]]);
});

test("what a parent may be told already it is told at once", async () => {
  const { parent, children } = two();
  parent.turn = 2;
  expect([children.isTold(parent, open("call_1")), children.isTold(parent, open("call_2"))]).toEqual([
    ...[true, false],
  ]);
  await children.untilTold(parent, open("call_1"));
});

test("a parent that is told of everything hears of what it had asked for up to then, not of what it asks for later", async () => {
  const { parent, children } = two();
  parent.turn = 0;
  const heard = ["call_1", "call_2"].map((callId) => children.untilTold(parent, open(callId)));
  children.tellAll(parent);
  await Promise.all(heard);
  expect(children.isTold(parent, open("call_2"))).toBe(true);
  const later = replay([
    makeTurnRow(1, { tool_calls_json: calls("call_1"), metadata: { running: [open("call_1")] } }),
  ]);
  later.children.tellAll(later.parent);
  expect(later.children.isTold(later.parent, open("call_1"))).toBe(false);
});

test("a child whose second attempt was delivered is told of then", () => {
  const collect = makeCallRow("get", { metadata: { children: { delivered: ["run_again"] } } });
  const attempts = [childRow("run_first", { attempt: 0 }), childRow("run_again", { attempt: 1 })];
  const { parent, children } = replay([
    makeTurnRow(0, { children: attempts, metadata: { running: [open("call_1")] } }),
    makeTurnRow(3, { children: [collect] }),
  ]);
  parent.turn = 2;
  expect(children.isTold(parent, open("call_1"))).toBe(false);
  parent.turn = 3;
  expect(children.isTold(parent, open("call_1"))).toBe(true);
});
