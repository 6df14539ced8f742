import { expect, test } from "vitest";
import { encodeText } from "../lossless-text.ts";
import type { RecordWrite } from "../record.ts";
import { recordText } from "../record-journal.ts";
import {
  beginSession,
  closeRow,
  endSession,
  makeClosing,
  makeOpening,
  openRow,
  requireRow,
  type Stage,
} from "./contract-stage.ts";

/** Texts that a database may refuse, change or take for something else. */
const HOSTILE = [
  "\ud800",
  "a\udc00b",
  "nul\0nul",
  "\u0001\\u:x",
  "'; DROP TABLE messages; --",
  "\ufeffbom",
  "\u202e",
  "é".repeat(5_000_000),
];

/** What the record promises of writing. */
export function describeWriting(stage: Stage): void {
  test("a row whose opening and closing say everything comes back as it was given", async () => {
    const { record } = stage;
    await beginSession(record);
    const systemPromptId = recordText(record, "You are main.");
    const id = await openRow(record, {
      modelId: "a/b",
      systemPromptId,
      requestContent: "Do it",
      contextMode: "summary",
      contextTokenCount: 5,
      maxIterations: 20,
      maxDurationMs: 300_000,
      replay: "lookup",
      callId: "call_1",
      metadata: { a: 1, b: 2 },
    });
    expect(await requireRow(record, id)).toMatchObject({
      ...{ status: "running", closed_seq: null, completed_at: null, response_content: null },
      metadata_json: '{"a":1,"b":2}',
    });
    await closeRow(record, id, {
      responseContent: "Done",
      responseSummary: "ok",
      toolCalls: [{ tool: "read" }],
      filesModified: ["a.ts"],
      promptTokens: 1,
      completionTokens: 2,
      totalTokens: 3,
      iterationCount: 4,
      bailoutReason: "deadline",
      errorMessage: "late",
      costUsd: 0.25,
      contextTokenCount: 6,
      metadata: { b: 3, c: null },
    });
    expect(await record.readRow(id)).toEqual({
      id,
      session_id: "ses_1",
      parent_message_id: null,
      started_at: "1970-01-01T00:00:01.000Z",
      completed_at: "1970-01-01T00:00:02.000Z",
      duration_ms: 1000,
      agent_role: "main",
      agent_depth: 0,
      model_id: "a/b",
      system_prompt_id: systemPromptId,
      request_type: "prompt",
      request_content: "Do it",
      context_mode: "summary",
      context_token_count: 6,
      response_content: "Done",
      response_summary: "ok",
      tool_calls_json: '[{"tool":"read"}]',
      files_modified_json: '["a.ts"]',
      prompt_tokens: 1,
      completion_tokens: 2,
      total_tokens: 3,
      iteration_count: 4,
      max_iterations: 20,
      max_duration_ms: 300_000,
      bailout_reason: "deadline",
      status: "completed",
      error_message: "late",
      metadata_json: '{"a":1,"b":3,"c":null}',
      run_id: "run_1",
      call_id: "call_1",
      opened_seq: 1,
      closed_seq: 2,
      cost_usd: 0.25,
      replay: "lookup",
    });
    expect(await record.readText(systemPromptId)).toBe("You are main.");
    expect(await record.readText("no such text")).toBeUndefined();
    expect(await record.readRow(id + 1)).toBeUndefined();
  });

  test("a row that opens and closes in one moment equals one that closes later", async () => {
    const { record } = stage;
    await beginSession(record);
    const row = makeOpening({ modelId: "first", metadata: { a: 1 } });
    const end = makeClosing({ responseContent: "x", modelId: "other", metadata: { b: 1 } });
    const [atOnce, later] = [await record.reserveRowIds(1), await record.reserveRowIds(1)];
    const opened = record.write({ kind: "row.open", id: atOnce, row });
    await record.write({ kind: "row.close", id: atOnce, sessionId: "ses_1", row: end });
    await opened;
    await record.write({ kind: "row.open", id: later, row });
    await record.write({ kind: "row.close", id: later, sessionId: "ses_1", row: end });
    const [one, other] = [await requireRow(record, atOnce), await requireRow(record, later)];
    expect([one.opened_seq, one.closed_seq, other.opened_seq, other.closed_seq]).toEqual([1, 2, 3, 4]);
    expect({ ...one, id: 0, opened_seq: 0, closed_seq: 0 }).toEqual({
      ...other,
      ...{ id: 0, opened_seq: 0, closed_seq: 0 },
    });
  });

  test("what a caller changes after handing it over is not written", async () => {
    const { record } = stage;
    await beginSession(record);
    const id = await record.reserveRowIds(1);
    const metadata = { a: 1 };
    const opened = record.write({ kind: "row.open", id, row: makeOpening({ metadata }) });
    metadata.a = 2;
    await opened;
    expect((await requireRow(record, id)).metadata_json).toBe('{"a":1}');
  });

  test("ids are reserved for one handle alone", async () => {
    const { record } = stage;
    const [first, second] = [await record.reserveRowIds(10), await record.reserveRowIds(1)];
    expect(Number.isSafeInteger(first) && first > 0).toBe(true);
    expect(second).toBeGreaterThanOrEqual(first + 10);
    if (!stage.isShared) return;
    const other = await stage.openAnother().reserveRowIds(5);
    expect(other).toBeGreaterThan(second);
    expect(await record.reserveRowIds(1)).toBeGreaterThanOrEqual(other + 5);
  });

  test("each opening and closing takes the next seq of its session, in the order handed over, told once it is kept", async () => {
    const { record } = stage;
    await beginSession(record);
    await beginSession(record, "ses_2");
    const first = await record.reserveRowIds(450);
    const heard: string[] = [];
    const writes: Promise<void>[] = [];
    for (let id = first; id < first + 450; id++) {
      const parentId = id === first ? null : first;
      const row = makeOpening({ parentId });
      writes.push(record.write({ kind: "row.open", id, row, onCommit: (seq) => heard.push(`${seq} ${id}`) }));
      if (id % 3 === 0)
        writes.push(
          record.write({
            ...{ kind: "row.close", id, sessionId: "ses_1", row: makeClosing() },
            onCommit: (seq) => heard.push(`${seq} -${id}`),
          }),
        );
    }
    expect(heard).toEqual([]);
    const elsewhere: number[] = [];
    await openRow(record, { sessionId: "ses_2" }, (seq) => elsewhere.push(seq));
    await Promise.all(writes);
    const order = Array.from({ length: 450 }, (_, index) => first + index).flatMap((id) =>
      id % 3 === 0 ? [`${id}`, `-${id}`] : [`${id}`],
    );
    expect(heard).toEqual(order.map((what, index) => `${index + 1} ${what}`));
    expect(elsewhere).toEqual([1]);
    const log = await record.readLog({ sessionId: "ses_1", limit: 1_000 });
    expect(log.map(({ seq, kind, row }) => `${seq} ${kind === "closed" ? "-" : ""}${row.id}`)).toEqual(heard);
  });

  test("a listener is called when others can read its row, and one that throws is reported and stops nothing", async () => {
    const { record } = stage;
    await beginSession(record);
    const seen: Promise<unknown>[] = [];
    const id = await record.reserveRowIds(1);
    await record.write({
      ...{ kind: "row.open", id, row: makeOpening() },
      onCommit: () => {
        seen.push(record.readRow(id));
        throw new Error("listener broke");
      },
    });
    await openRow(record);
    expect(await Promise.all(seen)).toMatchObject([{ id }]);
    expect(stage.notices.map(({ message }) => message).join()).toContain("listener broke");
    expect(await record.readRows({ sessionId: "ses_1" })).toHaveLength(2);
  });

  test("everything handed over is kept once `committed` or `written` resolves, and nothing hinders it", async () => {
    const { record } = stage;
    await beginSession(record);
    const first = await record.reserveRowIds(2);
    void record.write({ kind: "row.open", id: first, row: makeOpening() });
    await record.committed();
    expect(await record.readRow(first)).toBeDefined();
    void record.write({ kind: "row.open", id: first + 1, row: makeOpening() });
    await record.written();
    expect(await record.readRow(first + 1)).toBeDefined();
    expect(await record.writeProblem()).toBeNull();
  });

  test("seqs go on where they were after the record was closed, and open rows can be closed", async () => {
    if (!stage.isShared) return;
    await beginSession(stage.record);
    const id = await openRow(stage.record, { metadata: { a: 1 } });
    const record = await stage.reopen();
    await closeRow(record, id, { metadata: { b: 2 } });
    await openRow(record, { parentId: id });
    const log = await record.readLog({ sessionId: "ses_1" });
    expect(log.map(({ seq, kind }) => `${seq} ${kind}`)).toEqual(["1 opened", "2 closed", "3 opened"]);
    expect((await requireRow(record, id)).metadata_json).toBe('{"a":1,"b":2}');
  });

  test("seqs go on behind what another process has written meanwhile", async () => {
    if (!stage.isShared) return;
    const { record } = stage;
    await beginSession(record);
    const release = await record.takeLease("ses_1");
    const id = await openRow(record);
    await release();
    const other = stage.openAnother();
    const give = await other.takeLease("ses_1");
    await openRow(other, { parentId: id });
    await give();
    await record.takeLease("ses_1");
    await closeRow(record, id);
    const log = await record.readLog({ sessionId: "ses_1" });
    expect(log.map(({ seq, row }) => [seq, row.id === id])).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
  });

  test("the first outcome of a row stays; a late one is reported", async () => {
    const { record } = stage;
    await beginSession(record);
    const id = await openRow(record);
    const heard: number[] = [];
    const late = { kind: "row.close", id, sessionId: "ses_1", row: makeClosing() } as const;
    const atOnce = closeRow(record, id, { status: "cancelled" });
    await record.write({ ...late, onCommit: (seq) => heard.push(seq) });
    await atOnce;
    await record.write({ ...late, onCommit: (seq) => heard.push(seq) });
    expect((await requireRow(record, id)).status).toBe("cancelled");
    expect(heard).toEqual([]);
    expect(stage.notices.map(({ level }) => level)).toEqual(["warning", "warning"]);
    expect(stage.notices[0]?.message).toContain(`${id}`);
    await openRow(record);
    expect(await record.readLastSeq("ses_1")).toBe(3);
  });

  test("a write that can never be kept is refused and named, and what is around it is kept", async () => {
    const { record } = stage;
    await beginSession(record);
    await beginSession(record, "ses_2");
    const before = await openRow(record);
    const unknown = await record.reserveRowIds(1);
    const wrong: [RecordWrite, RegExp][] = [
      [
        { kind: "row.open", id: unknown, row: makeOpening({ sessionId: "ses_none" }) },
        /no session 'ses_none'/,
      ],
      [
        { kind: "row.open", id: unknown, row: makeOpening({ parentId: unknown + 9 }) },
        new RegExp(`${unknown}`),
      ],
      [{ kind: "row.close", id: unknown, sessionId: "ses_1", row: makeClosing() }, /no row \d+/],
      [
        { kind: "row.close", id: before, sessionId: "ses_2", row: makeClosing() },
        /belongs to session 'ses_1'/,
      ],
    ];
    for (const [write, message] of wrong) await expect(record.write(write)).rejects.toThrow(message);
    const after = await openRow(record, { parentId: before });
    await record.committed();
    expect((await record.readRows({ sessionId: "ses_1" })).map(({ id }) => id)).toEqual([before, after]);
    expect((await record.readRows({ sessionId: "ses_1" })).map((row) => row.closed_seq)).toEqual([
      null,
      null,
    ]);
  });

  test("hostile texts come back unchanged from every text", async () => {
    const { record } = stage;
    await beginSession(record, "ses_1", { title: "title \udfff", project: "/p\0\ud800" });
    const first = await record.reserveRowIds(HOSTILE.length);
    for (const [index, text] of HOSTILE.entries()) {
      const sample = text.slice(0, 50);
      const name = text.slice(0, 9);
      const opening = makeOpening({ requestContent: text, agentRole: name, callId: name, modelId: name });
      void record.write({ kind: "row.open", id: first + index, row: opening });
      const closing = makeClosing({
        ...{ responseContent: text, responseSummary: sample, errorMessage: sample, bailoutReason: sample },
        ...{ metadata: { sample }, toolCalls: [{ sample }] },
      });
      void record.write({ kind: "row.close", id: first + index, sessionId: "ses_1", row: closing });
    }
    const texts = HOSTILE.map((text) => recordText(record, text));
    await record.committed();
    expect(new Set(texts).size).toBe(HOSTILE.length);
    expect(await record.readSession("ses_1")).toMatchObject({
      title: "title \udfff",
      project: "/p\0\ud800",
    });
    for (const [index, text] of HOSTILE.entries()) {
      const row = await requireRow(record, first + index);
      const sample = text.slice(0, 50);
      const name = text.slice(0, 9);
      expect(row.request_content === text && row.response_content === text).toBe(true);
      expect(row).toMatchObject({
        ...{ response_summary: sample, error_message: sample, bailout_reason: sample },
        ...{ agent_role: name, call_id: name, model_id: name },
      });
      expect(JSON.parse(row.metadata_json ?? "")).toEqual({ sample });
      expect(JSON.parse(row.tool_calls_json ?? "")).toEqual([{ sample }]);
      expect((await record.readText(texts[index] ?? "")) === text).toBe(true);
    }
  });

  test("a name such as __proto__ in metadata is kept as any other", async () => {
    const { record } = stage;
    await beginSession(record);
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":2,"nul\\u0000":"\\ud800"}');
    const id = await openRow(record, { metadata: hostile });
    await closeRow(record, id, { metadata: JSON.parse('{"__proto__":{"b":1}}') });
    const kept = JSON.parse((await requireRow(record, id)).metadata_json ?? "");
    expect(Object.entries(kept)).toEqual([
      ["__proto__", { b: 1 }],
      ["constructor", 2],
      ["nul\0", "\ud800"],
    ]);
  });

  test("a text is kept once, however often it is saved, under an id that its content gives", async () => {
    const { record } = stage;
    const [one, again, other] = ["a", "a", "b"].map((text) => recordText(record, text));
    await record.committed();
    expect([one === again, one === other]).toEqual([true, false]);
    expect([await record.readText(one ?? ""), await record.readText(other ?? "")]).toEqual(["a", "b"]);
    expect(encodeText("a")).toBe("a");
  });

  test("the record can be closed twice, writes what it was handed before, and refuses everything afterwards", async () => {
    const { record } = stage;
    await beginSession(record);
    const first = await record.reserveRowIds(1_001);
    const writes = Array.from({ length: 1_000 }, (_, index) =>
      record.write({ kind: "row.open", id: first + index, row: makeOpening() }),
    );
    await record.close();
    await record.close();
    await Promise.all(writes);
    await expect(record.write({ kind: "row.open", id: first + 1_000, row: makeOpening() })).rejects.toThrow(
      "already closed",
    );
    await expect(endSession(record)).rejects.toThrow("already closed");
    await expect(beginSession(record, "ses_2")).rejects.toThrow();
    await expect(record.listSessions()).rejects.toMatchObject({ code: "store" });
    await expect(record.readRows({ sessionId: "ses_1" })).rejects.toMatchObject({ code: "store" });
    await expect(record.reserveRowIds(1)).rejects.toMatchObject({ code: "store" });
    if (!stage.isShared) return;
    expect(await stage.openAnother().readRows({ sessionId: "ses_1" })).toHaveLength(1_000);
  });
}
