import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Host, SpawnRequest } from "../run/run.ts";
import type { MessageRow } from "../schema/record.ts";
import type { RunRequest } from "../session/root-run.ts";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  say,
  type TestRuntime,
  testRuntime,
} from "../testing/index.ts";
import { defineTool } from "../tools/tool.ts";
import { spawnRun } from "./spawn-run.ts";

const SECRET = "sk-test-0123456789abcdefghij";
const done = say("done");
const env = { SERVICE_API_KEY: SECRET };

async function readRuns(t: TestRuntime, sessionId: string): Promise<MessageRow[]> {
  return t.runtime.record.readRows({ sessionId, kind: "runs" });
}
const metadataOf = (row: MessageRow | undefined) => JSON.parse(row?.metadata_json ?? "{}");
const startedAgents = (t: TestRuntime) =>
  t.events.flatMap((event) => (event.type === "run.started" ? [event] : []));

test("the row of a run says what it is, what it was asked and what it may spend", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "look", {
          context: "selective",
          successCriteria: "found",
          limits: { turns: 3 },
        }),
        done,
      ],
      worker: [done],
    },
    { agents: { lead: { limits: { minutes: 9 } } } },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead, worker] = await readRuns(t, session_id);
  expect(lead).toMatchObject({
    ...{ request_type: "prompt", agent_role: "lead", agent_depth: 0, model_id: "scripted/lead" },
    ...{
      request_content: "go",
      max_iterations: 20,
      max_duration_ms: 540_000,
      call_id: null,
      context_mode: null,
    },
  });
  expect(metadataOf(lead)).not.toHaveProperty("task");
  expect(worker).toMatchObject({
    ...{ request_type: "delegation", agent_role: "worker", agent_depth: 1, model_id: "scripted/worker" },
    ...{ max_iterations: 3, call_id: "call-0-0", context_mode: "selective" },
  });
  expect(worker?.request_content).toContain("## Success criteria");
  expect(metadataOf(worker)).toMatchObject({
    ...{ task: "look", attempt: 0, parentRun: lead?.run_id, parentAgent: "lead" },
    ...{ criteria: "found", limits: { turns: 3 } },
  });
  expect(startedAgents(t)).toMatchObject([
    {
      agent: "lead",
      parentRunId: null,
      callId: null,
      depth: 0,
      task: "go",
      messageId: lead?.id,
      model: "scripted/lead",
    },
    {
      agent: "worker",
      parentRunId: lead?.run_id,
      callId: "call-0-0",
      depth: 1,
      task: "look",
      messageId: worker?.id,
    },
  ]);
});

test("no secret of a delegation stands in the record or in an event: not in task, criteria or a task's id", async () => {
  const more = { successCriteria: `${SECRET} works` };
  const tasks = ["one", "two"].map((name) => ({
    id: `${name}-${SECRET}`,
    agent: "worker",
    task: `try ${SECRET}`,
    ...more,
  }));
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([...tasks, { id: `three-${SECRET}`, agent: "nobody", task: `try ${SECRET}` }]),
        done,
      ],
      worker: { eachRun: [done] },
    },
    { env },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: `go ${SECRET}` });
  const runs = await readRuns(t, session_id);
  expect(runs).toHaveLength(4);
  expect(JSON.stringify(runs)).not.toContain(SECRET);
  expect(JSON.stringify(startedAgents(t))).not.toContain(SECRET);
});

test("the row of a run that ended has its own figures, what it changed, and how it ended", async () => {
  const change = defineTool<object>({
    name: "change",
    description: "x",
    input: { type: "object" },
    execute: async (_, { projectDir, changed }) => {
      const [old, made] = [join(projectDir, "old.txt"), join(projectDir, "made.txt")];
      writeFileSync(made, "x");
      changed(made, "created");
      rmSync(old);
      changed(old, "deleted");
      return "changed";
    },
  });
  const usage = { input: 100, output: 10 };
  const settings = {
    prices: { "scripted/lead": { input: 1, output: 1 }, "scripted/worker": { input: 1, output: 1 } },
  };
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "x"),
        callTool("change", {}, usage),
        say("# Report\nAll is changed.", usage),
      ],
      worker: [failWith("auth", "no key")],
    },
    { tools: [change], settings, agents: { lead: { limits: { turns: 3 } } } },
  );
  writeFileSync(join(t.projectDir, "old.txt"), "x");
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead, worker] = await readRuns(t, result.session_id);
  expect(JSON.parse(lead?.files_modified_json ?? "[]").toSorted()).toEqual(["made.txt", "old.txt"]);
  expect(lead).toMatchObject({
    ...{
      status: "completed",
      response_content: "# Report\nAll is changed.",
      response_summary: result.summary,
    },
    ...{ iteration_count: 3, total_tokens: result.tokens.self, cost_usd: result.cost_usd.self },
  });
  expect(worker).toMatchObject({ status: "failed", error_message: expect.stringContaining("no key") });
  expect(metadataOf(worker).result).toMatchObject({ status: "failed", error: { type: "auth" } });
});

test("a task that was given up before it became a run has a row with its place, its words and the reason", async () => {
  const tasks = [
    { id: "t1", agent: "worker", task: "first" },
    { id: "t2", agent: "worker", task: "second", dependsOn: ["t1"] },
  ];
  await using t = testRuntime({
    lead: [callDelegateMany(tasks), done],
    worker: [failWith("auth", "no key")],
  });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead, first, second] = await readRuns(t, session_id);
  expect(second).toMatchObject({
    ...{ request_type: "delegation", agent_depth: 1, agent_role: "worker", call_id: "call-0-0" },
    ...{
      parent_message_id: first?.parent_message_id,
      request_content: "second",
      bailout_reason: "not_started",
    },
    ...{
      status: "cancelled",
      response_summary: expect.stringContaining("t1"),
      total_tokens: 0,
      iteration_count: 0,
    },
  });
  expect(second?.error_message).toBeTruthy();
  expect(metadataOf(second)).toMatchObject({ taskId: "t2", parentRun: lead?.run_id, parentAgent: "lead" });
  const events = t.events.filter((event) => "runId" in event && event.runId === second?.run_id);
  expect(events.map(({ type }) => type)).toEqual(["run.started", "run.ended"]);
  expect(events[0]).toMatchObject({
    parentRunId: lead?.run_id,
    depth: 1,
    task: "second",
    messageId: second?.id,
  });
});

test("what a run knows from the start stands in its row before its first turn", async () => {
  const page = defineTool<object>({
    name: "page",
    description: "x",
    input: { type: "object" },
    untrusted: true,
    execute: async () => "a page",
  });
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), callTool("page", {}), callDelegate("worker", "x"), done, done],
      worker: { eachRun: [done] },
    },
    { tools: [page] },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const fork = { sessionId: session_id, seq: Number.MAX_SAFE_INTEGER };
  const again = await t.runtime.run({ agent: "lead", task: "go on", fork });
  const [lead, early, late] = (await readRuns(t, session_id)).map(metadataOf);
  for (const metadata of [lead, early]) {
    expect(metadata).not.toHaveProperty("tainted");
    expect(metadata).not.toHaveProperty("privateData");
  }
  expect(late).toMatchObject({ tainted: true, privateData: true });
  const [forked] = (await readRuns(t, again.session_id)).map(metadataOf);
  const [{ run_id }] = (await readRuns(t, session_id)) as [MessageRow];
  expect(forked).toMatchObject({
    ...{ tainted: true, privateData: true, forkedFrom: run_id },
    fork: { sessionId: session_id },
  });
});

/** Internals that ask for every run in another way. */
const asking = (
  change: (request: SpawnRequest) => Partial<SpawnRequest>,
): { runChild: Host["runChild"] } => ({
  runChild: (request) => spawnRun({ ...request, ...change(request) }),
});

test("no matter who asks for a run, its row says without secrets what it was asked, by which criteria, as which task", async () => {
  const internals = asking(() => ({
    ...{ message: `message ${SECRET} end`, task: `task ${SECRET} end`, criteria: `criteria ${SECRET} end` },
    taskId: `id ${SECRET} end`,
  }));
  await using t = testRuntime({ lead: [done] }, { env, internals, lenient: true });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead] = await readRuns(t, session_id);
  expect(lead?.request_content).toBe("message [redacted:secret] end");
  expect(metadataOf(lead)).toMatchObject({
    task: "task [redacted:secret] end",
    criteria: "criteria [redacted:secret] end",
    taskId: "id [redacted:secret] end",
  });
  expect(JSON.stringify(startedAgents(t))).not.toContain(SECRET);
});

test("what a run was told besides its task, and what it knows by that, stand in its row", async () => {
  const internals = asking(() => ({ told: "a report", tainted: true, privateData: true, cwd: "." }));
  await using t = testRuntime({ lead: [done] }, { internals });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead] = await readRuns(t, session_id);
  expect(metadataOf(lead)).toMatchObject({ told: "a report", tainted: true, privateData: true, cwd: "." });
});

test("the row of a run has its own tokens and costs, not those of the runs below it", async () => {
  const usage = { input: 100, output: 10 };
  const settings = {
    prices: { "scripted/lead": { input: 1, output: 1 }, "scripted/worker": { input: 1, output: 1 } },
  };
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), say("done", usage)], worker: [say("done", usage)] },
    { settings },
  );
  const { session_id, tokens, cost_usd } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead] = await readRuns(t, session_id);
  expect(tokens.subtree).toBeGreaterThan(tokens.self);
  expect(lead).toMatchObject({ total_tokens: tokens.self, cost_usd: cost_usd.self });
  expect(metadataOf(lead).result).toMatchObject({ tokens, cost_usd });
});

test("the row of a run that was cut off says what ended it, and that of one that was not says nothing", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), done],
      worker: () => callDelegate("nobody", "x"),
    },
    { agents: { worker: { limits: { turns: 1 }, subagents: { allow: ["*"] } } }, lenient: true },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [lead, worker] = await readRuns(t, session_id);
  expect(metadataOf(worker).result.bailout_reason).toBeTruthy();
  expect(worker?.bailout_reason).toBe(metadataOf(worker).result.bailout_reason);
  expect(lead?.bailout_reason).toBeNull();
});

test("data in a form that was asked for, or that is a flow's own, are kept in a row; others are in the details", async () => {
  const found = { found: "it" };
  const answer = { type: "object", properties: { found: { type: "string" } }, required: ["found"] };
  const keptFor = async (more: Pick<RunRequest, "deliverables">, hasOwnForm = false) => {
    const internals = asking(({ profile }) => ({
      profile: { ...profile, flow: { ...profile.flow, hasOwnForm } },
    }));
    await using t = testRuntime({ lead: [say(JSON.stringify(found))] }, { internals });
    const result = await t.runtime.run({ agent: "lead", task: "go", ...more });
    expect(result.data).toEqual(found);
    const [lead] = await readRuns(t, result.session_id);
    expect(metadataOf(lead).result).not.toHaveProperty("data");
    return metadataOf(lead).data;
  };
  expect(await keptFor({})).toBeUndefined();
  expect(await keptFor({ deliverables: [{ answer }] })).toEqual(found);
  expect(await keptFor({}, true)).toEqual(found);
});
