import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun } from "../../../../../test/fixtures/hand-made-run.ts";
import { Ledger } from "../../budget/ledger.ts";
import { createSqliteRecord } from "../../record/sqlite/create-sqlite-record.ts";
import { closeTurn, openTurn } from "./record-turn.ts";
import type { Reply } from "./reply.ts";

const ABOUT = { purpose: "turn", contextTokens: 100, reserved: 50, reservedUsd: null };
const SPENT = {
  usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  ...{ doubt: null, costUsd: 0.5 },
};
const reply = (more: Partial<Reply>): Reply => ({
  ...{ text: "", reasoning: [], calls: [], finish: "stop", usage: undefined, modelId: undefined },
  ...more,
});

test("the first turn of a fresh run tells nothing but what it is for", () => {
  const { run, rows } = makeRun();
  run.turn = 1;
  openTurn(run, { ...ABOUT, reservedUsd: 0 });
  expect(rows).toMatchObject([{ type: "continuation", parentId: 0, contextTokenCount: 100 }]);
  expect(rows[0]?.metadata).toEqual({ turn: 1, elapsedMs: 0 });
});

test("a turn's row tells all that a resumed run must know and no row before tells", () => {
  const { run, rows } = makeRun({ tainted: true, limits: { repairs: 2 } });
  run.privateData = true;
  run.repairsLeft = 1;
  run.emptyReplies = 1;
  run.cutAnswer = ["a"];
  run.sentBack = true;
  run.compactedForOverflow = true;
  run.toolCalls = 2;
  run.toolCounts.set("read", 2);
  run.wrapUpReason = "deadline";
  run.warnings.push(`warned of ${KNOWN_SECRET}`);
  run.pushUser("from the host");
  run.steered.push("from a person");
  run.turn = 2;
  openTurn(run, ABOUT);
  expect(rows[0]?.metadata).toMatchObject({
    ...{ tainted: true, privateData: true, repairsLeft: 1, emptyReplies: 1, cutAnswer: 1, sentBack: true },
    ...{
      overflowed: true,
      calls: [["read", 2]],
      reason: "deadline",
      warnings: ["warned of [redacted:secret]"],
    },
    ...{ before: ["from the host"], steered: ["from a person"] },
  });
  run.turn = 3;
  openTurn(run, ABOUT);
  const { before, steered, warnings } = rows[1]?.metadata ?? {};
  expect([before, steered, warnings]).toEqual([undefined, undefined, undefined]);
});

test("a history that was replaced is in the next row, once", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  const { run, rows } = makeRun({ host: { record } });
  run.replaceHistory(run.history.slice());
  openTurn(run, ABOUT);
  openTurn(run, ABOUT);
  expect(rows.map(({ metadata }) => metadata?.history !== undefined)).toEqual([true, false]);
  await record.close();
});

test("calls hang from the turn that asked for them, not from a summary in between", () => {
  const { run } = makeRun();
  const { messageId } = openTurn(run, ABOUT);
  openTurn(run, { ...ABOUT, purpose: "summary" });
  expect(run.turnMessageId).toBe(messageId);
});

test("what a limited account has set aside is in the row, so that it counts as spent after a crash", () => {
  const metadataOf = (limits: { tokens?: number }, reservedUsd: number | null) => {
    const { run, rows } = makeRun({ account: new Ledger("run", null, limits) });
    openTurn(run, { ...ABOUT, reservedUsd });
    return rows[0]?.metadata;
  };
  expect(metadataOf({ tokens: 1_000 }, 0.2)).toMatchObject({ reserved: 150, reservedUsd: 0.2 });
  expect(metadataOf({}, null)).toMatchObject({ reservedUsd: null });
  expect(metadataOf({}, 0)).not.toHaveProperty("reserved");
});

test("a reply closes its row with words, calls, what it cost and how it ended", async () => {
  const { run, rows, events } = makeRun();
  run.brokenOff = "broken";
  const calls = [
    { callId: "c1", tool: "read", input: "{}", rawInput: "raw" },
    {
      callId: "c2",
      tool: "read",
      input: "{}",
      unfinished: { finish: "length" as const, maxOutputTokens: 5 },
    },
  ];
  const whole = reply({ text: "words", calls, finish: "length", maxOutputTokens: 5 });
  closeTurn(run, openTurn(run, ABOUT), { kind: "reply", chars: 5, reply: whole }, { ...SPENT, doubt: "odd" });
  expect(rows[0]?.closing).toMatchObject({
    ...{ status: "completed", responseContent: "words", totalTokens: 15, costUsd: 0.5 },
    toolCalls: [
      { callId: "c1", redacted: true },
      { callId: "c2", unfinished: { finish: "length" } },
    ],
    metadata: { finish: "length", maxOutputTokens: 5, estimated: "odd" },
  });
  expect(JSON.stringify(rows)).not.toContain('raw"');
  expect(run.brokenOff).toBe("");
  await run.session.journal.committed();
  expect(events.map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
});

test("a failure closes its row with its kind and, without secrets, the words that had come", () => {
  const fail = (type: "timeout" | "overloaded", stop = false) => {
    const { run, rows } = makeRun();
    const open = openTurn(run, ABOUT);
    if (stop) run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
    const error = { type, message: `no ${KNOWN_SECRET}`, recoverable: true };
    const said = `It is ${KNOWN_SECRET.slice(0, 12)}`;
    closeTurn(run, open, { kind: "failed", chars: 5, began: true, error, said }, SPENT);
    expect(run.brokenOff).toBe("It is ");
    expect(JSON.stringify(rows)).not.toContain(KNOWN_SECRET.slice(0, 12));
    expect(rows[0]?.closing?.metadata).toMatchObject({ errorType: type, said: "It is " });
    return rows[0]?.closing?.status;
  };
  expect([fail("timeout"), fail("overloaded"), fail("overloaded", true)]).toEqual([
    "timeout",
    "failed",
    "cancelled",
  ]);
});
