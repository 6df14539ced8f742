import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  say,
  type TestRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const endOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []))[0];
const runsOf = async (t: TestRuntime, sessionId: string) =>
  (await t.runtime.record.readRows({ sessionId, kind: "runs" })).filter(
    (row) => row.request_type === "delegation",
  );
const retry = (attempts = 1) => ({
  worker: { retry: { attempts, on: ["content_filter" as const], backoffMs: 1 } },
});
const refuses = failWith("content_filter", "not that");

/** Leaves a program's session in the middle of its one child, as a killed process would. */
async function leaveProgram(t: TestRuntime, until: () => boolean, more: object, lives: Lives) {
  const session = await t.runtime.openSession();
  session.spawn("worker", "go", more);
  await lives.leave(t, until);
  await t.runtime.leave();
  return session.id;
}

test("a child that was in its second attempt goes on with it, and is told to be a retry", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open(
    { lead: [callDelegate("worker", "go")], worker: [refuses, stuck.step] },
    { agents: retry() },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [({ last }) => say(last)], worker: [say("second try")] },
    { agents: retry() },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("1 retry");
  expect(ended.details).toContain("second try");
  expect(endOf(second, "worker")).toMatchObject({ attempt: 1, status: "completed" });
  expect(await runsOf(second, sessionId)).toHaveLength(2);
});

test("a child that had failed, and whose parent was not told yet, is tried again as its policy says, once", async () => {
  using lives = new Lives();
  const stuck = countedTool("slow", null);
  const calls = callTools([
    { tool: "delegate", input: { agent: "worker", task: "go" } },
    { tool: "slow", input: {} },
  ]);
  const first = lives.open(
    { lead: [calls], worker: [refuses, hang()] },
    { agents: retry(), tools: [stuck.tool] },
  );
  // The second attempt has no row yet.
  const sessionId = await lives.abandon(first, () => endOf(first, "worker")?.status === "failed");
  await first.runtime.leave();
  lives.sql("DELETE FROM messages WHERE agent_role = 'worker' AND closed_seq IS NULL");
  await using second = lives.open(
    { lead: [({ prompt }) => say(prompt)], worker: [say("second try")] },
    { agents: retry(), tools: [countedTool("slow").tool] },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("second try");
  expect(second.models.worker?.requests).toHaveLength(1);
});

test("what its task was measured by still holds for a child that goes on: criteria and deliverables", async () => {
  using lives = new Lives();
  const stuck = silence();
  const call = callDelegate("worker", "go", {
    successCriteria: "it is green",
    deliverables: [{ file: "report.md" }],
  });
  const agents = { worker: { retry: { attempts: 0 } } };
  const first = lives.open({ lead: [call], worker: [stuck.step] }, { agents });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [say("ok"), say("ok"), say("ok")], worker: () => say("done") },
    { agents },
  );
  await (await second.runtime.resume(sessionId)).result;
  expect(endOf(second, "worker")).toMatchObject({
    criteria: { criteria: "it is green", verdict: "not_verified" },
    deliverables: [{ deliverable: "report.md", ok: false }],
  });
});

test("a child that a streaming parent had not been told of keeps its run id, by which it is collected", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
  const both = callTools(
    ["one", "two"].map((task) => ({ tool: "delegate", input: { agent: "worker", task } })),
  );
  // The process ends before the parent has an answer to any of the two calls.
  const first = lives.open({ lead: [both], worker: () => stuck.step() }, { agents });
  const sessionId = await lives.abandon(first, () => first.models.worker?.requests.length === 2);
  const recorded = (await runsOf(first, sessionId)).map((row) => row.run_id);
  const collecting = Promise.withResolvers<void>();
  let told: string[] = [];
  await using second = lives.open(
    {
      lead: [
        ({ prompt }) => {
          told = [...prompt.matchAll(/still running: (run_[\w-]+)/g)].map(([, id]) => id ?? "");
          collecting.resolve();
          return callTool("collect_results", { ids: told, wait: "all" });
        },
        ({ last }) => say(last),
      ],
      worker: ({ task }) =>
        task.startsWith("one") ? say("first result") : after(collecting.promise, say("second result")),
    },
    { agents },
  );
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(told).toEqual([recorded[1]]);
  expect(details).toContain("second result");
});

test("a task of a batch that never began keeps the one row that says so", async () => {
  using lives = new Lives();
  const stuck = silence();
  const tasks = [
    { id: "a", agent: "worker", task: "fails" },
    { id: "b", agent: "worker", task: "needs a", dependsOn: ["a"] },
    { id: "c", agent: "worker", task: "fine" },
  ];
  const first = lives.open({
    lead: [callDelegateMany(tasks), stuck.step],
    worker: ({ task }) => (task.startsWith("fails") ? refuses : say("done")),
  });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  // The process ended after all tasks had, and before their call was answered.
  lives.sql("UPDATE messages SET closed_seq = NULL, status = 'running' WHERE request_type = 'tool_call'");
  lives.sql("DELETE FROM messages WHERE request_type = 'continuation' AND closed_seq IS NULL");
  await using second = lives.open({ lead: [({ last }) => say(last)], worker: [] });
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("1 succeeded, 1 failed (a), 1 not started (b)");
  expect((await runsOf(second, sessionId)).map(({ status }) => status).sort()).toEqual([
    "cancelled",
    "completed",
    "failed",
  ]);
});

test("a delegation that a request made mandatory, and was made before a crash, is not demanded again", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { worker: { delegation: { mandatory: true, triggers: ["task"] } } };
  const first = lives.open(
    { lead: [callDelegate("worker", "go"), stuck.step], worker: [say("done")] },
    { agents },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("It is done.")], worker: [] }, { agents });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({
    summary: "It is done.",
    warnings: [],
  });
  expect(second.models.lead?.requests).toHaveLength(1);
});

test("tokens that a run and its children had spent are in its result, and one of unknown price makes the sum unknown", async () => {
  using lives = new Lives();
  const stuck = silence();
  const settings = { prices: { "scripted/lead": { input: 1, output: 1 } } };
  const usage = { input: 100, output: 10 };
  const first = lives.open(
    { lead: [callDelegate("worker", "go"), stuck.step], worker: [say("done", usage)] },
    { settings },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("ok", usage)], worker: [] }, { settings });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.tokens.subtree - ended.tokens.self).toBe(110);
  expect(ended.cost_usd.self).not.toBeNull();
  expect(ended.cost_usd.subtree).toBeNull();
});

const here = defineTool<object>({
  name: "here",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async (_, { cwd, projectDir }) => `now in ${(cwd ?? projectDir).slice(projectDir.length)}`,
});

test("a program's child that goes on works in the folder it was given", async () => {
  using lives = new Lives();
  const stuck = silence();
  mkdirSync(join(lives.root, "packages/app"), { recursive: true });
  writeFileSync(join(lives.root, "packages/app/a.txt"), "");
  const first = lives.open({ worker: [stuck.step] }, { tools: [here] });
  const sessionId = await leaveProgram(first, () => stuck.reached, { cwd: "packages/app" }, lives);
  await using second = lives.open(
    { worker: [callTool("here", {}), ({ last }) => say(last)] },
    { tools: [here] },
  );
  await (await second.runtime.resume(sessionId)).result;
  expect(endOf(second, "worker")?.summary).toBe("now in /packages/app");
});

test("a program's child that was in another attempt goes on, and one more attempt has the limits it was given", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ worker: [refuses, stuck.step] }, { agents: retry(2) });
  const sessionId = await leaveProgram(first, () => stuck.reached, { limits: { turns: 7 } }, lives);
  await using second = lives.open(
    {
      worker: [
        refuses,
        ({ options }) => say(/(\d+) turns/.exec(JSON.stringify(options.prompt))?.[1] ?? "no limit"),
      ],
    },
    { agents: retry(2) },
  );
  await (await second.runtime.resume(sessionId)).result;
  const results = second.events.flatMap((event) =>
    event.type === "run.ended" && event.agent === "worker" ? [event.result] : [],
  );
  expect(results.map(({ attempt, status, summary }) => [attempt, status, summary])).toEqual([
    [1, "failed", expect.stringContaining("not that")],
    [2, "completed", "7"],
  ]);
});

test("a model's child that hangs when its parent is cancelled after a resume ends with it, and every row is closed", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [callDelegate("worker", "go")], worker: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const again = silence();
  await using second = lives.open({ lead: [hang()], worker: [again.step] });
  const { result } = await second.runtime.resume(sessionId);
  await lives.leave(second, () => again.reached);
  expect(second.runtime.cancel(sessionId)).toBe(true);
  expect(await result).toMatchObject({ status: "cancelled" });
  const rows = await second.runtime.record.readRows({ sessionId });
  expect(rows.filter((row) => row.closed_seq === null)).toEqual([]);
  await expect(second.runtime.resume(sessionId)).rejects.toThrow("stays stopped");
});
