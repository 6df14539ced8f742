import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  after,
  callDelegateMany,
  callTool,
  hang,
  type Script,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { KEEPER, resumeLeft, takeUpLeft } from "@retinue/server/work-left";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stepClock } from "../server/step-clock.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-leave-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function open(scripts: Record<string, Script>, options: TestRuntimeOptions = {}): TestRuntime {
  const places = { projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") };
  return testRuntime(scripts, { ...places, lenient: true, keeper: KEEPER, ...options });
}

async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setImmediate(resolve));
}

const deskOf = ({ runtime }: TestRuntime) => ({
  runtime,
  project: { projectDir: root, current: () => never(), reload: () => never() },
});
function never(): never {
  throw new Error("not needed");
}

const TASKS = [
  { id: "a", agent: "worker", task: "fast" },
  { id: "b", agent: "worker", task: "slow" },
];

test("a runtime that leaves ends nothing: the next one goes on in the same rows, and what was done is not done again", async () => {
  const aborted: string[] = [];
  const slow = defineTool<object>({
    name: "slow",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push("slow");
          reject(new Error("stopped"));
        });
      }),
  });
  const first = open(
    {
      lead: [callDelegateMany(TASKS)],
      worker: ({ task }) => (task === "fast" ? say("fast result") : callTool("slow", {})),
    },
    { tools: [slow] },
  );
  const { sessionId, runId } = await first.runtime.start({ agent: "lead", task: "the task" });
  await until(
    () =>
      first.events.some((event) => event.type === "call.started" && event.tool === "slow") &&
      first.events.some((event) => event.type === "run.ended"),
  );
  await first.runtime.leave();
  expect(aborted).toEqual(["slow"]);
  expect(first.events.filter((event) => event.type === "run.ended")).toHaveLength(1);

  const again = defineTool<object>({ ...slow, execute: async () => "slow result" });
  const second = open(
    {
      lead: [(request) => say(`final: ${request.last}`)],
      worker: (request) => say(request.last),
    },
    { tools: [again] },
  );
  const row = await second.runtime.record.readSession(sessionId);
  expect(row?.status).toBe("running");
  expect(await second.runtime.record.findHolder(sessionId)).toBeNull();
  expect(
    (await second.runtime.record.readRows({ sessionId: sessionId })).map((one) => one.status),
  ).not.toContain("cancelled");
  expect(await resumeLeft(deskOf(second))).toEqual({ resumed: [sessionId], failed: [], held: [] });
  await until(() => second.events.some((event) => event.type === "session.ended"));
  const runs = await second.runtime.record.readRows({ sessionId: sessionId, kind: "runs" });
  expect(runs.map(({ agent_role, status }) => [agent_role, status])).toEqual([
    ["lead", "completed"],
    ["worker", "completed"],
    ["worker", "completed"],
  ]);
  expect(runs[0]?.run_id).toBe(runId);
  expect(runs[0]?.response_content).toContain("fast result");
  expect(runs[0]?.response_content).toContain("slow result");
  expect(second.models.worker?.requests).toHaveLength(1);
  await second.close();
});

test("only what a server of this project left is taken up, and one that cannot go on hinders no other", async () => {
  const scripts = { lead: () => hang() };
  const first = open(scripts);
  const mine = await first.runtime.start({ agent: "lead", task: "mine" });
  const broken = await first.runtime.start({ agent: "lead", task: "broken" });
  await first.runtime.leave();
  const terminal = testRuntime(scripts, {
    projectDir: root,
    dataDir: join(root, "data"),
    database: join(root, "data", "r.db"),
    lenient: true,
  });
  const theirs = await terminal.runtime.start({ agent: "lead", task: "of a terminal" });
  await terminal.runtime.leave();
  const third = open({ lead: [say("went on")] });
  const { record } = third.runtime;
  const spoilt = JSON.stringify({ keeper: KEEPER, fanOut: { tasks: "none" } });
  await record.write({
    kind: "session.update",
    sessionId: broken.sessionId,
    change: { metadata: JSON.parse(spoilt) },
  });
  await record.startSession({
    sessionId: "ses_other",
    title: "t",
    project: "/elsewhere",
    workspace: "/w",
    metadata: { keeper: KEEPER },
  });
  await record.committed();
  const { resumed, failed } = await resumeLeft(deskOf(third));
  expect(resumed).toEqual([mine.sessionId]);
  expect(failed.map(({ sessionId }) => sessionId)).toEqual([broken.sessionId]);
  await until(() => third.events.some((event) => event.type === "session.ended"));
  expect((await record.readSession(mine.sessionId))?.status).toBe("completed");
  expect((await record.readSession(theirs.sessionId))?.status).toBe("running");
  await third.close();
});

test("a session belongs to whoever had it last", async () => {
  const first = open({ lead: () => hang() });
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  await first.runtime.leave();
  const places = { projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") };
  const terminal = testRuntime({ lead: () => hang() }, { ...places, lenient: true });
  await terminal.runtime.resume(sessionId);
  await terminal.runtime.leave();
  const third = open({ lead: [say("done")] });
  expect(await resumeLeft(deskOf(third))).toEqual({ resumed: [], failed: [], held: [] });
  await (await third.runtime.resume(sessionId)).result;
  const { metadata_json: json } = (await third.runtime.record.readSession(sessionId)) ?? {};
  expect(JSON.parse(json ?? "{}")).toMatchObject({ keeper: KEEPER, maxDepth: expect.any(Number) });
  await third.close();
});

test("what is about to begin while a runtime leaves is left as well, and nothing begins afterwards", async () => {
  const t = open({ lead: () => hang() });
  const begun = t.runtime.start({ agent: "lead", task: "go" }).catch((thrown: Error) => thrown.message);
  await t.runtime.leave();
  await begun;
  await expect(t.runtime.start({ agent: "lead", task: "later" })).rejects.toThrow(/closed/);
  const second = open({ lead: () => hang() });
  const statuses = (await second.runtime.record.listSessions()).sessions.map(({ status }) => status);
  expect(statuses.filter((status) => status === "cancelled")).toEqual([]);
  await second.close();
});

/** A session that was left, and the hold that a server on its way out still has on it. */
async function leftButHeld() {
  const first = open({ lead: () => hang() });
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  await first.runtime.leave();
  const t = open({ lead: [say("went on")] });
  const db = new DatabaseSync(join(root, "data", "r.db"));
  db.prepare("INSERT INTO leases (session_id, owner, until_ms) VALUES (?, 'elsewhere/1/1/1', ?)").run(
    sessionId,
    Date.now() + 3_600_000,
  );
  const told: string[] = [];
  const faults: unknown[] = [];
  const clock = stepClock();
  const ports = {
    tell: (message: string) => told.push(message),
    onFault: (one: unknown) => faults.push(one),
  };
  const stopLooking = takeUpLeft(deskOf(t), { ...ports, clock });
  await until(() => clock.pending === 1);
  return { t, db, sessionId, told, faults, clock, stopLooking };
}

test("what a server still has while it stops is taken up once it has let go", async () => {
  const { t, db, sessionId, told, faults, clock } = await leftButHeld();
  expect(told).toEqual([]);
  clock.advance(2_000);
  await until(() => clock.pending === 1);
  db.exec("DELETE FROM leases");
  clock.advance(2_000);
  await until(() => t.events.some((event) => event.type === "session.ended"));
  await until(() => told.length > 0);
  expect([told, faults, clock.pending]).toEqual([[`going on with what was left: ${sessionId}`], [], 0]);
  expect((await t.runtime.record.readSession(sessionId))?.status).toBe("completed");
  db.close();
  await t.close();
});

test("what a living server keeps is its own: nobody looks at it for ever, nor after the end", async () => {
  const { t, db, sessionId, told, faults, clock, stopLooking } = await leftButHeld();
  for (let looks = 1; looks < 10; looks++) {
    await until(() => clock.pending === 1);
    clock.advance(2_000);
  }
  await until(() => told.length > 0);
  expect([told, faults, clock.pending]).toEqual([
    [`left with the processes that work on them: ${sessionId}`],
    [],
    0,
  ]);
  stopLooking();
  const again = takeUpLeft(deskOf(t), { tell: () => {}, onFault: () => {}, clock });
  await until(() => clock.pending === 1);
  again();
  expect(clock.pending).toBe(0);
  db.close();
  await t.close();
});

test("a drain lets 32 model calls end, begins none of the next, and nothing that was paid for is asked again", async () => {
  const { promise: given, resolve: letGo } = Promise.withResolvers<void>();
  const tasks = Array.from({ length: 32 }, (_, index) => ({ id: `t${index}`, agent: "worker", task: "x" }));
  const note = defineTool<object>({
    name: "note",
    description: "x",
    input: { type: "object" },
    replay: "never",
    execute: async () => "noted",
  });
  const agents = { lead: { subagents: { allow: ["worker"], maxConcurrent: 50 } } };
  const first = open(
    { lead: [callDelegateMany(tasks)], worker: () => after(given, callTool("note", {})) },
    { tools: [note], agents },
  );
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "the task" });
  await until(() => first.models.worker?.requests.length === 32);
  const drained = first.runtime.drain(3_600_000);
  letGo();
  await drained;
  expect(first.models.worker?.requests).toHaveLength(32);
  expect(first.events.filter((event) => event.type === "call.started" && event.tool === "note")).toEqual([]);
  await first.runtime.close();

  const second = open({ lead: [say("final")], worker: () => say("ok") }, { tools: [note], agents });
  await (await second.runtime.resume(sessionId)).result;
  expect(second.models.worker?.requests).toHaveLength(32);
  const turns = (await second.runtime.record.readRows({ sessionId: sessionId })).filter(
    (row) => row.request_type === "continuation",
  );
  expect(turns.filter((row) => row.status !== "completed")).toEqual([]);
  expect(turns).toHaveLength(2 + 64);
  await second.close();
});

test("a drain whose time is up cuts what has not ended, and a full disk makes it fail instead of waiting", async () => {
  const disk = { isFull: false };
  const execute = (write: () => void) => {
    if (disk.isFull) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    write();
  };
  const t = open(
    { lead: () => hang() },
    { internals: { recordPorts: { execute, schedule: () => () => {} } } },
  );
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  await t.runtime.record.committed();
  disk.isFull = true;
  t.runtime.record.append({ kind: "session.update", sessionId, change: { title: "another" } });
  await expect(t.runtime.drain(0)).rejects.toThrow("full");
  disk.isFull = false;
  await t.runtime.drain(1);
  expect((await t.runtime.record.readSession(sessionId))?.status).toBe("running");
  await t.close();
});

test("all of 1,050 sessions that were left are taken up, and those that others have are named", async () => {
  const count = 1_050;
  const first = open({ lead: () => hang() });
  const started = [];
  for (let index = 0; index < count; index++)
    started.push(await first.runtime.start({ agent: "lead", task: `task ${index}` }));
  await first.runtime.leave();
  const second = open({ lead: () => say("went on") });
  const told: string[] = [];
  takeUpLeft(deskOf(second), {
    tell: (message) => told.push(message),
    onFault: (thrown) => told.push(String(thrown)),
  });
  await until(() => told.length > 0);
  expect(told).toEqual([
    expect.stringMatching(/^going on with what was left: (ses_\w+, ){19}ses_\w+ and 1030 more$/),
  ]);
  await until(() => second.events.filter((event) => event.type === "session.ended").length === count);
  await second.runtime.record.committed();
  const { record } = second.runtime;
  for (const { sessionId } of started)
    expect((await record.readSession(sessionId))?.status).toBe("completed");
  await second.close();
});
