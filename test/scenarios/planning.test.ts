import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { readTree } from "@retinue/core/record/read-tree";
import { RetinueError } from "@retinue/core/schema/error";
import type { PlanResult } from "@retinue/core/schema/plan";
import { after, callTool, failWith, hang, type Script, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { answerPlan, step, stepOf, workTools } from "../fixtures/plans.ts";

const GOAL = "Make the discount right";
const statuses = (result: PlanResult) =>
  Object.fromEntries(result.steps.map((one) => [one.step_id, one.status]));

/** A runtime with a leader, a planner and one worker for everything. */
function world(planner: Script, worker: Script, more: Parameters<typeof testRuntime>[1] = {}) {
  return testRuntime({ main: [], planner, worker }, more);
}

test("a plan is made by a real run of the planner under the leader, checked and stored as a draft", async () => {
  await using t = world(
    [answerPlan(step("look"), step("change", ["look"], { files: ["./src/../a.ts"] }))],
    [],
  );
  const plan = await t.runtime.planForGoal(GOAL);
  expect(plan).toMatchObject({
    status: "draft",
    version: 1,
    goal: GOAL,
    summary: "step by step",
    agent: "main",
  });
  expect(plan.steps.map(({ id, dependsOn, files }) => ({ id, dependsOn, files }))).toEqual([
    { id: "look", dependsOn: [], files: [] },
    { id: "change", dependsOn: ["look"], files: ["a.ts"] },
  ]);
  expect(t.trace()).toEqual(["main > planner: completed", "main: completed"]);
  const asked = JSON.stringify(t.models.planner?.requests[0]?.prompt);
  expect(asked).toContain(GOAL);
  expect(asked).toContain("`worker`: Plays worker.");
  expect(await t.runtime.plans.find(plan.id)).toEqual(plan);
  expect(t.models.main?.requests).toEqual([]);
});

test("a plan that is not sound goes back once with everything that is wrong with it", async () => {
  await using t = world(
    [
      answerPlan(
        step("a", ["b"]),
        step("a", ["nowhere"], { role: "wizard" }),
        step("b", [], { files: ["../secrets", "/etc/passwd", "link/x"] }),
      ),
      answerPlan(step("a")),
    ],
    [],
  );
  symlinkSync("/etc", join(t.projectDir, "link"));
  const plan = await t.runtime.planForGoal(GOAL);
  expect(plan.steps).toHaveLength(1);
  const sentBack = String(JSON.stringify(t.models.planner?.requests[1]?.prompt));
  for (const problem of [
    "two steps have the id 'a'",
    "step 'a' depends on 'nowhere', which is no step",
    "step 'a' is for 'wizard', which is no agent that can be delegated to; available: worker",
    "the file '../secrets', which is not in the project",
    "the file '/etc/passwd', which is not in the project",
    "the file 'link/x', which is not in the project",
  ])
    expect(sentBack).toContain(problem);
});

test.each([
  ["a circle", answerPlan(step("a", ["b"]), step("b", ["a"])), "a → b → a"],
  ["no steps", answerPlan(), "steps"],
  ["empty criteria", answerPlan(step("a", [], { successCriteria: [] })), "successCriteria"],
  ["blank criteria", answerPlan(step("a", [], { successCriteria: [" "] })), "successCriteria"],
  ["too many steps", answerPlan(...Array.from({ length: 4 }, (_, at) => step(`s${at}`))), "at most 3"],
  ["no JSON", say("I would rather not."), "no JSON object with steps"],
])(
  "a second plan with %s is a failure with a code and a reason, and nothing is stored",
  async (_, answer, reason) => {
    await using t = world([answer, answer], []);
    const failed = await t.runtime.planForGoal(GOAL, { maxSteps: 3 }).catch((thrown: unknown) => thrown);
    expect(failed).toBeInstanceOf(RetinueError);
    expect(failed).toMatchObject({ code: "failed", message: expect.stringContaining(reason) });
    expect(await t.runtime.plans.list()).toEqual([]);
  },
);

test("six steps with a diamond run in the order of their needs, the independent ones at the same time", async () => {
  const open: string[] = [];
  const log: string[] = [];
  const all = Promise.withResolvers<void>();
  const middle = ["api", "store", "docs"];
  await using t = world(
    [
      answerPlan(
        step("join", middle),
        step("api", ["look"]),
        step("store", ["look"]),
        step("docs", ["look"]),
        step("look"),
        step("last", ["join"]),
      ),
    ],
    (request) => {
      const id = stepOf(request);
      log.push(id);
      if (!middle.includes(id)) return say(`result of ${id}`);
      open.push(id);
      if (open.length === middle.length) all.resolve();
      // Answers only once all three are asked at the same time: run one by one they would never end.
      return after(all.promise, say(`result of ${id}`));
    },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  const result = await t.runtime.executePlan(plan);
  expect(result).toMatchObject({ status: "completed", success: true, replanned: false, review: null });
  expect(result.summary).toBe("6 of 6 steps done");
  expect([log[0], log.slice(1, 4).sort(), log[4], log[5]]).toEqual([
    "look",
    middle.toSorted(),
    "join",
    "last",
  ]);
  expect(result.steps.map((one) => one.step_id)).toEqual(plan.steps.map((one) => one.id));
  const prompt = JSON.stringify(t.models.worker?.requests[4]?.prompt);
  for (const id of middle) expect(prompt).toContain(`result of ${id}`);
  expect(prompt).not.toContain("result of look");
  expect(prompt).toContain("- join is done");
  expect(await t.runtime.plans.find(plan.id)).toMatchObject({
    status: "completed",
    executionSessionId: result.session_id,
  });
  const rows = await t.runtime.record.readRows({ sessionId: result.session_id, kind: "runs" });
  expect(rows.map((row) => [row.agent_role, row.agent_depth])).toEqual([
    ["main", 0],
    ...Array.from({ length: 6 }, () => ["worker", 1]),
  ]);
});

test("files, tests and the tool calls of each phase are measured, and changes are reviewed", async () => {
  await using t = testRuntime(
    {
      main: [],
      planner: [callTool("check", {}), answerPlan(step("make"), step("test", ["make"]))],
      worker: (request) => {
        if (request.turn > 0) return say("done");
        return stepOf(request) === "make" ? callTool("touch", { file: "a.ts" }) : callTool("check", {});
      },
      reviewer: [callTool("check", {}), callTool("check", {}), say("No findings.")],
    },
    { tools: workTools },
  );
  const result = await t.runtime.executePlan(await t.runtime.planForGoal(GOAL));
  expect(result).toMatchObject({
    success: true,
    files_created: ["a.ts"],
    files_modified: [],
    tests_run: 5,
    tests_passed: 4,
    tool_calls: { planning: 1, execution: 2, review: 2, total: 5 },
    review: { agent: "reviewer", details: "No findings." },
  });
  expect(JSON.stringify(t.models.reviewer?.requests[0]?.prompt)).toContain("- a.ts");
  const root = (await readTree(t.runtime.record, result.session_id))[0];
  expect(root?.response_content).toContain("Tool calls: planning 1, execution 2, review 2, total 5");
});

test("a step is told that a review follows, so that its agent has no other one made; a reviewer is not", async () => {
  await using t = testRuntime({
    main: [],
    planner: [answerPlan(step("change"), step("judge", ["change"], { role: "reviewer" }))],
    worker: [say("changed")],
    reviewer: [say("fine")],
  });
  await t.runtime.executePlan((await t.runtime.planForGoal(GOAL)).id);
  const told = (name: string) => JSON.stringify(t.models[name]?.requests[0]?.prompt);
  expect(told("worker")).toContain("The plan has its own review of everything at the end");
  expect(told("reviewer")).not.toContain("The plan has its own review");
});

test.each([
  [
    "- **high** a.ts:3 loses data when the list is empty\n- low: a name",
    "a.ts:3 loses data when the list is empty",
  ],
  ["1. High: src/pay.ts:9 – charges twice", "src/pay.ts:9 – charges twice"],
  ["[high] pay.ts:9 charges twice", "pay.ts:9 charges twice"],
  ["Severity: high. pay.ts charges twice", "pay.ts charges twice"],
  ["- **Severity**: High — pay.ts charges twice", "pay.ts charges twice"],
  ["No high findings. - low: a name", null],
  ["It is high time to ship this.", null],
])("a review that says %j puts %j first, with a way to go on", async (said, finding) => {
  await using t = testRuntime({
    main: [],
    planner: [answerPlan(step("judge", [], { role: "reviewer" }))],
    reviewer: [say(said)],
  });
  const result = await t.runtime.executePlan((await t.runtime.planForGoal(GOAL)).id);
  const expected =
    finding === null ? "1 of 1 steps done" : `The review found, high: ${finding}; 1 of 1 steps done`;
  expect(result.summary).toBe(expected);
  expect(result.warnings.some((warning) => warning.startsWith("go on with: retinue run"))).toBe(
    finding !== null,
  );
});

test("what the planner calls a risk is kept with the plan, and through an edit", async () => {
  const draft = { summary: "one step", risks: ["The old API may still be used."], steps: [step("a")] };
  await using t = world([say(JSON.stringify(draft))], []);
  const plan = await t.runtime.planForGoal(GOAL);
  expect(plan.risks).toEqual(["The old API may still be used."]);
  const edited = await t.runtime.plans.edit(plan.id, { steps: [step("b")] });
  expect(edited.risks).toEqual(plan.risks);
});

test("a review that the plan has at its end is the review, and no other is made", async () => {
  await using t = testRuntime(
    {
      main: [],
      planner: [answerPlan(step("make"), step("judge", ["make"], { role: "reviewer" }))],
      worker: [callTool("touch", { file: "a.ts" }), say("done")],
      reviewer: [callTool("check", {}), say("Good.")],
    },
    { tools: workTools },
  );
  const result = await t.runtime.executePlan(await t.runtime.planForGoal(GOAL));
  expect(result.review?.details).toBe("Good.");
  expect(result.tool_calls).toEqual({ planning: 0, execution: 1, review: 1, total: 2 });
});

test("after a failed step the planner is told how things stand, and its new steps replace what is not done", async () => {
  const log: string[] = [];
  await using t = world(
    [
      answerPlan(step("a"), step("b", ["a"]), step("c", ["b"]), step("d")),
      (request) => {
        expect(request.task).toContain("`a` (worker, Do a): completed. result of a");
        expect(request.task).toContain("`b` (worker, Do b): failed. no such table");
        expect(request.task).toContain("`c` (worker, Do c): skipped. it needs 'b', which did not succeed");
        return answerPlan(step("b2", ["a"]), step("c", ["b2", "d"]));
      },
    ],
    (request) => {
      const id = stepOf(request);
      log.push(id);
      return id === "b" ? failWith("content_filter", "no such table") : say(`result of ${id}`);
    },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  const result = await t.runtime.executePlan(plan);
  expect(log.sort()).toEqual(["a", "b", "b2", "c", "d"]);
  expect(result).toMatchObject({ status: "completed", success: true, replanned: true });
  expect(result.steps.map((one) => [one.step_id, one.status, one.replaced ?? false])).toEqual([
    ["a", "completed", false],
    ["d", "completed", false],
    ["b2", "completed", false],
    ["c", "completed", false],
    ["b", "failed", true],
  ]);
  const last = JSON.stringify(t.models.worker?.requests.at(-1)?.prompt);
  expect(last).toContain("result of d");
  expect(last).toContain("result of b2");
  expect(await t.runtime.plans.find(plan.id)).toMatchObject({ version: 2, status: "completed" });
});

test("a plan is changed once; a second failure ends it with everything that was done", async () => {
  await using t = world(
    [answerPlan(step("a"), step("b")), answerPlan(step("b2"), step("e", ["b2"]))],
    (request) => (stepOf(request) === "a" ? say("kept") : failWith("content_filter", "broken")),
  );
  const plan = await t.runtime.planForGoal(GOAL);
  const result = await t.runtime.executePlan(plan);
  expect(result).toMatchObject({ status: "failed", success: false, replanned: true });
  expect(result.summary).toBe("1 of 3 steps done; failed: b2; not begun: e");
  expect(result.steps[0]).toMatchObject({ step_id: "a", success: true, result: { details: "kept" } });
  expect((await t.runtime.record.readSession(result.session_id))?.status).toBe("failed");
  expect((await t.runtime.plans.find(plan.id)).status).toBe("failed");
});

test("with continue independent steps go on after a failure, with stop none begins", async () => {
  for (const onFailure of ["continue", "stop"] as const) {
    await using t = world(
      [answerPlan(step("bad"), step("x"), step("y", ["x"]))],
      (request) => (stepOf(request) === "bad" ? failWith("content_filter", "broken") : say("fine")),
      { agents: { main: { subagents: { allow: ["*"], maxConcurrent: 1 } } } },
    );
    const plan = await t.runtime.planForGoal(GOAL);
    const result = await t.runtime.executePlan(plan, { onFailure, replan: false });
    const rest = onFailure === "stop" ? "skipped" : "completed";
    expect(statuses(result)).toEqual({ bad: "failed", x: rest, y: rest });
    expect(result).toMatchObject({ status: "failed", replanned: false });
  }
});

test("a plan that failed goes on where it stopped: what is done is not done again, and its results are handed over", async () => {
  let broken = true;
  await using t = world([answerPlan(step("a"), step("b", ["a"]))], (request) => {
    if (stepOf(request) === "a") return say("the answer is 42");
    return broken ? failWith("content_filter", "broken") : say("done");
  });
  const plan = await t.runtime.planForGoal(GOAL);
  const first = await t.runtime.executePlan(plan, { replan: false });
  expect(statuses(first)).toEqual({ a: "completed", b: "failed" });
  broken = false;
  const second = await t.runtime.executePlan(plan.id, { replan: false });
  expect(second.success).toBe(true);
  expect(second.steps.map((one) => one.reused ?? false)).toEqual([true, false]);
  expect(t.models.worker?.requests).toHaveLength(3);
  expect(JSON.stringify(t.models.worker?.requests[2]?.prompt)).toContain("the answer is 42");
  await expect(t.runtime.executePlan(plan.id)).rejects.toThrow("is completed and cannot be executed again");
});

test("cancelling ends every step under way, keeps what was done and revives nothing", async () => {
  const begun = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let open = 0;
  await using t = world(
    [answerPlan(step("a"), step("b", ["a"]), step("c", ["a"]), step("d", ["b"]))],
    (request) => {
      if (stepOf(request) === "a") return say("kept");
      if (++open === 2) begun.resolve();
      return hang();
    },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  const running = t.runtime.executePlan(plan, { signal: stopping.signal });
  await begun.promise;
  expect((await t.runtime.plans.find(plan.id)).status).toBe("running");
  await expect(t.runtime.executePlan(plan)).rejects.toThrow("is being executed in session");
  await expect(t.runtime.plans.edit(plan.id, { steps: [step("x")] })).rejects.toThrow("is being executed");
  stopping.abort();
  const result = await running;
  expect(statuses(result)).toEqual({ a: "completed", b: "cancelled", c: "cancelled", d: "skipped" });
  expect(result).toMatchObject({ status: "cancelled", success: false });
  expect((await t.runtime.plans.find(plan.id)).status).toBe("failed");
  expect((await t.runtime.record.readSession(result.session_id))?.status).toBe("cancelled");
});

test("planned steps pass the same gate: rights, sub-agents and budget of the leader bind them", async () => {
  await using t = testRuntime(
    {
      main: [],
      planner: [answerPlan(step("write"), step("more", ["write"]))],
      worker: [callTool("touch", { file: "a.ts" }), (request) => say(request.last)],
      outsider: [],
    },
    {
      tools: workTools,
      agents: {
        main: { subagents: { allow: ["planner", "worker"] }, grants: ["check"], limits: { spawns: 1 } },
      },
    },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  await expect(
    t.runtime.plans.edit(plan.id, { steps: [step("x", [], { role: "outsider" })] }),
  ).rejects.toThrow("'outsider', which is no agent that can be delegated to; available: worker");
  const result = await t.runtime.executePlan(plan, { replan: false });
  expect(result.files_modified).toEqual([]);
  expect(result.steps[0]?.result?.details).toContain("touch");
  expect(result.steps[1]).toMatchObject({
    status: "failed",
    reason: expect.stringContaining("limit of 1 runs"),
  });
});

test("a leader who cannot reach a planner is told so before anything is recorded", async () => {
  await using t = testRuntime({ main: [], worker: [] });
  await expect(t.runtime.planForGoal(GOAL)).rejects.toMatchObject({ code: "config" });
  expect((await t.runtime.record.listSessions()).sessions).toEqual([]);
});

test("what a person must fix is not planned around", async () => {
  await using t = world([answerPlan(step("a"))], [failWith("auth", "no key")]);
  const result = await t.runtime.executePlan(await t.runtime.planForGoal(GOAL));
  expect(result).toMatchObject({ status: "failed", replanned: false, warnings: [] });
});

test("an edit makes a draft of a new version, which must be approved again", async () => {
  await using t = world([answerPlan(step("a"))], []);
  const { id } = await t.runtime.planForGoal(GOAL);
  expect((await t.runtime.plans.approve(id)).status).toBe("approved");
  const edited = await t.runtime.plans.edit(id, { steps: [step("a"), step("b", ["a"])] });
  expect(edited).toMatchObject({ version: 2, status: "draft", goal: GOAL });
  expect(await t.runtime.plans.find(id)).toEqual(edited);
});

test("untrusted text in a result of an earlier execution taints the next one, whose outbound calls then need a person", async () => {
  let broken = true;
  const fetch = defineTool<object>({
    name: "fetch",
    description: "x",
    input: { type: "object" },
    untrusted: true,
    execute: async () => "text from outside",
  });
  const send = defineTool<object>({
    name: "send",
    description: "x",
    input: { type: "object" },
    outbound: true,
    execute: async () => "sent",
  });
  await using t = world(
    [answerPlan(step("a"), step("b", ["a"]))],
    (request) => {
      if (request.turn > 0) return say(request.last);
      if (stepOf(request) === "a") return callTool("fetch", {});
      return broken ? failWith("auth", "no key") : callTool("send", {});
    },
    { tools: [fetch, send] },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  await t.runtime.executePlan(plan);
  broken = false;
  const result = await t.runtime.executePlan(plan.id);
  expect(result.steps[1]?.result?.details).toContain("'send' needs approval");
});

test.each([
  ["taints its execution", false],
  ["taints its execution also if the planner's session was removed", true],
])("a plan that a tainted planner made %s", async (_, isRemoved) => {
  const fetch = defineTool<object>({
    name: "fetch",
    description: "x",
    input: { type: "object" },
    untrusted: true,
    execute: async () => "text from outside",
  });
  const send = defineTool<object>({
    name: "send",
    description: "x",
    input: { type: "object" },
    outbound: true,
    execute: async () => "sent",
  });
  await using t = world(
    [callTool("fetch", {}), answerPlan(step("a"))],
    [callTool("send", {}), (request) => say(request.last)],
    { tools: [fetch, send] },
  );
  const plan = await t.runtime.planForGoal(GOAL);
  if (isRemoved) {
    const { record } = t.runtime;
    const sessionId = plan.planning.sessionId ?? "";
    while ((await record.whyKept(sessionId)) !== null) await new Promise((resolve) => setImmediate(resolve));
    expect(await record.deleteSession(sessionId)).toBe(true);
  }
  const result = await t.runtime.executePlan(plan);
  expect(result.steps[0]?.result?.details).toContain("'send' needs approval");
});
