import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { countedTool } from "../../../../test/fixtures/lives.ts";
import { livePace } from "../run/pace.ts";
import type { Host } from "../run/run.ts";
import {
  callDelegate,
  callTools,
  failWith,
  hang,
  say,
  type TestRuntime,
  testRuntime,
} from "../testing/index.ts";
import { MAX_RESULT_CHARS } from "../tools/truncate.ts";
import { spawnRun } from "./spawn-run.ts";

const streaming = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
const resultsOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []));

test("a run that fails ends its children first, and nothing of them stays open", async () => {
  const calls = callTools(
    ["quick", "slow"].map((agent) => ({ tool: "delegate", input: { agent, task: "x" } })),
  );
  await using t = testRuntime(
    { lead: [calls, failWith("auth", "no key")], quick: [say("done")], slow: [hang()] },
    { agents: streaming },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("failed");
  expect(t.trace()).toEqual(["lead > quick: completed", "lead > slow: cancelled", "lead: failed"]);
  const rows = await t.runtime.record.readRows({ sessionId: result.session_id });
  expect(rows.filter((row) => row.closed_seq === null)).toEqual([]);
  const closed = (agent: string) =>
    rows.find((row) => row.agent_role === agent && row.request_type !== "continuation")?.closed_seq ?? 0;
  expect(closed("slow")).toBeLessThan(closed("lead"));
});

test("a run that has ended can no longer be stopped, held or spoken to, although its session goes on", async () => {
  const acts: boolean[] = [];
  await using t = testRuntime({
    lead: [
      callDelegate("worker", "x"),
      () => {
        const { run_id: id } = resultsOf(t, "worker")[0] ?? { run_id: "" };
        acts.push(t.runtime.cancel(id), t.runtime.pause(id), t.runtime.steer(id, "more"));
        return say("done");
      },
    ],
    worker: [say("done")],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(acts).toEqual([false, false, false]);
});

test("a child beyond the limit of runs fails with what it owed, and its parent goes on", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), say("alone, then")], worker: [] },
    { settings: { maxAgents: 1 }, agents: { worker: { deliverables: [{ file: "report.md" }] } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(t, "worker")).toMatchObject([
    {
      status: "failed",
      error: { type: "spawn_limit" },
      deliverables: [{ deliverable: "report.md", ok: false, reason: "the run did not begin" }],
    },
  ]);
});

const owing = { worker: { deliverables: [{ file: "report.md" }], retry: { attempts: 0 } } };

test("what a second run of the same agent leaves out again is missing once, by its own account", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), callDelegate("worker", "again"), say("done")],
      worker: () => say("done"),
    },
    { agents: owing },
  );
  const { status, unmet } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(status).toBe("failed");
  expect(unmet).toMatchObject([{ deliverable: "report.md", run_id: resultsOf(t, "worker")[1]?.run_id }]);
});

test("a run that was cancelled stays cancelled, also if a child had left something out", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), hang()], worker: () => say("done") },
    { agents: owing, lenient: true },
  );
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.lead?.requests.length !== 2) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ status: "cancelled", unmet: [{ deliverable: "report.md" }] });
});

/** Internals whose workplace does something else for the runs of the worker. */
const workplaceWith = (other: Partial<Host["workplace"]>): { runChild: Host["runChild"] } => ({
  runChild: (request) => {
    if (request.profile.agent.name === "worker") Object.assign(request.session.host.workplace, other);
    return spawnRun(request);
  },
});

test("a run that cannot begin fails with the reason, in which there is no secret, and its parent goes on", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  const enter = () => Promise.reject(new Error(`no folder for ${secret} here`));
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), say("alone, then")], worker: [] },
    { env: { SERVICE_API_KEY: secret }, internals: workplaceWith({ enter }) },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  expect(resultsOf(t, "worker")).toMatchObject([
    {
      status: "failed",
      error: { type: "failed", message: expect.stringMatching(/^no folder for .* here$/) },
    },
  ]);
  const rows = await t.runtime.record.readRows({ sessionId: result.session_id });
  for (const told of [rows, t.events]) expect(JSON.stringify(told)).not.toContain(secret);
});

const priced = (agents: string[]) => ({
  prices: Object.fromEntries(agents.map((agent) => [`scripted/${agent}`, { input: 1, output: 1 }])),
});

test("what a subtree cost is unknown to all above a run that has no price, and their own costs are known", async () => {
  const usage = { input: 100, output: 10 };
  const costsOf = async (agents: string[]) => {
    await using t = testRuntime(
      {
        lead: [callDelegate("middle", "x"), say("done", usage)],
        middle: [callDelegate("worker", "x"), say("done", usage)],
        worker: [say("done", usage)],
      },
      { settings: priced(agents), agents: { middle: { subagents: { allow: ["worker"] } } } },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    return ["lead", "middle", "worker"].map((agent) => resultsOf(t, agent)[0]?.cost_usd);
  };
  const partly = await costsOf(["lead", "middle"]);
  expect(partly.map((cost) => cost?.subtree)).toEqual([null, null, null]);
  expect(partly.map((cost) => cost?.self)).toEqual([expect.any(Number), expect.any(Number), null]);
  const [lead, middle, worker] = await costsOf(["lead", "middle", "worker"]);
  expect(worker?.subtree).toBeGreaterThan(0);
  expect(middle?.subtree).toBeCloseTo((middle?.self ?? 0) + (worker?.self ?? 0), 9);
  expect(lead?.subtree).toBeCloseTo((lead?.self ?? 0) + (middle?.subtree ?? 0), 9);
});

const long = { found: "x".repeat(9_000) };
const tools = [countedTool("read").tool];
const handingOver = {
  lead: [callDelegate("worker", "x"), say("done")],
  worker: [say(JSON.stringify(long))],
};

test("long data are a file for a parent that can read, and only there", async () => {
  const dataFor = async (held: string[]) => {
    const lead = { tools: held, subagents: { allow: ["worker"] } };
    await using t = testRuntime(handingOver, { tools, agents: { lead } });
    await t.runtime.run({ agent: "lead", task: "go" });
    const [result] = resultsOf(t, "worker");
    expect(result).toMatchObject({ status: "completed", data: long });
    // Named after the parent, who is to read it.
    if (result?.data_file) expect(result.data_file).toContain(resultsOf(t, "lead")[0]?.run_id);
    return result?.data_file && JSON.parse(readFileSync(result.data_file, "utf8"));
  };
  expect(await dataFor(["read"])).toEqual(long);
  expect(await dataFor([])).toBeUndefined();
});

test("a result whose data and details cannot be saved is complete without their files, and says so", async () => {
  const saveArtefact = () => Promise.reject(new Error("the disk is full"));
  const longer = { found: "x".repeat(MAX_RESULT_CHARS) };
  await using t = testRuntime(
    { ...handingOver, worker: [say(JSON.stringify(longer))] },
    { tools, internals: workplaceWith({ saveArtefact }) },
  );
  const { status } = await t.runtime.run({ agent: "lead", task: "go" });
  const [result] = resultsOf(t, "worker");
  expect([status, result?.status]).toEqual(["completed", "completed"]);
  expect(result?.data).toEqual(longer);
  expect(result).not.toHaveProperty("data_file");
  expect(result?.details).toContain("the whole could not be saved");
});

test("a result names the runs below it, each on one short line", async () => {
  await using t = testRuntime({
    lead: [callDelegate("worker", "x"), say("done")],
    worker: [say(`one\ntwo ${"x".repeat(400)}`)],
  });
  const { sub_runs } = await t.runtime.run({ agent: "lead", task: "go" });
  const [worker] = resultsOf(t, "worker");
  expect(sub_runs).toMatchObject([{ agent: "worker", run_id: worker?.run_id, status: "completed" }]);
  expect(sub_runs?.[0]?.summary).toMatch(/^one two x{50}/);
  expect(sub_runs?.[0]?.summary.length).toBeLessThan(260);
  expect(worker).not.toHaveProperty("sub_runs");
});

test("a run is watched until it ends, and is then no longer among its parent's children", async () => {
  const told: string[] = [];
  const pace: Host["pace"] = {
    ...livePace,
    watch: (run) => {
      told.push(`watch ${run.agent.name}`);
      const stop = livePace.watch(run);
      return () => {
        told.push(`leave ${run.agent.name}`);
        stop();
      };
    },
  };
  const runChild: Host["runChild"] = async (request) => {
    const result = await spawnRun(request);
    if (request.parent) told.push(`${request.parent.kids.size} left`);
    return result;
  };
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), say("done")], worker: [say("done")] },
    { internals: { pace, runChild } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(told).toEqual(["watch lead", "watch worker", "leave worker", "0 left", "leave lead"]);
});

test("a run whose session was taken by another process leaves its folder alone, and saves nothing", async () => {
  const done: string[] = [];
  const runChild: Host["runChild"] = (request) => {
    const { workplace } = request.session.host;
    Object.assign(request.session.lease, { lost: AbortSignal.abort() });
    Object.assign(workplace, {
      leave: async (_: unknown, result: unknown) => {
        done.push("left");
        return result;
      },
      saveArtefact: async () => {
        done.push("saved");
        return "";
      },
    });
    return spawnRun(request);
  };
  await using t = testRuntime(
    { lead: [say("x".repeat(MAX_RESULT_CHARS + 1))] },
    { internals: { runChild }, lenient: true },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(done).toEqual([]);
});
