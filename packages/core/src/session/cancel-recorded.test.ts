import { afterEach, beforeEach, expect, test } from "vitest";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { cancelRecorded, cancelUnheld } from "./cancel-recorded.ts";

let record: Record;
beforeEach(() => {
  record = createSqliteRecord({ path: ":memory:" });
});
afterEach(() => record.close());

/** A session as a killed process leaves it: a root run, a call below it and a child below that, all open. */
async function leaveSession(id: string, metadata: { readonly [name: string]: unknown } = {}): Promise<void> {
  await record.startSession({ sessionId: id, title: "t", project: "/project", workspace: "/w", metadata });
  const first = await record.reserveRowIds(3);
  const rows = [
    { type: "prompt", runId: `run_lead_${id}`, agentRole: "lead", depth: 0, parentId: null },
    { type: "continuation", runId: `run_lead_${id}`, agentRole: "lead", depth: 0, parentId: first },
    { type: "delegation", runId: `run_child_${id}`, agentRole: "child", depth: 1, parentId: first + 1 },
  ] as const;
  for (const [index, row] of rows.entries()) {
    const attempt = row.type === "delegation" ? 2 : 0;
    await record.write({
      kind: "row.open",
      id: first + index,
      row: { ...row, sessionId: id, startedAtMs: Date.now() - 1_000, metadata: { attempt } },
    });
  }
  await record.addApproval({
    approvalId: `apr_${id}`,
    sessionId: id,
    runId: `run_child_${id}`,
    callId: "call_1",
    tool: "send",
    inputHash: "h",
    request: {
      input: {},
      presented: undefined,
      risk: "high",
      reason: "x",
      chain: [],
      targets: [],
      tainted: false,
      mustConfirm: false,
    },
    requestedAtMs: 1,
  });
}

test("everything open of a cancelled session is closed, each run with a result of its own, and nobody is asked any more", async () => {
  await leaveSession("ses_1");
  await record.askToStop({ sessionId: "ses_1", id: "run_child_ses_1" });
  expect(await cancelUnheld(record, { sessionId: "ses_1", id: "ses_1" }, "a person")).toBe("cancelled");
  const rows = await record.readRows({ sessionId: "ses_1" });
  expect(rows.map(({ status, closed_seq }) => [status, closed_seq !== null])).toEqual([
    ["cancelled", true],
    ["cancelled", true],
    ["cancelled", true],
  ]);
  const child = rows.at(-1);
  expect(JSON.parse(child?.metadata_json ?? "{}").result).toMatchObject({ status: "cancelled", attempt: 2 });
  // What is below is closed before what it hangs from.
  expect((rows[0]?.closed_seq ?? 0) > (child?.closed_seq ?? 0)).toBe(true);
  expect((await record.findApproval("apr_ses_1")).answer).toMatchObject({ allowed: false, by: "a person" });
  expect((await record.readSession("ses_1"))?.status).toBe("cancelled");
  expect(await record.listStops()).toEqual([]);
});

test("what had ended in a session that is cancelled stays as it ended, and what was open took as long as it was", async () => {
  await leaveSession("ses_1");
  const child = (await record.readRows({ sessionId: "ses_1" })).at(-1);
  const ending = {
    status: "completed",
    completedAtMs: Date.now(),
    durationMs: 5,
    responseContent: "found",
  } as const;
  await record.write({ kind: "row.close", id: child?.id ?? 0, sessionId: "ses_1", row: ending });
  await cancelUnheld(record, { sessionId: "ses_1", id: "ses_1" }, "a person");
  const rows = await record.readRows({ sessionId: "ses_1" });
  expect(rows.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "completed"]);
  expect(rows.at(-1)).toMatchObject({ response_content: "found", duration_ms: 5 });
  expect(rows[0]?.duration_ms).toBeGreaterThanOrEqual(1_000);
});

test("a root run that is all there is of a session is cancelled with it; one run among others is noted", async () => {
  await leaveSession("ses_1");
  const lead = { sessionId: "ses_1", id: "run_lead_ses_1" };
  expect(await cancelUnheld(record, { sessionId: "ses_1", id: "run_child_ses_1" }, "a person")).toBe("noted");
  expect(await record.listStops("ses_1")).toEqual([{ sessionId: "ses_1", id: "run_child_ses_1" }]);
  expect(await cancelUnheld(record, lead, "a person")).toBe("cancelled");
  await leaveSession("ses_2", { fanOut: { tasks: [], maxConcurrent: 1 } });
  expect(await cancelUnheld(record, { sessionId: "ses_2", id: "run_lead_ses_2" }, "a person")).toBe("noted");
});

test("a session that had ended by itself stays as it ended, and its lease is given back", async () => {
  await leaveSession("ses_1");
  const row = await record.findSession("ses_1");
  await record.write({ kind: "session.update", sessionId: "ses_1", change: { status: "completed" } });
  expect(await cancelRecorded(record, row, "a person")).toBe(false);
  expect((await record.readSession("ses_1"))?.status).toBe("completed");
  expect(await record.findHolder("ses_1")).toBeNull();
});

test("a session that a process has is not cancelled behind its back", async () => {
  await leaveSession("ses_1");
  const row = await record.findSession("ses_1");
  await record.takeLease("ses_1");
  await expect(cancelRecorded(record, row, "a person")).rejects.toThrow("ses_1");
  expect((await record.readSession("ses_1"))?.status).toBe("running");
});

test("an end that another process wrote between the look and the hold stands, with every row and every wish as it was", async () => {
  await leaveSession("ses_1");
  await record.askToStop({ sessionId: "ses_1", id: "run_child_ses_1" });
  const takeLease: Record["takeLease"] = async (sessionId, onLost) => {
    await record.write({ kind: "session.update", sessionId, change: { status: "failed" } });
    return record.takeLease(sessionId, onLost);
  };
  const raced: Record = Object.assign(Object.create(record), { takeLease });
  expect(await cancelUnheld(raced, { sessionId: "ses_1", id: "ses_1" }, "a person")).toBe(false);
  expect((await record.readSession("ses_1"))?.status).toBe("failed");
  const rows = await record.readRows({ sessionId: "ses_1" });
  expect(rows.filter((row) => row.status === "cancelled")).toEqual([]);
  expect((await record.findApproval("apr_ses_1")).answer).toBeNull();
  expect(await record.findHolder("ses_1")).toBeNull();
});
