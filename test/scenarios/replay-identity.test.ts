import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { defineAgent } from "@retinue/core/agents/define-agent";
import {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  hang,
  replaySession,
  type Script,
  type ScriptRequest,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const long = defineTool<object>({
  name: "long",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async () => "a long text ".repeat(5_000),
});

const IDENTICAL = { identical: true, divergence: null };
const runIdIn = ({ prompt }: ScriptRequest) => /run_id="(run_\w+)"/.exec(prompt)?.[1] ?? "none";

test("all root runs of a session are replayed, each with its own agent and task", async () => {
  await using t = testRuntime({
    lead: [say("one")],
    worker: (request) => say(`done ${request.task}`),
  });
  const results = await t.runtime.fanOut([
    ["lead", "1"],
    ["worker", "2"],
    ["worker", "3"],
  ]);
  const sessionId = results[0]?.session_id ?? "";
  expect(await t.runtime.replay(sessionId)).toMatchObject({ ...IDENTICAL, runs: 3, modelCalls: 3 });
  const [lead, worker] = ["lead", "worker"].map((name) => t.runtime.agents.get(name));
  const other = defineAgent({
    name: "worker",
    description: "Plays worker.",
    prompt: "Another.",
    model: "worker",
  });
  const changed = await replaySession(
    { agents: [lead ?? other, other], env: {} },
    t.runtime.record,
    sessionId,
  );
  expect(changed.divergence).toMatchObject({ run: "worker", what: "the system prompt", now: "Another." });
  const gone = await replaySession({ agents: [worker ?? other], env: {} }, t.runtime.record, sessionId);
  expect(gone.divergence).toMatchObject({
    run: "lead",
    turn: 0,
    now: expect.stringContaining("no agent 'lead'"),
  });
});

test("ids that a model quoted, measured times and tokens are the recorded ones, so that texts built on them are equal", async () => {
  await using t = testRuntime({
    lead: [
      callDelegate("worker", "first"),
      (request) => callDelegate("worker", "second", { fromResults: [runIdIn(request)] }),
      callDelegate("worker", "third", { context: "full" }),
      (request) => say(request.prompt),
    ],
    worker: (request) => say(`done: ${request.task}`, { input: 7, output: 3 }),
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("Results this builds on");
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ ...IDENTICAL, runs: 4 });
});

test("results that came while their parent went on reach it in the same turns", async () => {
  const slow = Promise.withResolvers<void>();
  const later = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "worker", task: "fast" } },
          { tool: "delegate", input: { agent: "worker", task: "slow" } },
          { tool: "delegate", input: { agent: "worker", task: "later" } },
        ]),
        () => {
          slow.resolve();
          return callTool("collect_results", { wait: "any" });
        },
        (request) => {
          later.resolve();
          return callTool("collect_results", { ids: [/still running: (run_\w+)/.exec(request.last)?.[1]] });
        },
        say("all collected"),
      ],
      worker: ({ task }) =>
        task === "fast" ? say("fast") : after(task === "slow" ? slow.promise : later.promise, say(task)),
    },
    { agents: { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.summary).toBe("all collected");
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ ...IDENTICAL, runs: 4 });
});

test("results that a parent had not collected when it answered are told to it again at the same point", async () => {
  const [slow, slower] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const two = (...tasks: string[]) =>
    callDelegateMany(tasks.map((task) => ({ id: task, agent: "worker", task })));
  await using t = testRuntime(
    {
      lead: [
        two("fast", "slow"),
        () => {
          slow.resolve();
          return say("too early");
        },
        two("faster", "slower"),
        () => {
          slower.resolve();
          return callTool("collect_results", {});
        },
        (request) => say(request.prompt),
      ],
      worker: ({ task }) => {
        if (task === "slow") return after(slow.promise, say(task));
        return task === "slower" ? after(slower.promise, say(task)) : say(task);
      },
    },
    { agents: { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("had not been collected yet");
  expect(result.details.match(/still running: slow\w* \(worker\): slow/g)).toHaveLength(2);
  expect(await t.runtime.replay(result.session_id)).toMatchObject(IDENTICAL);
});

test("a run that was told to mend what it must leave is told the same again", async () => {
  await using t = testRuntime(
    { lead: [say("done"), say("really done")] },
    {
      tools: [
        defineTool<object>({
          name: "shell",
          description: "x",
          input: { type: "object" },
          execute: async () => ({ text: "exit 1\n\n- `a`: b\n\nthe end", isError: true }),
        }),
      ],
      agents: { lead: { deliverables: [{ command: "npm test" }, { file: "a.txt" }] } },
    },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "failed", error: { type: "deliverable" } });
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ ...IDENTICAL, modelCalls: 2 });
});

test("neither the data folder nor the workspace, nor files that were handed over, need be there any more", async () => {
  const scripts: Record<string, Script> = {
    lead: [
      callTool("long", {}),
      callDelegate("worker", "look"),
      (request) =>
        callDelegate("worker", "look again", {
          fromResults: [runIdIn(request)],
          contextFiles: ["notes.txt"],
        }),
      say("done"),
    ],
    worker: () => say("a long answer ".repeat(3_000)),
  };
  const agents = { worker: { workspace: "isolated" as const } };
  await using t = testRuntime(scripts, { tools: [...codeTools, long], agents });
  writeFileSync(join(t.projectDir, "notes.txt"), "what it said then");
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const [, task] = t.models.worker?.requests[1]?.prompt ?? [];
  expect(JSON.stringify(task)).toContain("artefacts/run_");
  expect(JSON.stringify(task)).toContain("what it said then");
  rmSync(t.dataDir, { recursive: true, force: true });
  writeFileSync(join(t.projectDir, "notes.txt"), "what it says now");
  const elsewhere = mkdtempSync(join(tmpdir(), "retinue-elsewhere-"));
  const options = { agents: t.runtime.agents, tools: [...codeTools, long], env: { RETINUE_HOME: elsewhere } };
  expect(await replaySession(options, t.runtime.record, result.session_id)).toMatchObject(IDENTICAL);
  rmSync(elsewhere, { recursive: true });
  expect(() => rmSync(t.dataDir, { recursive: true })).toThrow("ENOENT");
});

test("a task's own model, tools, limits and deliverables are those of then", async () => {
  await using t = testRuntime(
    {
      lead: [
        callTool("long", {}),
        callTool("write", { path: "workspace:report.md", content: "x" }),
        say("not yet"),
        callTool("write", { path: "workspace:report.md", content: "x" }),
        say("enough"),
      ],
    },
    {
      tools: [...codeTools, long],
      agents: { lead: { model: "nowhere/else", limits: { turns: 9 } } },
      disallowedTools: ["shell"],
    },
  );
  const result = await t.runtime.run({
    agent: "lead",
    task: "go",
    model: "lead",
    tools: ["write"],
    limits: { turns: 4 },
    deliverables: [{ file: "report.md" }, { file: "other.md" }],
  });
  expect(result).toMatchObject({ status: "failed", error: { type: "deliverable" } });
  expect(result.deliverables).toHaveLength(2);
  const options = { agents: t.runtime.agents, tools: [...codeTools, long], env: {} };
  expect(await replaySession(options, t.runtime.record, result.session_id)).toMatchObject({
    ...IDENTICAL,
    modelCalls: 5,
  });
});

test("another model for an agent is a divergence", async () => {
  await using t = testRuntime({ lead: [say("one")] });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const lead = defineAgent({ name: "lead", description: "x", prompt: "You are lead.", model: "fast" });
  const { divergence } = await replaySession({ agents: [lead], env: {} }, t.runtime.record, session_id);
  expect(divergence).toEqual({ run: "lead", turn: 1, what: "the model", recorded: "lead", now: "fast" });
});

test("what a person approved, refused, revoked and said in between is repeated", async () => {
  await using t = testRuntime(
    {
      lead: [
        callTool("write", { path: "a.txt", content: "a" }),
        callTool("write", { path: "b.txt", content: "b" }),
        callTool("read", { path: "a.txt" }),
        () => {
          steer();
          return say("done");
        },
        (request) => say(request.last),
      ],
    },
    {
      tools: codeTools,
      agents: { lead: { askTools: ["write"] } },
      approve: async ({ input }) => {
        const allowed = JSON.stringify(input).includes("a.txt");
        if (!allowed) t.runtime.revoke("read");
        return { allowed, by: "Ada" };
      },
    },
  );
  const { runId, sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  const steer = () => t.runtime.steer(runId, "one thing more");
  expect(await result).toMatchObject({ summary: "one thing more", iteration_count: 5 });
  expect(await t.runtime.replay(sessionId)).toMatchObject(IDENTICAL);
});

test("a condensed conversation is condensed again in the same way", async () => {
  await using t = testRuntime(
    {
      lead: [
        callTool("long", {}),
        callTool("long", { again: true }),
        say("a summary of it"),
        callDelegate("worker", "w", { context: "summary" }),
        say("a summary for the worker"),
        say("done"),
      ],
      worker: [say("worked")],
    },
    { tools: [long], agents: { lead: { limits: { contextChars: 40_000 } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.warnings.join()).toContain("condensed");
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ ...IDENTICAL, modelCalls: 7 });
});

test("a fork is replayed from the conversation it began with", async () => {
  await using t = testRuntime({ lead: [say("first"), say("second")] });
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: "one" });
  const forked = await t.runtime.run({ agent: "lead", task: "two", fork: { sessionId, seq: 99 } });
  expect(await t.runtime.replay(forked.session_id)).toMatchObject(IDENTICAL);
});

/** A runtime on the folders of an earlier one, as a new process would find them. */
function openAt(
  root: string,
  scripts: Record<string, Script>,
  options: TestRuntimeOptions = {},
): TestRuntime {
  const database = join(root, "data", "retinue.db");
  return testRuntime(scripts, {
    projectDir: root,
    dataDir: join(root, "data"),
    database,
    lenient: true,
    ...options,
  });
}

test.each(["parallel", "parallel_streaming"] as const)(
  "a session that a crash interrupted and another process finished is replayed identically (%s)",
  async (execution) => {
    const root = mkdtempSync(join(tmpdir(), "retinue-replay-test-"));
    const options = {
      tools: [long],
      agents: { lead: { subagents: { allow: ["*"], execution } }, worker: { subagents: ["helper"] } },
    };
    const tasks = ["a", "b"].map((id) => ({ id, agent: "worker", task: id }));
    let reached = 0;
    const first = openAt(
      root,
      {
        lead: [callTool("long", {}), callDelegateMany(tasks), hang()],
        worker: ({ task, turn }) => {
          if (task === "a") return say("a is done");
          return turn === 0 ? callTool("long", {}) : callDelegate("helper", "h");
        },
        helper: () => {
          reached++;
          return hang();
        },
      },
      options,
    );
    const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
    const reachedEnd = () =>
      reached === 1 && (execution === "parallel" || first.models.lead?.requests.length === 3);
    while (!reachedEnd()) await new Promise((resolve) => setImmediate(resolve));
    await first.runtime.record.committed();
    const second = openAt(
      root,
      {
        lead: [
          callTool("collect_results", { wait: "all" }),
          (request) => callDelegate("worker", "c", { fromResults: [runIdIn(request)] }),
          (request) => say(`final: ${request.prompt.length}`),
        ],
        worker: (request) => say(`b is done: ${request.last.length}`),
        helper: [callTool("long", {}), say("helped")],
      },
      options,
    );
    const { result } = await second.runtime.resume(sessionId);
    expect(await result).toMatchObject({ status: "completed" });
    expect(await second.runtime.replay(sessionId)).toMatchObject({ ...IDENTICAL, runs: 5 });
    await second.close();
    await first.close().catch(() => {});
    rmSync(root, { recursive: true, force: true });
  },
);

test("long texts are shown around the place where they differ", async () => {
  const words = "A prompt of many words. ".repeat(200);
  await using t = testRuntime(
    { lead: [say("one")] },
    { agents: { lead: { prompt: `${words}Be kind. ${words}` } } },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const prompt = `${words}Be swift. ${words}`;
  const lead = defineAgent({ name: "lead", description: "x", prompt, model: "lead" });
  const { divergence } = await replaySession({ agents: [lead], env: {} }, t.runtime.record, session_id);
  expect(divergence?.recorded).toContain("Be kind.");
  expect(divergence?.now).toContain("Be swift.");
  expect(divergence?.recorded.length).toBeLessThan(700);
});
