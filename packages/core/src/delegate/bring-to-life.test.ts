import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { callDelegate, callDelegateMany, callTool, failWith, type Step, say } from "../testing/index.ts";

const done = say("done");
const noAnswer = failWith("content_filter", "not that");

test("a run knows its place: call, task, attempt and depth, and what of its message was asked for", async () => {
  await using seen = openSeen(
    {
      lead: [
        callDelegateMany([
          {
            id: "t1",
            agent: "worker",
            task: "look for swordfish-4711-tango",
            successCriteria: "it is found",
          },
        ]),
        done,
      ],
      worker: [noAnswer, done],
    },
    {
      agents: { worker: { retry: { attempts: 1, on: ["content_filter"], backoffMs: 1 } } },
      env: { SOME_API_KEY: "swordfish-4711-tango" },
    },
  );
  await seen.runtime.run({ agent: "lead", task: "go" });
  const places = [0, 1].map((index) => {
    const { callId, taskId, attempt, depth, parent } = seen.find("worker", index);
    return { callId, taskId, attempt, depth, parent: parent?.agent.name };
  });
  const place = { callId: "call-0-0", taskId: "t1", depth: 1, parent: "lead" };
  expect(places).toEqual([
    { ...place, attempt: 0 },
    { ...place, attempt: 1 },
  ]);
  const { asked, task } = seen.find("worker");
  expect(task).toContain("it is found");
  expect(asked).not.toContain("it is found");
  expect(asked).toContain("look for");
  expect(`${asked} ${task}`).not.toContain("swordfish");
  expect(seen.find("lead")).toMatchObject({ callId: null, taskId: null, depth: 0, parent: null });
});

test("what a run must leave is its agent's part and its task's, and only its task's words can demand a delegation", async () => {
  const more = { deliverables: [{ file: "b.md" }] };
  await using seen = openSeen(
    {
      lead: [callDelegate("worker", "use the magic", more), done],
      worker: { eachRun: [done, done] },
      mage: [],
    },
    {
      agents: {
        worker: { deliverables: [{ file: "a.md" }] },
        mage: { delegation: { mandatory: true, triggers: ["magic"] } },
      },
    },
  );
  await seen.runtime.run({ agent: "lead", task: "go" });
  expect(seen.find("worker").deliverables).toEqual([{ file: "a.md" }, { file: "b.md" }]);
  expect(seen.find("worker").mandatory).toEqual([]);
});

test("a task's tokens, cost and runs bind its run and all below it; a model's only where they are tighter", async () => {
  const own = { tokens: 5_000, costUsd: 1, spawns: 4 };
  const given = { tokens: 9_000, costUsd: 0.5, spawns: 9 };
  const scripts = {
    lead: [callDelegate("worker", "x", { limits: given }), done],
    worker: { eachRun: [done] },
  };
  const options = { agents: { worker: { limits: own } }, lenient: true };
  await using byModel = openSeen(scripts, options);
  await byModel.runtime.run({ agent: "lead", task: "go", limits: { tokens: 8_000, depth: 2 } });
  expect(byModel.find("worker").account.limits).toEqual({ tokens: 5_000, costUsd: 0.5, spawns: 4 });
  expect(byModel.find("lead").account.limits).toEqual({ tokens: 8_000 });
  expect(byModel.find("lead").account.tokensSpent).toBeGreaterThanOrEqual(
    byModel.find("worker").account.tokensSpent,
  );
  expect(byModel.runs.map(({ maxDepth }) => maxDepth)).toEqual([2, 2]);
  await using byProgram = openSeen(scripts, options);
  await using session = await byProgram.runtime.openSession();
  await session.spawn("worker", "x", { limits: given }).result;
  expect(byProgram.find("worker").account.limits).toEqual(given);
  await byProgram.runtime.run({ agent: "worker", task: "go", limits: given });
  expect(byProgram.find("worker", 1).account.limits).toEqual(given);
});

test("each run that may delegate has delegation tools of its own, others have none, and none can lead a program's session", async () => {
  await using seen = openSeen(
    {
      lead: [callDelegateMany(["t1", "t2"].map((id) => ({ id, agent: "middle", task: `do ${id}` }))), done],
      middle: { eachRun: [done] },
      worker: [done],
    },
    { agents: { middle: { subagents: { allow: ["worker"] } } } },
  );
  await seen.runtime.run({ agent: "lead", task: "go" });
  const [one, other] = [seen.find("middle", 0), seen.find("middle", 1)];
  for (const name of ["delegate", "delegate_many", "collect_results", "merge_changes"]) {
    expect(one.tools.get(name)).toBeDefined();
    expect(one.tools.get(name)).not.toBe(other.tools.get(name));
  }
  expect([one, other, seen.find("lead")].map(({ tools }) => tools.has("program"))).toEqual([
    false,
    false,
    false,
  ]);
  await seen.runtime.run({ agent: "worker", task: "go" });
  expect(seen.find("worker").tools.has("delegate")).toBe(false);
});

test("a child below a run that knows private data or untrusted text knows both from its first call", async () => {
  const [secret, page] = [
    countedTool("secret").tool,
    { ...countedTool("page").tool, untrusted: true as const },
  ];
  await using seen = openSeen(
    {
      lead: [
        callDelegate("early", "x"),
        callTool("secret", {}),
        callTool("page", {}),
        callDelegate("late", "x"),
        done,
      ],
      early: [done],
      late: [done],
    },
    { tools: [{ ...secret, isPublic: false }, page] },
  );
  await seen.runtime.run({ agent: "lead", task: "go" });
  expect(seen.find("early")).toMatchObject({ tainted: false, privateData: false });
  expect(seen.find("late")).toMatchObject({ tainted: true, privateData: true });
});

test("a child works in the folder that it was given, and those below it as well", async () => {
  await using seen = openSeen(
    { lead: [], middle: [callDelegate("worker", "x"), done], worker: [done] },
    { agents: { middle: { subagents: { allow: ["worker"] } } } },
  );
  mkdirSync(join(seen.projectDir, "deep", "er"), { recursive: true });
  await using session = await seen.runtime.openSession();
  await session.spawn("middle", "x", { cwd: "deep/er" }).result;
  const { projectDir } = seen.find("middle");
  for (const agent of ["middle", "worker"])
    expect(seen.find(agent)).toMatchObject({ cwd: join(projectDir, "deep", "er"), projectDir });
});

test("minutes of a person or a program are a box around everything below, inside of the boxes above", async () => {
  await using seen = openSeen(
    { lead: [], middle: [callDelegate("worker", "x", { limits: { minutes: 1 } }), done], worker: [done] },
    { agents: { middle: { subagents: { allow: ["worker"] } } } },
  );
  await using session = await seen.runtime.openSession({ limits: { minutes: 8 } });
  await session.spawn("middle", "x", { limits: { minutes: 4 } }).result;
  const { timeBox, startedMs } = seen.find("middle");
  expect(timeBox).toMatchObject({
    lengthMs: 240_000,
    depth: 1,
    outer: { lengthMs: 480_000, depth: 0, outer: null },
  });
  expect(timeBox?.deadline.atMs).toBe(startedMs + 240_000);
  expect(seen.find("worker").timeBox).toBe(timeBox);
});

test("a run that goes on has the time, the spending and the place that it had", async () => {
  using lives = new Lives();
  const stuck = silence();
  const usage = { input: 1_000, output: 100 };
  const options = {
    settings: {
      prices: { "scripted/lead": { input: 1, output: 1 }, "scripted/worker": { input: 1, output: 1 } },
    },
    agents: { lead: { limits: { minutes: 60 } } },
  };
  const play = (step: () => Step) => ({
    lead: [
      { ...callDelegate("worker", "first"), usage },
      { ...callDelegate("worker", "second"), usage },
    ],
    worker: [say("done", usage), step],
  });
  const first = lives.open(play(stuck.step), options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  lives.sql("UPDATE messages SET started_at = '2026-01-02T03:04:05.000Z' WHERE request_type = 'prompt'");
  lives.sql("INSERT INTO stop_requests (session_id, id) VALUES (?, 'run_of_somebody_else')", sessionId);
  await using seen = openSeen({ lead: [done], worker: [done] }, options, (scripts, more) =>
    lives.open(scripts, more),
  );
  const result = await (await seen.runtime.resume(sessionId)).result;
  expect(result.status).toBe("completed");
  expect(seen.find("worker")).toMatchObject({ callId: "call-1-0", depth: 1, asked: "second" });
  const { account, startedAtMs } = seen.find("lead");
  expect(startedAtMs).toBe(Date.parse("2026-01-02T03:04:05.000Z"));
  expect(account.spawns).toBe(2);
  const rows = await seen.runtime.record.readRows({ sessionId });
  const calls = rows.filter((row) => row.request_type === "continuation");
  expect(account.tokensSpent).toBe(calls.reduce((sum, row) => sum + (row.total_tokens ?? 0), 0));
  expect(account.costSpent).toBeCloseTo(calls.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0));
  const broken = calls.filter((row) => row.status === "failed");
  expect(broken).toMatchObject([{ error_message: "the process ended during this call; it is made again" }]);
  expect(broken[0]?.total_tokens).toBeGreaterThan(0);
});
