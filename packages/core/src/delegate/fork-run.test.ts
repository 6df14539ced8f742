import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeCallRow, makeRunRow, makeTurnRow } from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import {
  callTool,
  callTools,
  type StepMaker,
  say,
  type TestRuntimeOptions,
  testRuntime,
} from "../testing/index.ts";
import { defineTool } from "../tools/tool.ts";
import { forkRun, pastOf } from "./fork-run.ts";

const make = defineTool<object>({
  name: "make",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async (_, { projectDir, changed, tested }) => {
    writeFileSync(join(projectDir, "made.txt"), "x");
    changed(join(projectDir, "made.txt"), "created");
    tested("unit", { run: 3, passed: 3 });
    return "made";
  },
});

/** A run that plays its steps, and one that goes on from all of it. */
async function forkFrom(before: StepMaker[], after: StepMaker[], options: TestRuntimeOptions = {}) {
  await using t = testRuntime({ lead: [...before, ...after] }, { tools: [make], ...options });
  const first = await t.runtime.run({ agent: "lead", task: "FIRST TASK" });
  const seq = Number.MAX_SAFE_INTEGER;
  const fork = { sessionId: first.session_id, seq };
  const second = await t.runtime.run({ agent: "lead", task: "SECOND TASK", fork });
  const [row] = await t.runtime.record.readRows({ sessionId: second.session_id, kind: "runs" });
  return {
    first,
    second,
    asked: JSON.stringify(t.models.lead?.requests[before.length]?.prompt),
    kept: JSON.parse(row?.metadata_json ?? "{}").fork,
    lastSeq: await t.runtime.record.readLastSeq(first.session_id),
  };
}

const usage = { input: 100, output: 10 };

test("a fork has the whole conversation before its own task, and figures of its own", async () => {
  const settings = { prices: { "scripted/lead": { input: 1, output: 1 } } };
  const { first, second, asked } = await forkFrom(
    [callTool("make", {}, usage), say("FIRST ANSWER", usage)],
    [say("SECOND ANSWER", usage)],
    { settings },
  );
  expect(first).toMatchObject({
    tools_used: ["make"],
    files_created: ["made.txt"],
    tests: [{ suite: "unit" }],
  });
  const places = ["FIRST TASK", "made", "FIRST ANSWER", "SECOND TASK"].map((text) => asked.indexOf(text));
  expect(places.every((at) => at > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(second).toMatchObject({
    iteration_count: 1,
    tool_calls_used: 0,
    tools_used: [],
    files_created: [],
    tests: [],
    warnings: [],
    tokens: { self: 110, subtree: 110 },
  });
  expect(second.cost_usd.self).toBeCloseTo(110 / 1_000_000);
});

test("calls of the conversation before do not count against a fork's limits", async () => {
  const { second } = await forkFrom(
    [callTool("make", {}), say("one")],
    [callTool("make", { again: 1 }), say("two")],
    { agents: { lead: { limits: { perTool: { make: 1 } } } } },
  );
  expect(second).toMatchObject({ tool_calls_used: 1, tools_used: ["make"] });
});

test("the report of a run that a limit cut short is the last that a fork of it remembers", async () => {
  const { asked } = await forkFrom([callTool("make", {}), say("A REPORT AT THE LIMIT")], [say("done")], {
    agents: { lead: { limits: { turns: 1 } } },
  });
  expect(asked).toContain("A REPORT AT THE LIMIT");
  expect(asked.indexOf("A REPORT AT THE LIMIT")).toBeLessThan(asked.indexOf("SECOND TASK"));
});

test("a fork from the end of a session is kept with the seq that this was, so that what comes later is not part of it", async () => {
  const { kept, lastSeq } = await forkFrom([say("one")], [say("two")]);
  expect(kept.seq).toBe(lastSeq);
});

test("a fork from the middle has the turns that were over by then", async () => {
  await using t = testRuntime(
    {
      lead: [callTool("make", {}), callTools([{ tool: "make", input: { n: 2 } }]), say("LATE"), say("done")],
    },
    { tools: [make] },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const turns = (await t.runtime.record.readRows({ sessionId: session_id })).filter(
    (row) => row.request_type === "continuation",
  );
  const seq = (turns[1]?.opened_seq ?? 0) + 1;
  await t.runtime.run({ agent: "lead", task: "other", fork: { sessionId: session_id, seq } });
  const asked = t.models.lead?.requests.at(-1)?.prompt ?? [];
  expect(asked.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  await expect(
    t.runtime.run({ agent: "lead", task: "x", fork: { sessionId: session_id, seq: 0 } }),
  ).rejects.toThrow("has no run at 0");
});

test("what the run before had made is no deliverable of a fork", async () => {
  const { first, second } = await forkFrom([callTool("make", {}), say("made")], [say("done"), say("done")], {
    agents: { lead: { deliverables: [{ file: "project:made.txt" }] } },
  });
  expect(first.deliverables).toMatchObject([{ ok: true }]);
  expect(second).toMatchObject({ status: "failed", deliverables: [{ ok: false }] });
});

test("a fork of a conversation with untrusted text and private data holds both from the start", async () => {
  const page = { ...make, name: "page", untrusted: true };
  const { second } = await forkFrom([callTool("page", {}), say("seen")], [say("done")], { tools: [page] });
  expect(second).toMatchObject({ tainted: true, private_data: true, tools_used: [] });
});

test("nothing that a run counted before is counted for its fork", async () => {
  const { run } = makeRun({ tools: [{ ...make, name: "make" }], limits: { repairs: 2 } });
  const state = {
    ...{ repairsLeft: 0, emptyReplies: 1, sentBack: true, overflowed: true, warnings: ["w"], cutAnswer: 1 },
    ...{ baseline: [["a.txt", "v1"]], calls: [["make", 4]] },
  };
  const calls = JSON.stringify([{ callId: "c", tool: "make", input: "{}" }]);
  const done = { outcome: "ok", over: true, files: [["a.txt", "created"]], tests: { run: 1, passed: 1 } };
  const past = makeRunRow([
    makeTurnRow(1, {
      tool_calls_json: calls,
      children: [makeCallRow("c", { metadata: done })],
      cost_usd: null,
    }),
    makeTurnRow(2, { response_content: "half", metadata: state }),
  ]);
  await forkRun(run, past);
  expect(run).toMatchObject({
    ...{
      turn: 0,
      tokens: 0,
      costUsd: 0,
      toolCalls: 0,
      overToolCalls: false,
      warnings: [],
      warningsRecorded: 0,
    },
    ...{ repairsLeft: 2, emptyReplies: 0, sentBack: false, compactedForOverflow: false, cutAnswer: [] },
    ...{ resumption: null, turnMessageId: run.messageId, repetition: { last: "", count: 0 } },
  });
  const kept = [run.toolCounts, run.toolsUsed, run.tests, run.changes, run.baseline].map(({ size }) => size);
  expect(kept).toEqual([0, 0, 0, 0, 0]);
  expect(run.history[run.begunAt]).toEqual(run.history.at(-1));
});

test("a turn of which something had not ended is not part of the past", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({ sessionId: "ses_1", title: "t", project: "/p", workspace: "/w", metadata: {} });
  const first = await record.reserveRowIds(4);
  const common = { sessionId: "ses_1", runId: "run_1", agentRole: "lead", depth: 0, startedAtMs: 0 } as const;
  const ending = { status: "completed", completedAtMs: 1, durationMs: 1 } as const;
  const open = (index: number, type: "prompt" | "continuation" | "tool_call", parent: number | null) =>
    record.write({ kind: "row.open", id: first + index, row: { ...common, type, parentId: parent } });
  await open(0, "prompt", null);
  await open(1, "continuation", first);
  await record.write({ kind: "row.close", id: first + 1, sessionId: "ses_1", row: ending });
  await open(2, "continuation", first);
  await open(3, "tool_call", first + 2);
  await record.write({ kind: "row.close", id: first + 2, sessionId: "ses_1", row: ending });
  const { root, at } = await pastOf(record, { sessionId: "ses_1", seq: 1_000 });
  expect(root.children.map(({ id }) => id)).toEqual([first + 1]);
  expect(at.seq).toBe(await record.readLastSeq("ses_1"));
  await record.close();
});
