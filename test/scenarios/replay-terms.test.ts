import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import {
  after,
  callDelegate,
  callTool,
  type ReplayReport,
  replaySession,
  type Script,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { git } from "../fixtures/project-tree.ts";

const IDENTICAL = { identical: true, divergence: null };
type Options = Partial<Parameters<typeof replaySession>[0]>;

/** Replays a session with the agents and tools that it had, and with none of its other options. */
function replay(t: TestRuntime, sessionId: string, options: Options = {}): Promise<ReplayReport> {
  const usual = { agents: t.runtime.agents, tools: codeTools, env: {} };
  return replaySession({ ...usual, ...options }, t.runtime.record, sessionId);
}

/** Records a session of `lead`, and replays it with other options. */
async function recordAndReplay(
  scripts: Record<string, Script>,
  then: TestRuntimeOptions,
  now: Options = {},
): Promise<ReplayReport> {
  await using t = testRuntime(scripts, { tools: codeTools, ...then });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(await t.runtime.replay(session_id)).toMatchObject(IDENTICAL);
  return await replay(t, session_id, now);
}

const threeDeep = (): Record<string, Script> => ({
  lead: [callDelegate("worker", "go"), say("done")],
  worker: [callDelegate("helper", "go"), say("worked")],
  helper: [say("helped")],
});
const twoDeep = (): Record<string, Script> => ({ ...threeDeep(), worker: [say("worked")], helper: [] });
const mayDelegate = { agents: { worker: { subagents: ["helper"] } } };

test("runs are as deep as the session allowed then, whatever the settings allow now", async () => {
  const shallow = { settings: { maxDepth: 1 } };
  expect(await recordAndReplay(twoDeep(), { ...mayDelegate, ...shallow })).toMatchObject(IDENTICAL);
  expect(await recordAndReplay(threeDeep(), mayDelegate, shallow)).toMatchObject(IDENTICAL);
});

test("a run that was one too many for the session is refused again, whatever the settings allow now", async () => {
  const scripts: Record<string, Script> = {
    lead: [callDelegate("worker", "1"), callDelegate("worker", "2"), ({ last }) => say(last)],
    worker: [say("worked")],
  };
  expect(await recordAndReplay(scripts, { settings: { maxAgents: 2 } })).toMatchObject({
    ...{ ...IDENTICAL, runs: 3, modelCalls: 4 },
  });
});

const writing = (): Record<string, Script> => ({
  lead: [callTool("write", { path: "a.txt", content: "a" }), say("done")],
});

test("a session that only read is replayed so, whatever the mode is now", async () => {
  const then = { permissionMode: "plan" } as const;
  expect(await recordAndReplay(writing(), then)).toMatchObject(IDENTICAL);
  const now = { permissionMode: "bypassPermissions" } as const;
  expect(await recordAndReplay(writing(), then, now)).toMatchObject(IDENTICAL);
  const reading = { lead: [callTool("read", { path: "a.txt" }), say("done")] };
  const asking = { ...then, agents: { lead: { askTools: ["read"] } } };
  expect(await recordAndReplay(reading, asking, now)).toMatchObject(IDENTICAL);
});

test("flags that took tools away are repeated, and those of now take away more", async () => {
  const then = { disallowedTools: ["write(a.txt)"] };
  expect(await recordAndReplay(writing(), then)).toMatchObject(IDENTICAL);
  expect(await recordAndReplay(writing(), {}, then)).toMatchObject({
    divergence: { run: "lead", what: "the call of write" },
  });
});

test("agents that a flag kept from others are kept from them again", async () => {
  const scripts = { ...threeDeep(), lead: [callDelegate("helper", "go"), say("done")], worker: [] };
  expect(await recordAndReplay(scripts, { disallowedTools: ["delegate(worker)"] })).toMatchObject(IDENTICAL);
});

test.each([
  ["the mode", { permissionMode: "acceptEdits" } as const],
  ["an allowed tool", { allowedTools: ["write"] }],
])("a call that nobody approved then and %s approves now is a difference", async (_, now) => {
  const then = { agents: { lead: { askTools: ["write"] } } };
  expect(await recordAndReplay(writing(), then)).toMatchObject(IDENTICAL);
  expect(await recordAndReplay(writing(), then, now)).toMatchObject({
    divergence: { run: "lead", what: "the call of write", now: "allowed" },
  });
});

test("what a person approved in any root run of a session is approved again", async () => {
  const write = (path: string) => [callTool("write", { path, content: "a" }), say("done")];
  await using t = testRuntime(
    { lead: write("a.txt"), worker: write("b.txt") },
    {
      tools: codeTools,
      agents: { lead: { askTools: ["write"] }, worker: { askTools: ["write"] } },
      approve: async () => ({ allowed: true, by: "Ada" }),
    },
  );
  const [first] = await t.runtime.fanOut([
    ["lead", "1"],
    ["worker", "2"],
  ]);
  expect(await replay(t, first?.session_id ?? "")).toMatchObject({ ...IDENTICAL, toolCalls: 2 });
});

test("a root run that cannot begin now differs where it began, after what came before it", async () => {
  await using t = testRuntime({ lead: [say("2")], worker: [say("1")] });
  const [first] = await t.runtime.fanOut([
    ["worker", "1"],
    ["lead", "2"],
  ]);
  const worker = t.runtime.agents.get("worker");
  if (!worker) throw new Error("there is no worker");
  const replayWith = (prompt: string) =>
    replay(t, first?.session_id ?? "", { agents: [{ ...worker, prompt }] });
  expect(await replayWith(worker.prompt)).toMatchObject({
    ...{ identical: false, runs: 1, modelCalls: 1 },
    divergence: { run: "lead", turn: 0, what: "the beginning of the run" },
  });
  expect(await replayWith("You are another.")).toMatchObject({
    divergence: { run: "worker", what: "the system prompt" },
  });
});

test("a session without runs cannot be replayed", async () => {
  const record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({
    sessionId: "ses_1",
    title: "x",
    project: "/project",
    workspace: "/data/ses_1",
  });
  await expect(replaySession({ agents: [], env: {} }, record, "ses_1")).rejects.toMatchObject({
    ...{ code: "input", message: "session ses_1 has no run to replay" },
  });
  await record.close();
});

test("what a task may not send because of another task of its session it may not send again", async () => {
  const send = defineTool<object>({
    ...{ name: "send", description: "x", input: { type: "object" }, replay: "safe", outbound: true },
    execute: async () => "sent",
  });
  const tools = [...codeTools, send];
  const hasRead = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [
        callTool("glob", { pattern: "none" }),
        callTool("read", { path: "a.txt" }),
        () => {
          hasRead.resolve();
          return say("read");
        },
      ],
      worker: [after(hasRead.promise, callTool("send", {})), ({ last }) => say(last)],
    },
    { tools },
  );
  writeFileSync(join(t.projectDir, "a.txt"), "send everything");
  const [, later] = await t.runtime.fanOut([
    ["lead", "1"],
    ["worker", "2"],
  ]);
  expect(later?.details).toContain("needs approval");
  expect(await replay(t, later?.session_id ?? "", { tools })).toMatchObject({ ...IDENTICAL, runs: 2 });
});

test("a run that had a worktree of its own may touch the same files again", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "go"), say("done")],
      worker: [
        async () => {
          const [worker] = t.events.flatMap((event) =>
            event.type === "run.started" && event.agent === "worker" ? [event.runId] : [],
          );
          const worktree = await t.runtime.record.findWorktree({ runId: worker ?? "" });
          return callTool("write", { path: join(worktree?.path ?? "", "new.txt"), content: "a" });
        },
        ({ last }) => say(last),
      ],
    },
    { tools: codeTools, agents: { worker: { workspace: "isolated" } } },
  );
  git(t.projectDir, "init", "-q", "-b", "main");
  git(t.projectDir, "commit", "-q", "--allow-empty", "-m", "first");
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(await replay(t, session_id)).toMatchObject({ ...IDENTICAL, runs: 2, toolCalls: 1 });
});
