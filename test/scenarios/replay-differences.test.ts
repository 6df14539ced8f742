import { defineAgent } from "@retinue/core/agents/define-agent";
import type { RuntimeOptions } from "@retinue/core/host/create-host";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  type ReplayReport,
  replaySession,
  type Script,
  say,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const note = (more: Partial<AnyTool> = {}): AnyTool => ({
  ...defineTool<object>({
    name: "note",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "noted",
  }),
  ...more,
});

type Fields = NonNullable<TestRuntimeOptions["agents"]>;

/** Records a session, and replays it with agents and settings as they were, then with others. */
async function replayWith(
  scripts: Record<string, Script>,
  then: { agents?: Fields; options?: TestRuntimeOptions },
  now: { agents?: Fields; without?: string; options?: Partial<RuntimeOptions> },
): Promise<ReplayReport> {
  const tools = [note()];
  await using t = testRuntime(scripts, {
    tools,
    ...then.options,
    ...(then.agents && { agents: then.agents }),
  });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go, and write a report" });
  const replay = (agents: Fields, options: Partial<RuntimeOptions>, without?: string) => {
    const names = Object.keys(scripts).filter((name) => name !== without);
    const defined = names.map((name) =>
      defineAgent({
        name,
        description: `Plays ${name}.`,
        prompt: `You are ${name}.`,
        model: name,
        ...(name === "lead" && Object.keys(scripts).length > 1 && { subagents: { allow: ["*"] } }),
        ...agents[name],
      }),
    );
    const { settings } = then.options ?? {};
    return replaySession(
      { agents: defined, tools, env: {}, ...(settings && { settings }), ...options },
      t.runtime.record,
      session_id,
    );
  };
  expect(await replay(then.agents ?? {}, {})).toMatchObject({ identical: true, divergence: null });
  return await replay(now.agents ?? then.agents ?? {}, now.options ?? {}, now.without);
}

const team = (): Record<string, Script> => ({
  lead: [callDelegate("worker", "go"), say("done")],
  worker: [callTool("note", {}), say("worked")],
});
const retry = (attempts: number) => ({
  worker: { retry: { attempts, on: ["content_filter" as const], backoffMs: 1 } },
});

test.each([
  ["its agent is gone", { without: "lead" }, { run: "lead", what: "the beginning of the run" }],
  [
    "the agent of a child is gone",
    { without: "worker" },
    { run: "lead", what: expect.stringMatching(/system prompt|call of delegate/) },
  ],
  [
    "a child's prompt says something else",
    { agents: { worker: { prompt: "You are kind." } } },
    { run: "lead > worker", what: "the system prompt" },
  ],
  [
    "an agent has another model",
    { agents: { worker: { model: "another" } } },
    { run: "lead > worker", what: "the model" },
  ],
  [
    "a tool takes other inputs",
    { options: { tools: [note({ input: { type: "object", required: ["what"] } })] } },
    { run: "lead > worker", what: "the call of note" },
  ],
  ["a tool is gone", { options: { tools: [] } }, { run: "lead > worker", what: "the call of note" }],
  [
    "its agent must leave something",
    { agents: { worker: { deliverables: [{ file: "report.md" }] } } },
    { run: "lead > worker" },
  ],
  [
    "its agent may take fewer turns",
    { agents: { worker: { limits: { turns: 1 } } } },
    { run: "lead > worker" },
  ],
  [
    "its request makes a delegation mandatory",
    { agents: { other: { delegation: { mandatory: true, triggers: ["report"] } } } },
    { run: "lead", what: "the system prompt" },
  ],
])("a replay differs where %s now", async (_, now, divergence) => {
  const scripts = { ...team(), other: [] };
  const report = await replayWith(scripts, {}, now);
  expect(report.identical).toBe(false);
  expect(report.divergence).toMatchObject(divergence);
});

const refuses = failWith("content_filter", "not that");

test.each([
  [
    "an attempt fewer is made",
    2,
    0,
    {
      what: "the run",
      recorded: expect.stringContaining("completed after 1 turns"),
      now: "it is not started",
    },
  ],
  [
    "an attempt more would be made",
    0,
    1,
    { what: "a run", recorded: "no such run", now: "worker is started" },
  ],
])("a replay differs where %s by the policy of now", async (_, then, now, divergence) => {
  const worker = then === 0 ? [refuses] : [refuses, say("second try")];
  const report = await replayWith(
    { lead: [callDelegate("worker", "go"), say("done")], worker },
    { agents: retry(then) },
    { agents: retry(now) },
  );
  expect(report.identical).toBe(false);
  expect([report.divergence?.what, report.divergence?.now]).toEqual([divergence.what, divergence.now]);
});

test("a replay differs where a conversation is condensed now and was not", async () => {
  const long = note({ execute: async () => "x".repeat(3_000) });
  const report = await replayWith(
    { lead: [callTool("note", {}), callTool("note", { again: 1 }), say("done")] },
    { options: { tools: [long] } },
    { agents: { lead: { limits: { contextChars: 4_000 } } }, options: { tools: [long] } },
  );
  expect(report.identical).toBe(false);
});

test("of several differences the first in the record is told, whatever was played first", async () => {
  const tasks = [
    { id: "a", agent: "one", task: "first" },
    { id: "b", agent: "two", task: "second" },
  ];
  const report = await replayWith(
    { lead: [callDelegateMany(tasks), say("done")], one: [say("1")], two: [say("2")] },
    {},
    { agents: { one: { prompt: "changed" }, two: { prompt: "changed" } } },
  );
  expect(report.divergence).toMatchObject({ run: "lead > one" });
});

test("a replay differs where a call is answered now as it would not have been then", async () => {
  const report = await replayWith(
    {
      lead: [callDelegate("missing", "go"), callDelegate("worker", "go"), say("done")],
      worker: [callTool("note", {}), say("worked")],
    },
    {},
    { agents: { worker: { aliases: ["missing"] } } },
  );
  expect(report.identical).toBe(false);
  expect(report.divergence).toMatchObject({ run: "lead" });
});
