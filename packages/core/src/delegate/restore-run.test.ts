import { expect, test } from "vitest";
import {
  makeCallRow,
  makeRow,
  makeRunRow,
  makeTurnRow,
  type RowParts,
} from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import { countedTool } from "../../../../test/fixtures/lives.ts";
import type { Record as RecordPort } from "../record/record.ts";
import type { Run } from "../run/run.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import { scriptedModel } from "../testing/index.ts";
import { restoreRun } from "./restore-run.ts";

const TOOLS = ["note", "look"].map((name) => countedTool(name).tool);

/** A run as its rows tell of it. */
async function restore(
  turns: MessageNode[],
  { metadata, parts, whole }: { metadata?: object; parts?: RunParts; whole?: boolean } = {},
): Promise<Run> {
  const { run } = makeRun({ tools: TOOLS, ...parts });
  await restoreRun(run, makeRunRow(turns, { metadata }), whole);
  return run;
}

/** A turn that said something, or asked for calls, each of them by its id and its tool. */
function turnRow(
  turn: number,
  { said, calls, ...parts }: RowParts & { said?: string; calls?: Readonly<Record<string, string>> } = {},
): MessageNode {
  const asked = Object.entries(calls ?? {}).map(([callId, tool]) => ({ callId, tool, input: "{}" }));
  return makeTurnRow(turn, {
    response_content: said ?? null,
    tool_calls_json: asked.length > 0 ? JSON.stringify(asked) : null,
    ...parts,
  });
}

/** A model call that had no answer when its process ended. */
const openTurn = (turn: number, metadata: object = {}) => turnRow(turn, { closed_seq: null, metadata });

/** The row of a child run that ended so. */
function childRow(callId: string, status: RunResult["status"], more: Partial<RunResult> = {}): MessageNode {
  const { details, ...result } = {
    ...failedResult(
      { runId: "run_child", sessionId: "ses_1", agent: "scout" },
      { type: "failed", message: "broken", recoverable: false },
    ),
    ...{ tainted: false, private_data: false },
    ...more,
    status,
  };
  return makeRow({
    ...{ request_type: "delegation", call_id: callId, run_id: "run_child", status },
    ...{ request_content: "look around", response_content: details },
    metadata: { snapshot: "snapshot", result },
  });
}

const texts = (run: Run) => JSON.stringify(run.history.slice(2));
const answersOf = (run: Run) =>
  run.resumption?.kind === "calls" ? [...run.resumption.answered.values()] : null;

test("a run that had not reached its first turn begins anew, with the taint it was given", async () => {
  const run = await restore([], { metadata: { tainted: true, privateData: true } });
  expect(run).toMatchObject({ resumption: null, tainted: true, privateData: true, turn: 0 });
});

test("what a run knew stays known, whatever its later rows and its new request do not say", async () => {
  const run = await restore([turnRow(1, { said: "x" })], {
    metadata: { tainted: true, privateData: true },
    parts: { tainted: false },
  });
  expect(run).toMatchObject({ tainted: true, privateData: true });
  expect(await restore([turnRow(1, { said: "x" })], { parts: { tainted: true } })).toMatchObject({
    tainted: true,
  });
  const later = await restore([
    turnRow(1, { calls: { a: "note" }, metadata: { tainted: true, privateData: true } }),
    turnRow(2, { said: "x" }),
  ]);
  expect(later).toMatchObject({ tainted: true, privateData: true });
  expect(await restore([turnRow(1, { said: "x" })])).toMatchObject({ tainted: false, privateData: false });
});

test("only its own model calls count as spent by a run, those that never ended with what was set aside", async () => {
  const run = await restore([
    turnRow(1, { calls: { a: "note" }, total_tokens: 100, cost_usd: 0.5 }),
    makeRow({ request_type: "delegation", total_tokens: 1_000, cost_usd: 9 }),
    openTurn(2, { reserved: 40, reservedUsd: 0.25 }),
  ]);
  expect(run).toMatchObject({ tokens: 140, costUsd: 0.75 });
});

test("after a call whose price was unknown no cost is known, also if later calls have a price", async () => {
  const run = await restore([
    turnRow(1, { calls: { a: "note" }, cost_usd: null }),
    turnRow(2, { said: "x", cost_usd: 1 }),
  ]);
  expect(run.costUsd).toBeNull();
});

test("the next turn has the number that it would have had", async () => {
  const first = turnRow(1, { calls: { a: "note" } });
  const failed = turnRow(2, { status: "failed", said: "half an answer" });
  expect(await restore([first, turnRow(2, { said: "x" })])).toMatchObject({ turn: 2 });
  expect(await restore([first, openTurn(2)])).toMatchObject({ turn: 1, resumption: { kind: "turn" } });
  const again = await restore([first, failed]);
  expect(again).toMatchObject({ turn: 1, resumption: { kind: "turn" } });
  expect(texts(again)).not.toContain("half an answer");
});

test("a run that was writing its last report writes it again, or is done if the report was there", async () => {
  const first = turnRow(1, { calls: { a: "note" } });
  const wrapUp = { purpose: "wrap_up", reason: "deadline" };
  expect(await restore([first, openTurn(2, wrapUp)])).toMatchObject({
    turn: 2,
    resumption: { kind: "wrap_up", reason: "deadline", reply: null },
  });
  expect(await restore([first, turnRow(2, { said: "REPORT", metadata: wrapUp })])).toMatchObject({
    resumption: { kind: "wrap_up", reason: "deadline", reply: { text: "REPORT" } },
  });
});

test("an answer is known as the answer, and the row of the turn that gave it is the latest", async () => {
  const run = await restore([
    turnRow(1, { calls: { a: "note" }, id: 7 }),
    turnRow(2, { said: "FOUND", id: 9 }),
  ]);
  expect(run).toMatchObject({
    turnMessageId: 9,
    resumption: { kind: "answer", reply: { text: "FOUND" } },
  });
  expect(texts(run)).toContain("FOUND");
});

test("the parts of an answer that was cut are those that were said last, without a call that failed", async () => {
  const cut = (turn: number, said: string) => turnRow(turn, { said });
  const failed = turnRow(3, { status: "failed", said: "lost" });
  const parts = [cut(1, "one"), cut(2, "two"), failed, openTurn(4, { cutAnswer: 1 })];
  expect((await restore(parts)).cutAnswer).toEqual(["two"]);
  expect((await restore([...parts.slice(0, 3), openTurn(4, { cutAnswer: 2 })])).cutAnswer).toEqual([
    "one",
    "two",
  ]);
  expect((await restore([...parts.slice(0, 3), openTurn(4)])).cutAnswer).toEqual([]);
});

test("messages that were added come back in their places, and no later row tells of them again", async () => {
  const kept = JSON.stringify([
    { role: "system", content: "You work." },
    { role: "user", content: [{ type: "text", text: "condensed" }] },
  ]);
  const readText = async (id: string) => (id === "kept" ? kept : undefined);
  const host = { record: { readText } as Partial<RecordPort> as RecordPort };
  const turns = [
    turnRow(1, { calls: { a: "note" } }),
    openTurn(2, { history: "kept", before: ["and hurry"] }),
  ];
  const run = await restore(turns, { parts: { host } });
  expect(run.history.map(({ content }) => JSON.stringify(content)).slice(1)).toEqual([
    expect.stringContaining("condensed"),
    expect.stringContaining("and hurry"),
  ]);
  expect(run).toMatchObject({ historyReplaced: false, unrecorded: [] });
});

test("what the latest turn's row says of the run's state holds", async () => {
  const run = await restore([
    turnRow(1, {
      calls: { a: "note" },
      metadata: { repairsLeft: 1, sentBack: true, overflowed: true, warnings: ["w1"], emptyReplies: 2 },
    }),
    openTurn(2, { repairsLeft: 0, warnings: ["w2"], baseline: [["a.txt", "v1"]] }),
  ]);
  expect(run).toMatchObject({
    ...{ repairsLeft: 0, emptyReplies: 0, sentBack: true, compactedForOverflow: true },
    ...{ warnings: ["w1", "w2"], warningsRecorded: 2 },
  });
  expect([...run.baseline]).toEqual([["a.txt", "v1"]]);
  expect(await restore([openTurn(1, { emptyReplies: 2 })])).toMatchObject({ emptyReplies: 2 });
  expect(await restore([turnRow(1, { calls: { a: "note" }, metadata: { emptyReplies: 2 } })])).toMatchObject({
    emptyReplies: 0,
  });
});

test("a run goes on with the model that had taken over, and with those that come after it", async () => {
  const models = ["test/first", "test/second", "test/third", "test/fourth"].map((id) => ({
    ...{ id, provider: "test", model: scriptedModel(id, []), price: null },
  }));
  const [first, ...fallbacks] = models;
  if (!first) throw new Error("there are four");
  const parts = { ownModel: { ...first, fallbacks } };
  const names = (run: Run) => [run.model.id, ...run.fallbacks.map(({ id }) => id)];
  const by = (model_id: string) => turnRow(1, { said: "x", model_id });
  expect(names(await restore([by("test/third")], { parts }))).toEqual(["test/third", "test/fourth"]);
  expect(names(await restore([by("test/first")], { parts }))).toHaveLength(4);
  expect(names(await restore([by("test/gone")], { parts }))).toHaveLength(4);
});

test("what a reply measured of the conversation holds, unless its figures were guessed", async () => {
  const said = (metadata: object) => turnRow(1, { said: "x", total_tokens: 70, metadata });
  expect((await restore([said({})])).measured).toMatchObject({ tokens: 70 });
  const asked = turnRow(1, { calls: { a: "note" }, total_tokens: 70 });
  const guessed = turnRow(2, { said: "x", total_tokens: 90, metadata: { estimated: true } });
  expect((await restore([asked, guessed])).measured).toMatchObject({ tokens: 0 });
});

test("calls count once: what a turn's row says was counted before it, then the latest turn's own", async () => {
  const two = { children: [makeCallRow("a"), makeCallRow("b")], calls: { a: "note", b: "look" } };
  const run = await restore([
    turnRow(1, two),
    turnRow(2, {
      calls: { c: "note", d: "note" },
      children: [makeCallRow("c"), makeCallRow("d", { metadata: { uncounted: true } })],
      metadata: { calls: [["note", 5]] },
    }),
  ]);
  expect(run.toolCalls).toBe(6);
  expect(Object.fromEntries(run.toolCounts)).toEqual({ note: 6 });
  expect([...run.callIds]).toEqual(["a", "b", "c", "d"]);
  const [c, d] = run.resumption?.kind === "calls" ? run.resumption.calls : [];
  expect([c?.resumed?.counted, d?.resumed?.counted]).toEqual([true, false]);
});

test("a call of a tool that is not there, and one that was never begun, do not count", async () => {
  const run = await restore([turnRow(1, { calls: { a: "gone", b: "note" }, children: [makeCallRow("a")] })]);
  expect(run.toolCalls).toBe(0);
  expect(run.resumption).toMatchObject({
    calls: [{ resumed: { counted: true } }, { resumed: { rowId: null, counted: false } }],
  });
  expect([...run.toolsUsed]).toEqual([]);
});

test("a call that made a child run counts, and one that a call's own row stands for counts once", async () => {
  const calls = { a: "note", b: "note" };
  const children = [childRow("a", "completed"), makeCallRow("b", { children: [childRow("b", "completed")] })];
  expect(await restore([turnRow(1, { calls, children })])).toMatchObject({ toolCalls: 2 });
});

test("an answered call is answered as it was, and what it did is the run's", async () => {
  const children = [
    makeCallRow("a", {
      id: 40,
      response_content: "ANSWER",
      metadata: {
        ...{ outcome: "error", tainted: true, public: true, over: true },
        ...{ files: [["a.txt", "created"]], tests: [{ suite: "unit", run: 2, passed: 1, at_ms: 0 }] },
      },
    }),
  ];
  const run = await restore([turnRow(1, { calls: { a: "note" }, children })]);
  expect(answersOf(run)).toEqual([{ callId: "a", tool: "note", text: "ANSWER", outcome: "error" }]);
  expect(run).toMatchObject({ tainted: true, privateData: false, overToolCalls: true });
  expect([...run.toolsUsed]).toEqual(["note"]);
  expect([...run.changes]).toEqual([["a.txt", "created"]]);
  expect([...run.tests.values()]).toMatchObject([{ suite: "unit", run: 2, passed: 1 }]);
  expect(run.resumption).toMatchObject({ calls: [{ resumed: { rowId: 40 } }] });
});

test("the tests of records that kept one sum of them stand under the tool's name", async () => {
  const children = [makeCallRow("a", { metadata: { tests: { run: 3, passed: 2 } } })];
  const run = await restore([turnRow(1, { calls: { a: "note" }, children })]);
  expect([...run.tests.values()]).toMatchObject([{ suite: "note", run: 3, passed: 2 }]);
});

test("whether a call brought private data or used its tool follows from how it ended", async () => {
  const after = async (metadata: object) => {
    const children = [makeCallRow("a", { metadata })];
    const run = await restore([turnRow(1, { calls: { a: "note" }, children })]);
    return [run.privateData, run.toolsUsed.has("note")];
  };
  expect(await after({})).toEqual([true, true]);
  expect(await after({ public: true })).toEqual([false, true]);
  expect(await after({ outcome: "cached" })).toEqual([true, false]);
  expect(await after({ outcome: "denied" })).toEqual([false, false]);
  expect(await after({ outcome: "error", uncounted: true })).toEqual([false, false]);
});

test("a call that was under way has no answer yet, but untrusted text that it had let in is there", async () => {
  const children = [makeCallRow("a", { closed_seq: null, metadata: { broughtUntrusted: true } })];
  const run = await restore([turnRow(1, { calls: { a: "note" }, children })]);
  expect(answersOf(run)).toEqual([]);
  expect(run.tainted).toBe(true);
  expect([...run.toolsUsed]).toEqual([]);
});

test("an answer whose row does not say how it ended was an error", async () => {
  const children = [makeCallRow("a", { metadata: { outcome: undefined } })];
  const run = await restore([turnRow(1, { calls: { a: "note" }, children })]);
  expect(answersOf(run)).toMatchObject([{ outcome: "error" }]);
});

test("in the last turn a child that succeeded is the answer, and one that did not may be tried again", async () => {
  const calls = { a: "delegate", b: "delegate" };
  const children = [childRow("a", "completed", { details: "SEEN" }), childRow("b", "failed")];
  const run = await restore([turnRow(1, { calls, children })]);
  expect(answersOf(run)).toMatchObject([
    { callId: "a", outcome: "ok", text: expect.stringContaining("SEEN") },
  ]);
  const over = await restore([turnRow(1, { calls, children })], { whole: true });
  expect(over.resumption).toEqual({ kind: "turn" });
  expect(texts(over)).toContain("SEEN");
  expect(texts(over)).not.toContain("was not recorded");
  expect(texts(over)).toContain("error-text");
});

test("of several attempts of one delegation the last is the answer", async () => {
  const children = [childRow("a", "failed"), childRow("a", "completed", { details: "SECOND TRY" })];
  const run = await restore([turnRow(1, { calls: { a: "delegate" }, children })]);
  expect(answersOf(run)).toMatchObject([{ outcome: "ok", text: expect.stringContaining("SECOND TRY") }]);
});

test("what a child had read its parent has read: taint and private data, also where the result does not say", async () => {
  const after = async (more: Partial<RunResult>) => {
    const { tainted, privateData } = await restore([
      turnRow(1, { calls: { a: "delegate" }, children: [childRow("a", "completed", more)] }),
    ]);
    return { tainted, privateData };
  };
  expect(await after({})).toEqual({ tainted: false, privateData: false });
  expect(await after({ tainted: true })).toEqual({ tainted: true, privateData: false });
  expect(await after({ private_data: true })).toEqual({ tainted: false, privateData: true });
});

test("files in a child's result are named as the parent's tools reach them", async () => {
  const files = { files_created: ["/workspace/a.md"], files_modified: [], files_deleted: [] };
  const { subtree } = failedResult(
    { runId: "run_child", sessionId: "ses_1", agent: "scout" },
    { type: "failed", message: "x", recoverable: false },
  );
  const children = [childRow("a", "completed", { ...files, subtree: { ...subtree, ...files } })];
  const run = await restore([turnRow(1, { calls: { a: "delegate" }, children })]);
  expect(answersOf(run)?.[0]?.text).toContain("workspace:a.md");
});

test("a delegation that the next turn knew to be running was answered so", async () => {
  const running = [{ id: "run_child", agent: "scout", callId: "a" }];
  const children = [childRow("a", "completed", { details: "LATER" })];
  const run = await restore([turnRow(1, { calls: { a: "delegate" }, children }), openTurn(2, { running })]);
  expect(texts(run)).toContain("still running: run_child (scout): look around");
  expect(texts(run)).not.toContain("LATER");
});

test("a call before the last turn whose answer is not in the record is told so, as an error", async () => {
  const run = await restore([turnRow(1, { calls: { a: "note" } }), openTurn(2)]);
  expect(texts(run)).toContain('"error-text","value":"the answer to this call was not recorded"');
});

test("the same calls of recorded turns count as repetition, and the last turn says how badly", async () => {
  const same = (turn: number) => turnRow(turn, { calls: { [`c${turn}`]: "note" } });
  expect((await restore([same(1), same(2)])).resumption).toMatchObject({ repeating: "no" });
  expect((await restore([same(1), same(2), same(3)])).resumption).toMatchObject({ repeating: "warn" });
  const seen = await restore([same(1), same(2), same(3), same(4)]);
  expect(seen.repetition.count).toBe(4);
});
