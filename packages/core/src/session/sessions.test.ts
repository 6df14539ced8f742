import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import { countedTool, Lives, silence } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { LEASE_MS, type Record, SessionTaken } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { callDelegate, callTool, hang, say } from "../testing/index.ts";

test("a session that cannot be resumed is let go of, and goes on when it can", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({ lead: [] }, { settings: { disabledAgents: ["lead"] } });
  await expect(second.runtime.resume(sessionId)).rejects.toThrow("cannot go on");
  expect(await second.runtime.record.findHolder(sessionId)).toBeNull();
  await using third = lives.open({ lead: [say("done")] });
  expect(await (await third.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
});

test("a session whose folder is gone takes no further task, and is let go of", async () => {
  using lives = new Lives();
  const projectDir = join(lives.root, "project");
  mkdirSync(projectDir);
  const first = lives.open({ lead: [say("done")] }, { projectDir });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  rmSync(projectDir, { recursive: true });
  await using second = lives.open({ lead: [] });
  const again = second.runtime.run({ agent: "lead", task: "more", session: session_id });
  await expect(again).rejects.toThrow(`the project folder ${projectDir} cannot be used`);
  expect(await second.runtime.record.findHolder(session_id)).toBeNull();
  expect((await second.runtime.record.findSession(session_id)).status).toBe("completed");
});

test("a session whose runs had all ended is closed by a resume, and let go of", async () => {
  using lives = new Lives();
  const first = lives.open({ lead: [say("done")] });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  lives.sql("UPDATE sessions SET status = 'running'");
  await using second = lives.open({ lead: [] });
  const { result, runId } = await second.runtime.resume(session_id);
  expect(await result).toMatchObject({ status: "completed", summary: "done", run_id: runId });
  expect(await second.runtime.record.findHolder(session_id)).toBeNull();
  expect((await second.runtime.record.findSession(session_id)).status).toBe("completed");
  await expect(second.runtime.resume(session_id)).rejects.toThrow("there is nothing to resume");
});

test("a session that a process left in the middle of a task takes no other before that is finished", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({ lead: [say("done"), say("more")] });
  const more = () => second.runtime.run({ agent: "lead", task: "more", session: sessionId });
  await expect(more()).rejects.toThrow("its process was stopped in the middle of a task");
  await (await second.runtime.resume(sessionId)).result;
  expect(await more()).toMatchObject({ summary: "more" });
});

test("of two runtimes of one process that resume a session the later has it, and the other ends without a trace", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  const again = silence();
  await using one = lives.open({ lead: [again.step] });
  const { result } = await one.runtime.resume(sessionId);
  await lives.leave(one, () => again.reached);
  await using other = lives.open({ lead: [say("by the other")] });
  expect(await (await other.runtime.resume(sessionId)).result).toMatchObject({ summary: "by the other" });
  one.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ success: false });
  expect((await other.runtime.record.findSession(sessionId)).status).toBe("completed");
  const [run] = await other.runtime.record.readRows({ sessionId, kind: "runs" });
  expect([run?.status, run?.response_content]).toEqual(["completed", "by the other"]);
});

test("a run that was started can be stopped at once, and what is alive in a session are its root runs", async () => {
  using lives = new Lives();
  const stuck = silence();
  await using t = lives.open({ lead: [callDelegate("worker", "x")], worker: [stuck.step], other: [hang()] });
  const { sessionId, runId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  expect(t.runtime.liveRoots(sessionId)).toEqual([runId]);
  expect(t.runtime.liveRoots("ses_unknown")).toBeNull();
  await expect(t.runtime.resume(sessionId)).rejects.toThrow("being worked on in this process");
  const other = await t.runtime.start({ agent: "other", task: "go" });
  expect(t.runtime.cancel(other.runId)).toBe(true);
  t.runtime.cancel(runId);
  expect([(await result).status, (await other.result).status]).toEqual(["cancelled", "cancelled"]);
  expect(t.runtime.liveRoots(sessionId)).toBeNull();
});

test("a conversation that goes on is running again until its new task has ended, and that has a budget of its own", async () => {
  using lives = new Lives();
  const stuck = silence();
  const usage = { input: 40_000, output: 10 };
  const settings = { limits: { tokens: 60_000 } };
  const first = lives.open({ lead: [say("one", usage), stuck.step] }, { settings });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.runtime.start({ agent: "lead", task: "more", session: session_id });
  await lives.leave(first, () => stuck.reached);
  expect((await first.runtime.record.findSession(session_id)).status).toBe("running");
  await expect(first.runtime.run({ agent: "lead", task: "x", session: session_id })).rejects.toThrow(
    "being worked on in this process",
  );
  await first.runtime.leave();
  await using seen = openSeen({ lead: [say("two")] }, { settings }, (some, more) => lives.open(some, more));
  const { result } = await seen.runtime.resume(session_id);
  expect(await result).toMatchObject({ status: "completed", summary: "two" });
  const { account } = seen.find("lead").session;
  expect(account.spawns).toBe(1);
  expect((await seen.runtime.record.findSession(session_id)).status).toBe("completed");
});

test("several tasks are kept without secrets, and one that begins after a crash has what it was given", async () => {
  using lives = new Lives();
  const secret = "sk-test-0123456789abcdefghij";
  const env = { SERVICE_API_KEY: secret };
  const stuck = silence();
  const first = lives.open({ one: [stuck.step], two: [] }, { env });
  const tasks = [
    ["one", `use ${secret}`],
    ["two", "look", { limits: { turns: 3 } }],
  ] as const;
  void first.runtime.fanOut(tasks, { maxConcurrent: 1 });
  await lives.leave(first, () => stuck.reached);
  const sessionId = first.events[0]?.sessionId ?? "";
  expect((await first.runtime.record.findSession(sessionId)).metadata_json).not.toContain(secret);
  await first.runtime.leave();
  await using seen = openSeen({ one: [say("first")], two: [say("second")] }, { env }, (some, more) =>
    lives.open(some, more),
  );
  const { results } = await seen.runtime.resume(sessionId);
  expect((await results).map(({ summary }) => summary)).toEqual(["first", "second"]);
  expect(seen.find("two")).toMatchObject({ limits: { turns: 3 }, taskId: "1" });
  expect(seen.find("two").session.account.spawns).toBe(2);
});

test("text of the project that had entered a session is still in it after a crash", async () => {
  using lives = new Lives();
  const stuck = silence();
  const look = { ...countedTool("look").tool, groups: ["shell"] };
  const first = lives.open({ lead: [callTool("look", {}), stuck.step] }, { tools: [look] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using seen = openSeen({ lead: [say("done")] }, { tools: [look] }, (some, more) =>
    lives.open(some, more),
  );
  await (await seen.runtime.resume(sessionId)).result;
  expect(seen.find("lead").session.projectText.hasEntered).toBe(true);
});

test("a session in which nothing had begun has failed, and there is nothing to resume", async () => {
  using lives = new Lives();
  const first = lives.open({ lead: [say("done")] });
  const { session_id } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  lives.sql("UPDATE sessions SET status = 'running'");
  lives.sql("DELETE FROM messages WHERE parent_message_id IS NOT NULL");
  lives.sql("DELETE FROM messages");
  await using second = lives.open({ lead: [] });
  await expect(second.runtime.resume(session_id)).rejects.toThrow("has ended (failed)");
  expect((await second.runtime.record.findSession(session_id)).status).toBe("failed");
});

/** The record of some lives, and what happens whenever somebody is about to take a session in it. */
function onTaking(lives: Lives, happen: (sessionId: string) => void): Record {
  const kept = createSqliteRecord({ path: lives.database });
  const takeLease: Record["takeLease"] = async (sessionId, onLost) => {
    happen(sessionId);
    return kept.takeLease(sessionId, onLost);
  };
  return Object.assign(Object.create(kept), { takeLease });
}

/** A session that was left in the middle of its one task. */
async function leaveInTheMiddle(lives: Lives): Promise<string> {
  const stuck = silence();
  const t = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(t, () => stuck.reached);
  await t.runtime.leave();
  return sessionId;
}

test("a session that another process ended between the look and the lease is not gone on with, and is let go of", async () => {
  using lives = new Lives();
  const sessionId = await leaveInTheMiddle(lives);
  const record = onTaking(lives, () => lives.sql("UPDATE sessions SET status = 'cancelled'"));
  await using t = lives.open({ lead: [say("done")] }, { internals: { record } });
  await expect(t.runtime.resume(sessionId)).rejects.toThrow("was stopped, and stays stopped");
  expect(t.models.lead?.requests).toEqual([]);
  expect((await t.runtime.record.findSession(sessionId)).status).toBe("cancelled");
  expect(await t.runtime.record.findHolder(sessionId)).toBeNull();
});

test("a session in which another process began a task between the look and the lease is not continued, and is let go of", async () => {
  using lives = new Lives();
  const sessionId = await leaveInTheMiddle(lives);
  lives.sql("UPDATE sessions SET status = 'completed'");
  const record = onTaking(lives, () => lives.sql("UPDATE sessions SET status = 'running'"));
  await using t = lives.open({ lead: [say("done")] }, { internals: { record } });
  await expect(t.runtime.run({ agent: "lead", task: "more", session: sessionId })).rejects.toThrow(sessionId);
  expect(t.models.lead?.requests).toEqual([]);
  expect(await t.runtime.record.findHolder(sessionId)).toBeNull();
});

/** Resumes a session that somebody else has for so many seconds; how long it waited, and what came of it. */
async function resumeHeld(lives: Lives, { isElsewhere, forMs }: { isElsewhere: boolean; forMs: number }) {
  const clock = handClock();
  const sessionId = await leaveInTheMiddle(lives);
  const record = onTaking(lives, () => {
    if (clock.monotonicMs() < forMs) throw new SessionTaken(sessionId, "process 1 on a machine", isElsewhere);
  });
  await using t = lives.open({ lead: [say("done")] }, { internals: { record, clock } });
  let isOver = false;
  const outcome = t.runtime
    .resume(sessionId)
    .then(
      async ({ result }) => (await result).summary,
      (thrown: Error) => thrown.message,
    )
    .finally(() => {
      isOver = true;
    });
  let waitedMs = 0;
  for (let idle = 0; !isOver && waitedMs < forMs; idle++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (idle % 20 < 19) continue;
    clock.advance(1_000);
    waitedMs += 1_000;
  }
  return { waitedMs, outcome: await outcome };
}

test("the silence of a holder on another machine is waited for, but not for ever; a living one here is told at once", async () => {
  using lives = new Lives();
  const held = "is being worked on by process 1 on a machine";
  expect(await resumeHeld(lives, { isElsewhere: true, forMs: 3_000 })).toEqual({
    waitedMs: 3_000,
    outcome: "done",
  });
  expect(await resumeHeld(lives, { isElsewhere: true, forMs: 10 * LEASE_MS })).toEqual({
    waitedMs: 2 * LEASE_MS,
    outcome: expect.stringContaining(held),
  });
  expect(await resumeHeld(lives, { isElsewhere: false, forMs: 5_000 })).toEqual({
    waitedMs: 0,
    outcome: expect.stringContaining(held),
  });
});

test("what a person must fix of a request is told before any session is opened for it", async () => {
  using lives = new Lives();
  await using t = lives.open({ lead: [] });
  const tasks = [["lead", "go"]] as const;
  await expect(t.runtime.fanOut(tasks, { maxConcurrent: 0 })).rejects.toThrow("maxConcurrent");
  await expect(t.runtime.fanOut([["lead", "go", { limits: { turns: -1 } }]])).rejects.toThrow("turns");
  await expect(t.runtime.start({ agent: "lead", task: "go", limits: { turns: -1 } })).rejects.toThrow(
    "turns",
  );
  await expect(t.runtime.start({ agent: "lead", task: "go", model: "none" })).rejects.toThrow("none");
  await expect(t.runtime.start({ agent: "lead", task: "go", tools: ["nothing"] })).rejects.toThrow("nothing");
  await expect(t.runtime.start({ agent: "lead", task: "go", tools: "note" as never })).rejects.toThrow(
    'tools is "note", but must be a list of names',
  );
  expect((await t.runtime.record.listSessions()).sessions).toEqual([]);
});
