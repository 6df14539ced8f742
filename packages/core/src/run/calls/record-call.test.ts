import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun } from "../../../../../test/fixtures/hand-made-run.ts";
import type { ToolCall } from "../model/reply.ts";
import { openCall, recordRefusal } from "./record-call.ts";

const call: ToolCall = { callId: "c1", tool: "read", input: "{}" };
const tool = { name: "read", replay: "never" } as const;

test("a call's row is opened before the effect, says how it may be repeated, and is closed with what came of it", async () => {
  const { run, rows, clock, events } = makeRun();
  const row = openCall(run, call, { tool, approvedBy: "ada" });
  expect(rows).toMatchObject([
    {
      type: "tool_call",
      callId: "c1",
      replay: "never",
      requestContent: "{}",
      metadata: { tool: "read", approvedBy: "ada" },
    },
  ]);
  expect(rows[0]?.closing).toBeUndefined();
  clock.advance(40);
  row.close({ outcome: "ok", text: "done", effects: { public: true } });
  expect(rows[0]?.closing).toMatchObject({
    ...{ status: "completed", durationMs: 40, responseContent: "done" },
    metadata: { outcome: "ok", public: true },
  });
  await run.session.journal.committed();
  expect(events.map(({ type }) => type)).toEqual(["call.started", "call.ended"]);
});

test("a call that a crash left open goes on in its own row", () => {
  const { run, rows } = makeRun();
  openCall(run, { ...call, callId: "c0" }, { tool });
  openCall(run, { ...call, resumed: { rowId: 1, counted: true } }, { tool }).close({
    outcome: "ok",
    text: "x",
  });
  expect(rows).toMatchObject([{ callId: "c0", closing: { status: "completed" } }]);
});

test("a row says whether a secret was left out and whether untrusted files were let in, and hides secrets in effects", () => {
  const { run, rows } = makeRun();
  const requested = { free: [`https://a.example/${KNOWN_SECRET}`], carrying: [] };
  const made: ToolCall = {
    ...call,
    rawInput: "raw",
    broughtUntrusted: true,
    requested,
    reached: [KNOWN_SECRET],
  };
  openCall(run, made, { tool }).close({
    outcome: "ok",
    text: "x",
    effects: { files: [[KNOWN_SECRET, "created"]] },
  });
  expect(rows[0]?.metadata).toMatchObject({ redacted: true, broughtUntrusted: true });
  expect(JSON.stringify(rows)).not.toContain(KNOWN_SECRET);
});

test("a failed call ends as failed, one of a run that was stopped as the run", () => {
  const statusOf = (stop: boolean) => {
    const { run, rows } = makeRun();
    if (stop) run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
    recordRefusal(run, call, { outcome: "error", text: "no" });
    return rows[0]?.closing?.status;
  };
  expect([statusOf(false), statusOf(true)]).toEqual(["failed", "cancelled"]);
});
