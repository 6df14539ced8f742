import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { cancelRecorded } from "@retinue/core/session/cancel-recorded";
import { after, callDelegateMany, callTool, hang, say } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { Lives, silence } from "../fixtures/lives.ts";

/** Another process that looks at the same record. */
async function elsewhere<Value>(
  lives: Lives,
  act: (record: Record) => Value | Promise<Value>,
): Promise<Value> {
  const record = createSqliteRecord({ path: lives.database });
  try {
    return await act(record);
  } finally {
    await record.close();
  }
}

test("a session that another process asks to stop ends as cancelled, and the wish with it", async () => {
  using lives = new Lives();
  const { step } = silence();
  const t = lives.open({ lead: step });
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  await elsewhere(lives, async (record) => {
    expect(await record.findHolder(sessionId)).toContain(`process ${process.pid} on`);
    await record.askToStop({ sessionId, id: sessionId });
  });
  expect(await result).toMatchObject({ status: "cancelled", error: { message: "cancelled from outside" } });
  await t.close();
  await elsewhere(lives, async (record) => {
    expect((await record.findSession(sessionId)).status).toBe("cancelled");
    expect(await record.listStops()).toEqual([]);
    expect(await record.findHolder(sessionId)).toBeNull();
  });
});

test("a run that another process asks to stop ends with what is below it, and the rest goes on", async () => {
  using lives = new Lives();
  const stopped = Promise.withResolvers<void>();
  const t = lives.open({
    lead: ({ turn, last }) =>
      turn > 0
        ? say(last)
        : callDelegateMany(["0", "1"].map((task) => ({ id: `t${task}`, agent: "worker", task }))),
    worker: ({ task }) => (task === "0" ? hang() : after(stopped.promise, say("fine"))),
  });
  t.runtime.events((event) => {
    if (event.type === "run.ended" && event.result.status === "cancelled") stopped.resolve();
    if (event.type !== "run.started" || event.task !== "0") return;
    void elsewhere(lives, (record) => record.askToStop({ sessionId: event.sessionId, id: event.runId }));
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  expect(result.details).toContain("1 succeeded, 1 failed (t0)");
  await t.close();
});

test("a run that is to stop is not taken up when its dead session goes on", async () => {
  using lives = new Lives();
  const quiet = silence();
  const lead = () => callDelegateMany([{ id: "a", agent: "worker", task: "0" }]);
  const first = lives.open({ lead, worker: quiet.step });
  const sessionId = await lives.abandon(first, () => quiet.reached);
  await elsewhere(lives, async (record) => {
    const worker = (await record.readRows({ sessionId: sessionId, kind: "runs" })).find(
      (row) => row.agent_role === "worker",
    );
    await record.askToStop({ sessionId, id: worker?.run_id ?? "" });
  });
  let asked = 0;
  const t = lives.open({
    lead: ({ last }) => say(last),
    worker: () => {
      asked++;
      return say("fine");
    },
  });
  const { result } = await t.runtime.resume(sessionId);
  expect((await result).details).toContain('status="cancelled"');
  expect(asked).toBe(0);
  await t.close();
});

test("a dead session that is cancelled has no open row or question left, and is never resumed", async () => {
  using lives = new Lives();
  const quiet = silence();
  const first = lives.open({ lead: ({ turn }) => (turn === 0 ? callTool("nothing", {}) : quiet.step()) });
  const sessionId = await lives.abandon(first, () => quiet.reached);
  await elsewhere(lives, async (record) => {
    await record.addApproval({
      ...{ approvalId: "apr_1", sessionId, runId: "run_1", callId: "c", tool: "pay", inputHash: "h" },
      request: {},
      requestedAtMs: 1,
    });
    await cancelRecorded(record, await record.findSession(sessionId), "Ada");
    expect(
      (await record.readRows({ sessionId: sessionId })).filter((row) => row.closed_seq === null),
    ).toEqual([]);
    expect(await record.listApprovals({ state: "waiting" })).toEqual([]);
    expect((await record.readRows({ sessionId: sessionId, kind: "runs" }))[0]).toMatchObject({
      status: "cancelled",
      bailout_reason: "cancelled",
    });
  });
  const t = lives.open({ lead: ({ turn }) => say(`answer ${turn}`) });
  await expect(t.runtime.resume(sessionId)).rejects.toThrow(/was stopped, and stays stopped/);
  const more = await t.runtime.run({ agent: "lead", task: "more", session: sessionId });
  expect(more).toMatchObject({ status: "completed", session_id: sessionId });
  expect(await t.runtime.replay(sessionId)).toBeDefined();
  await t.close();
});

test("a session that ended by itself between the look and the cancelling stays as it ended", async () => {
  using lives = new Lives();
  const t = lives.open({ lead: () => say("done") });
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: "go" });
  await t.close();
  await elsewhere(lives, async (record) => {
    const seenBefore = { ...(await record.findSession(sessionId)), status: "running" as const };
    expect(await cancelRecorded(record, seenBefore, "Ada")).toBe(false);
    expect((await record.findSession(sessionId)).status).toBe("completed");
    expect(await record.findHolder(sessionId)).toBeNull();
  });
});

test("a wish that came after a session had ended does not stop its next task", async () => {
  using lives = new Lives();
  const t = lives.open({ lead: () => say("fine") });
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: "one" });
  await t.runtime.record.askToStop({ sessionId, id: sessionId });
  const next = await t.runtime.run({ agent: "lead", task: "two", session: sessionId });
  expect(next.status).toBe("completed");
  expect(await t.runtime.record.listStops()).toEqual([]);
  await t.close();
});
