import { expect, test } from "vitest";
import { writeSession } from "../../../../test/fixtures/recorded-session.ts";
import { readTree } from "../record/read-tree.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { MessageNode } from "../schema/record.ts";
import { say, testRuntime } from "../testing/index.ts";
import {
  claimsIn,
  elapsedMs,
  heldPrivateData,
  recordedMoment,
  replyOfRow,
  resultOfRow,
  runningIn,
  spentIn,
  turnsOf,
  wasTainted,
} from "./read-row.ts";

test("results of earlier versions have no deleted files, and null where they had zero tests", async () => {
  await using t = testRuntime({ solo: [say("done")] });
  const { session_id } = await t.runtime.run({ agent: "solo", task: "go" });
  const [row] = await readTree(t.runtime.record, session_id);
  const metadata = JSON.parse(row?.metadata_json ?? "{}");
  const read = (change: object) => {
    const { files_deleted: _, ...result } = { ...metadata.result, ...change };
    if (!row) throw new Error("there is no row");
    return resultOfRow({ ...row, metadata_json: JSON.stringify({ ...metadata, result }) });
  };
  const { files_deleted: _, ...before } = { ...metadata.result.subtree, tests_run: 0, tests_passed: 0 };
  const nothing = { files_deleted: [], tests: [], tests_run: null, tests_passed: null };
  expect(read({ tests_run: 0, tests_passed: 0, subtree: before })).toMatchObject({
    ...nothing,
    subtree: nothing,
  });
  expect(read({ tests_run: 0, tests_passed: 0, tests: undefined, subtree: undefined })).toMatchObject({
    ...nothing,
    subtree: nothing,
  });
  const counted = { tests_run: 3, tests_passed: 2 };
  expect(read({ ...counted, tests: undefined, subtree: undefined })).toMatchObject({
    ...counted,
    subtree: counted,
  });
});

test("of several runs that changed a file the last one has it, wherever it stands in the tree", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  const changing = (agent: string, to: number, kind: string) => ({
    ...{ agent, task: "x", from: 10, to },
    metadata: { files: [["a.txt", kind]] },
  });
  const runs = [changing("maker", 500, "created"), changing("editor", 900, "modified")];
  for (const [sessionId, children] of [
    ["ses_1", runs],
    ["ses_2", runs.toReversed()],
  ] as const) {
    await writeSession(record, {
      sessionId,
      title: "x",
      runs: [{ agent: "lead", task: "x", from: 0, to: 1_000, runs: children }],
    });
    const roots = await readTree(record, sessionId);
    const all = await record.readRows({ sessionId });
    const claim = claimsIn(roots).get("a.txt");
    const agents = claim?.line.map((runId) => all.find((row) => row.run_id === runId)?.agent_role);
    expect(agents).toEqual(["lead", "editor"]);
    expect(claim?.changes.map(({ kind }) => kind)).toEqual(["created", "modified"]);
  }
  await record.close();
});

/** A row as the record has it, closed unless said otherwise. */
function rowOf(metadata: object = {}, more: Partial<MessageNode> = {}): MessageNode {
  return {
    ...{
      id: 1,
      session_id: "ses_1",
      parent_message_id: null,
      started_at: "",
      completed_at: null,
      duration_ms: null,
    },
    ...{
      agent_role: "solo",
      agent_depth: 0,
      model_id: null,
      system_prompt_id: null,
      request_type: "continuation",
    },
    ...{ request_content: null, context_mode: null, context_token_count: null, response_content: null },
    ...{ response_summary: null, tool_calls_json: null, files_modified_json: null, prompt_tokens: null },
    ...{ completion_tokens: null, total_tokens: null, iteration_count: 0, max_iterations: null },
    ...{
      max_duration_ms: null,
      bailout_reason: null,
      status: "completed",
      error_message: null,
      run_id: "run_1",
    },
    ...{ call_id: null, opened_seq: 1, closed_seq: 2, cost_usd: 0, replay: null, children: [] },
    metadata_json: JSON.stringify(metadata),
    ...more,
  };
}
const runOf = (metadata: object, ...children: MessageNode[]) =>
  rowOf(metadata, { request_type: "delegation", children });
const callOf = (metadata: object) => rowOf(metadata, { request_type: "tool_call" });

test("a result of an earlier version counts as private, and the data of a flow go before those in its text", () => {
  const read = (metadata: object) => resultOfRow(rowOf(metadata, { response_content: '{"a":1}' }));
  expect(read({}).private_data).toBe(true);
  const figures = { files_created: [], files_modified: [], tool_calls_used: 0, tools_used: [] };
  expect(read({ result: { ...figures } }).private_data).toBe(true);
  expect(read({ result: { ...figures, private_data: false } }).private_data).toBe(false);
  expect([read({}).data, read({ data: { b: 2 } }).data]).toEqual([{ a: 1 }, { b: 2 }]);
});

test("turns are the model calls that continued a conversation, and know what was running", () => {
  const running = [{ id: "run_2", agent: "scout", callId: "c1" }];
  const turns = turnsOf(
    runOf({}, rowOf({ turn: 1 }), rowOf({ purpose: "summary" }), callOf({}), rowOf({ running })),
  );
  expect(turns.map(runningIn)).toEqual([[], running]);
});

test("a reply is read with how it ended and the limit that cut it", () => {
  const read = (metadata: object, calls: object[] = []) =>
    replyOfRow(rowOf(metadata, { ...(calls.length > 0 && { tool_calls_json: JSON.stringify(calls) }) }));
  expect([read({}).finish, read({}, [{ callId: "c1" }]).finish]).toEqual(["stop", "tool-calls"]);
  expect(read({ finish: "length", maxOutputTokens: 5 })).toMatchObject({
    finish: "length",
    maxOutputTokens: 5,
  });
});

test("what a subtree spent is all its model calls, an open one with what was set aside, and the runs that began", () => {
  const open = { closed_seq: null, cost_usd: null };
  const refused = runOf({ snapshot: "s", result: { error: { type: "spawn_limit" } } });
  const child = runOf({ snapshot: "s" }, rowOf({ reserved: 30, reservedUsd: 0.5 }, open), refused, runOf({}));
  const other = runOf({ snapshot: "s" }, rowOf({}, { ...open, context_token_count: 7 }));
  const root = runOf({ snapshot: "s" }, rowOf({}, { total_tokens: 100, cost_usd: 1 }), child, other);
  expect(spentIn(root)).toEqual({ tokens: 137, costUsd: 1.5, priced: true, runs: 3 });
  expect(spentIn(runOf({}, rowOf({}, { cost_usd: null }))).priced).toBe(false);
  expect(spentIn(runOf({}, rowOf({ reservedUsd: null }, open))).priced).toBe(false);
});

test("a subtree is tainted by any row that says so: a turn, a call, files that were let in, or a result", () => {
  const ways = [{ tainted: true }, { broughtUntrusted: true }, { result: { tainted: true } }];
  for (const way of ways) expect(wasTainted(runOf({}, rowOf(), runOf({}, callOf(way))))).toBe(true);
  expect(wasTainted(runOf({}, rowOf({ tainted: false }), callOf({ result: { tainted: false } })))).toBe(
    false,
  );
});

test("a call counts as private unless its row says that it was public, was denied or did not count", () => {
  expect(heldPrivateData(runOf({}, callOf({ outcome: "ok" })))).toBe(true);
  for (const row of [{ public: true }, { outcome: "denied" }, { uncounted: true }])
    expect(heldPrivateData(runOf({}, rowOf(), callOf(row)))).toBe(false);
  expect(heldPrivateData(runOf({}, rowOf({ privateData: true })))).toBe(true);
});

test("the time that a run had worked is that of its latest model call; moments before a crash are before all of now", () => {
  const turns = [rowOf({ elapsedMs: 500 }), rowOf({ elapsedMs: 2_000 }), rowOf()];
  expect(elapsedMs(runOf({}, ...turns))).toBe(2_000);
  expect(recordedMoment(1)).toBeLessThan(recordedMoment(2));
  expect(recordedMoment(Number.MAX_SAFE_INTEGER - 1)).toBeLessThan(0);
});
