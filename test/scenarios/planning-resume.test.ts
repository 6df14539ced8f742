import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settlePlan } from "@retinue/core/plan/plan-result";
import {
  failWith,
  hang,
  replaySession,
  type Script,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerPlan, step, stepOf } from "../fixtures/plans.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-plan-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A runtime on the folders and the database of this test; the next one finds what the last one left. */
function open(planner: Script, worker: Script): TestRuntime {
  const database = join(root, "data", "retinue.db");
  const places = { projectDir: root, dataDir: join(root, "data"), database };
  return testRuntime({ main: [], planner, worker }, { ...places, lenient: true });
}

/** Waits, then leaves everything as a killed process would: rows as they are, nothing settled. */
async function abandon(t: TestRuntime, until: () => boolean): Promise<string> {
  while (!until()) await new Promise((resolve) => setImmediate(resolve));
  await t.runtime.record.committed();
  return (await t.runtime.record.listSessions({ limit: 1 })).sessions[0]?.session_id ?? "";
}

const DIAMOND = answerPlan(step("a"), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"]));

test("a killed execution goes on by resume: steps that ended are reused, the open one continues, the plan ends", async () => {
  let hung = false;
  const first = open([DIAMOND], (request) => {
    if (stepOf(request) !== "c") return say(`result of ${stepOf(request)}`);
    hung = true;
    return hang();
  });
  const plan = await first.runtime.planForGoal("the goal");
  void first.runtime.executePlan(plan);
  const done = () => first.models.worker?.requests.length === 3 && hung;
  const sessionId = await abandon(first, done);

  const asked: string[] = [];
  const second = open([], (request) => {
    asked.push(stepOf(request));
    return say(`result of ${stepOf(request)}`);
  });
  expect(await second.runtime.plans.find(plan.id)).toMatchObject({
    status: "running",
    executionSessionId: sessionId,
  });
  await expect(second.runtime.executePlan(plan.id)).rejects.toMatchObject({
    hint: expect.stringContaining(`retinue resume ${sessionId}`),
  });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.status).toBe("completed");
  expect(ended.details).toContain("4 of 4 steps done");
  expect(asked).toEqual(["c", "d"]);
  expect(second.models.main?.requests).toEqual([]);
  const settled = await second.runtime.plans.find(plan.id);
  expect(settled.status).toBe("completed");
  expect(settled.results.map((one) => one.result?.details)).toEqual(
    ["a", "b", "c", "d"].map((id) => `result of ${id}`),
  );
  expect(
    (await second.runtime.record.readRows({ sessionId: sessionId, kind: "runs" })).filter(
      (row) => row.request_type === "delegation",
    ),
  ).toHaveLength(4);

  await second.close();
});

test("an execution that is left for later is neither done nor failed, and its plan ends when it is resumed", async () => {
  let hung = false;
  const first = open([answerPlan(step("a"), step("b", ["a"]))], (request) => {
    if (stepOf(request) === "a") return say("result of a");
    hung = true;
    return hang();
  });
  const plan = await first.runtime.planForGoal("the goal");
  const executed = first.runtime.executePlan(plan).catch((thrown: unknown) => thrown);
  while (!hung) await new Promise((resolve) => setImmediate(resolve));
  await first.runtime.drain(0);
  const { executionSessionId: sessionId, ...left } = await first.runtime.plans.find(plan.id);
  expect(left).toMatchObject({ status: "running", results: [] });
  expect(await executed).toMatchObject({
    name: "RetinueError",
    message: expect.stringContaining("left in the middle"),
    hint: `go on with: retinue resume ${sessionId}`,
  });
  await first.runtime.leave();

  const second = open([], (request) => say(`result of ${stepOf(request)}`));
  const ended = await (await second.runtime.resume(sessionId ?? "")).result;
  expect(ended.details).toContain("2 of 2 steps done");
  expect((await second.runtime.plans.find(plan.id)).status).toBe("completed");
  expect(second.models.worker?.requests).toHaveLength(1);
  await expect(second.runtime.executePlan(plan.id)).rejects.toThrow("completed");
  await second.close();
});

test("a kill while the planner looks for another way loses neither the steps that are done nor the new plan", async () => {
  let asked = 0;
  const first = open(
    () => (asked++ === 0 ? answerPlan(step("a"), step("b", ["a"])) : hang()),
    (request) => (stepOf(request) === "a" ? say("result of a") : failWith("content_filter", "broken")),
  );
  const plan = await first.runtime.planForGoal("the goal");
  void first.runtime.executePlan(plan);
  const sessionId = await abandon(first, () => asked === 2);

  const second = open([answerPlan(step("b2", ["a"]))], (request) => say(`result of ${stepOf(request)}`));
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.status).toBe("completed");
  expect(await second.runtime.plans.find(plan.id)).toMatchObject({ status: "completed", version: 2 });
  expect(second.models.worker?.requests).toHaveLength(1);
  expect(JSON.stringify(second.models.worker?.requests[0]?.prompt)).toContain("result of a");
  await second.close();
});

test("a killed planning session ends with its plan when it is resumed", async () => {
  let hung = false;
  const first = open(() => {
    hung = true;
    return hang();
  }, []);
  first.runtime.planForGoal("the goal").catch(() => {});
  const sessionId = await abandon(first, () => hung);

  const second = open([DIAMOND], []);
  await (await second.runtime.resume(sessionId)).result;
  expect(await second.runtime.plans.list()).toMatchObject([
    { status: "draft", goal: "the goal", project: expect.any(String) },
  ]);
  await second.close();
});

test("an execution that was resumed and then stopped leaves a plan that can go on", async () => {
  let hung = 0;
  const stuck: Script = (request) => {
    if (stepOf(request) === "a") return say("result of a");
    hung++;
    return hang();
  };
  const first = open([answerPlan(step("a"), step("b", ["a"]))], stuck);
  const plan = await first.runtime.planForGoal("the goal");
  void first.runtime.executePlan(plan);
  const sessionId = await abandon(first, () => hung === 1);
  const second = open([], stuck);
  const { result } = await second.runtime.resume(sessionId);
  while (hung < 2) await new Promise((resolve) => setImmediate(resolve));
  second.runtime.cancel(sessionId);
  expect((await result).status).toBe("cancelled");
  expect(await second.runtime.plans.find(plan.id)).toMatchObject({
    status: "failed",
    results: [{ status: "completed" }, { status: "cancelled" }],
  });
  await second.close();
  const third = open([], (request) => say(`result of ${stepOf(request)}`));
  expect((await third.runtime.executePlan(plan.id)).success).toBe(true);
  expect(third.models.worker?.requests).toHaveLength(1);
  await third.close();
});

test("a recorded execution is replayed without asking anyone", async () => {
  const t = open([answerPlan(step("a"), step("b", ["a"]))], (request) => say(`result of ${stepOf(request)}`));
  const { session_id } = await t.runtime.executePlan(await t.runtime.planForGoal("the goal"));
  const options = { agents: t.runtime.agents, env: {} };
  const replayed = await replaySession(options, t.runtime.record, session_id);
  expect(replayed).toMatchObject({ identical: true, runs: 3, modelCalls: 4, divergence: null });
  await t.close();
});

test("a session that no longer executes a plan does not end it", async () => {
  const t = open([DIAMOND], () => failWith("failed", "no"));
  const { id } = await t.runtime.planForGoal("the goal");
  const outcome = await t.runtime.executePlan(id, { replan: false });
  const { record } = t.runtime;
  const again = {
    ...(await t.runtime.plans.find(id)),
    status: "running" as const,
    executionSessionId: "ses_other",
  };
  expect(await record.changePlan(again, ["failed"])).toBe(true);
  expect(await settlePlan({ record, sessionId: outcome.session_id, now: Date.now }, again, outcome)).toBe(
    false,
  );
  expect((await record.readPlan(id))?.status).toBe("running");
  await t.close();
});
