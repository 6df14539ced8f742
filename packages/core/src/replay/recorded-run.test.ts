import { expect, test } from "vitest";
import { makeCallRow, makeRow, makeRunRow, makeTurnRow } from "../../../../test/fixtures/hand-made-rows.ts";
import { RecordedRun } from "./recorded-run.ts";

const readRun = (...parts: Parameters<typeof makeRunRow>) => new RecordedRun(makeRunRow(...parts), "lead");

/** A model call that a crash cut off: closed as failed, without any type of error. */
const lost = (turn: number, metadata: object = {}) => makeTurnRow(turn, { status: "failed", metadata });
const failed = (turn: number) => makeTurnRow(turn, { status: "failed", metadata: { errorType: "network" } });
const summary = (turn: number) => makeTurnRow(turn, { metadata: { purpose: "summary" } });

test("a run was cut short if its row is open or names a reason", () => {
  expect(readRun().wasCutShort).toBe(false);
  expect(readRun([], { closed_seq: null }).wasCutShort).toBe(true);
  expect(readRun([], { bailout_reason: "max_tokens" }).wasCutShort).toBe(true);
});

test("a run never started if its row says so, or was closed without a snapshot", () => {
  expect(readRun().isUnstarted).toBe(false);
  expect(readRun([], { bailout_reason: "not_started" }).isUnstarted).toBe(true);
  expect(readRun([], { metadata: { snapshot: undefined } }).isUnstarted).toBe(true);
  expect(readRun([], { metadata: { snapshot: undefined }, closed_seq: null }).isUnstarted).toBe(false);
});

test("only a closed row has a result", () => {
  const metadata = { result: { iteration_count: 3, files_created: [], files_modified: [], tools_used: [] } };
  expect(readRun([], { metadata }).result).toMatchObject({ iteration_count: 3 });
  expect(readRun([], { metadata, closed_seq: null }).result).toBeNull();
  expect(readRun().result).toBeNull();
});

test("a delegation is known by the child run of its call, and a tool call by its row", () => {
  const call = makeCallRow("call_1");
  const child = makeRow({ request_type: "delegation", call_id: "call_2" });
  const run = readRun([makeTurnRow(0, { children: [call, child] })]);
  expect([run.callRow("call_1"), run.callRow("call_2")]).toEqual([call, undefined]);
  expect(["call_1", "call_2", "call_3"].map((id) => run.hasChildOf(id))).toEqual([false, true, false]);
});

test("the next model call is neither one that a crash cut off nor a summary", () => {
  const next = makeTurnRow(1);
  expect(readRun([summary(1), lost(1), next]).next()).toBe(next);
  expect(readRun([summary(1), lost(1)]).next()).toBeNull();
});

test("what was said before a model call that a crash cut off is said before the one in its place", () => {
  const again = makeTurnRow(0, { metadata: { steered: ["two"], before: ["b"] } });
  const later = makeTurnRow(1, { metadata: { steered: ["three"], before: ["c"] } });
  const run = readRun([lost(0, { steered: ["one"], before: ["a"] }), again, later]);
  expect([run.steering(), run.told()]).toEqual([
    ["one", "two"],
    ["a", "b"],
  ]);
  run.take(0, "turn");
  expect([run.steering(), run.told()]).toEqual([["three"], ["c"]]);
});

test("where no model call is left, what was said last leads to nothing", () => {
  const run = readRun([lost(0, { steered: ["one"], before: ["a"] })]);
  expect([run.steering(), run.told()]).toEqual([[], []]);
});

test("a model call is taken with those that a crash cut off before it, and apart from others", () => {
  const [first, second, other, done] = [lost(1), lost(1), summary(1), makeTurnRow(1)];
  const run = readRun([first, other, second, done, makeTurnRow(2)]);
  expect(run.take(1, "turn")).toEqual({ row: done, lost: [first, second], skipped: [other] });
  expect(run.take(1, "turn")).toEqual({ row: null, lost: [], skipped: [] });
});

test("model calls that were passed over are not taken later", () => {
  const run = readRun([summary(1), makeTurnRow(1), makeTurnRow(2)]);
  run.take(1, "turn");
  expect(run.take(1, "summary").row).toBeNull();
  expect(run.take(2, "turn").row).not.toBeNull();
});

test("a model call was made once more if another of its turn and purpose is left that no crash cut off", () => {
  const afterFirst = (...rows: ReturnType<typeof failed>[]) => {
    const run = readRun([failed(1), ...rows]);
    run.take(1, "turn");
    return run.hasAnother(1, "turn");
  };
  expect(afterFirst(failed(1))).toBe(true);
  expect(afterFirst(lost(1))).toBe(false);
  expect(afterFirst(summary(1), makeTurnRow(2))).toBe(false);
});

test("time, a person or the parent end a run from outside, with the message of then", () => {
  const end = (bailout_reason: string | null, more: object = {}) =>
    readRun([], { bailout_reason, ...more }).endedOutside();
  expect([end(null), end("max_tokens"), end("cancelled", { closed_seq: null })]).toEqual([null, null, null]);
  const cancelled = { status: "cancelled", bailout: "cancelled" };
  const result = { error: { message: "by Ada" }, files_created: [], files_modified: [], tools_used: [] };
  expect(end("cancelled", { metadata: { result } })).toEqual({ ...cancelled, message: "by Ada" });
  expect(end("cancelled", { error_message: "by Bob" })).toEqual({ ...cancelled, message: "by Bob" });
  expect(end("timeout")).toEqual({ status: "timeout", bailout: "timeout", message: "timeout" });
});

test("the limit that a turn names comes before the one that the run names", () => {
  const turns = [makeTurnRow(1), makeTurnRow(2, { metadata: { reason: "deadline" } })];
  expect(readRun(turns, { bailout_reason: "cancelled" }).limitReached()).toBe("deadline");
  expect(readRun([], { bailout_reason: "max_cost" }).limitReached()).toBe("max_cost");
  expect(readRun([makeTurnRow(1)]).limitReached()).toBeNull();
});

test("a run kept to a budget if anything was reserved for one of its model calls, be it zero", () => {
  expect(readRun([makeTurnRow(0), makeTurnRow(1, { metadata: { reserved: 0 } })]).wasLimited).toBe(true);
  expect(readRun([makeTurnRow(0)]).wasLimited).toBe(false);
});

test("the turn in which a call was asked for is that of the reply that asked", () => {
  const calls = JSON.stringify([{ callId: "call_1", tool: "note", input: {} }]);
  const run = readRun([makeTurnRow(0), makeTurnRow(3, { tool_calls_json: calls })]);
  expect([run.turnOfCall("call_1"), run.turnOfCall("call_2")]).toEqual([3, 0]);
});

test("a delegation is known by its task from the turns and the calls that it was open in", () => {
  const open = (id: string, taskId?: string) => ({ id, callId: "call_1", ...(taskId && { taskId }) });
  const children = { delivered: [], running: [open("run_b", "b")] };
  const call = makeCallRow("call_1", { metadata: { children } });
  const next = makeTurnRow(2, { metadata: { running: [open("run_c")] } });
  const run = readRun([makeTurnRow(1, { children: [call] }), next]);
  expect(["b", undefined, "a"].map((task) => run.idOfUnbegun("call_1", task))).toEqual([
    "run_b",
    "run_c",
    undefined,
  ]);
});

test("a delegation was told of at once unless it had been left open", () => {
  const run = readRun([makeTurnRow(1)]);
  expect(run.toldIn("call_1", undefined, ["run_a"])).toBe(0);
});

test("a delegation that was left open was told of in the turn whose call delivered any attempt of it", () => {
  const running = ["a", "b", "c"].map((taskId) => ({ id: `run_${taskId}`, callId: "call_1", taskId }));
  const collect = makeCallRow("call_2", { metadata: { children: { delivered: ["run_a2", "run_b"] } } });
  const run = readRun([makeTurnRow(1, { metadata: { running } }), makeTurnRow(4, { children: [collect] })]);
  expect(run.toldIn("call_1", "a", ["run_a", "run_a2"])).toBe(4);
  expect(run.toldIn("call_1", "b", [])).toBe(4);
  expect(run.toldIn("call_1", "c", ["run_c"])).toBe(Number.POSITIVE_INFINITY);
});

test("a delegation whose result the host told was answered by no call", () => {
  const before = ['<subagent_result agent="worker" run_id="run_a" status="completed">'];
  const run = readRun([makeTurnRow(2, { metadata: { before } })]);
  expect(run.toldIn("call_1", undefined, ["run_a"])).toBe(Number.POSITIVE_INFINITY);
  expect(run.toldIn("call_1", undefined, ["run_b"])).toBe(0);
});
