import { codeTools } from "@retinue/code/code-tools";
import { defineAgent } from "@retinue/core/agents/define-agent";
import type { RuntimeOptions } from "@retinue/core/host/create-host";
import { readTree } from "@retinue/core/record/read-tree";
import { replaySession } from "@retinue/core/replay/replay-session";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

let effects = 0;
const pay = defineTool<object>({
  name: "pay",
  description: "x",
  input: { type: "object" },
  execute: async () => `payment ${++effects}`,
});

/** A session with children at once, one below another, a file, a refused call and a retry. */
async function record(): Promise<{ t: TestRuntime; sessionId: string }> {
  const t = testRuntime(
    {
      lead: [
        callDelegateMany([
          { id: "a", agent: "worker", task: "a" },
          { id: "b", agent: "worker", task: "b" },
        ]),
        callTool("unheard_of", {}),
        say("all done"),
      ],
      worker: (request) => {
        if (request.task === "b") return request.turn === 0 ? callDelegate("helper", "h") : say("b is done");
        return request.turn === 0 ? callTool("pay", {}) : say("a is done");
      },
      helper: [failWith("content_filter", "no"), say("helped")],
    },
    {
      tools: [...codeTools, pay],
      agents: {
        worker: { subagents: ["helper"] },
        helper: { retry: { attempts: 1, on: ["content_filter"], backoffMs: 1 } },
      },
    },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  return { t, sessionId: session_id };
}

const optionsOf = (t: TestRuntime, agents = t.runtime.agents.list()): RuntimeOptions => ({
  agents,
  tools: [...codeTools, pay],
  env: {},
});

test("a replay gives the identical tree, calls no model and repeats no effect", async () => {
  const { t, sessionId } = await record();
  const [asked, paid] = [t.models.worker?.requests.length, effects];
  const report = await replaySession(optionsOf(t), t.runtime.record, sessionId);
  expect(report).toMatchObject({ identical: true, divergence: null, runs: 5, modelCalls: 9, toolCalls: 1 });
  expect(t.models.worker?.requests).toHaveLength(asked ?? -1);
  expect(effects).toBe(paid);
  await t.close();
});

test("a changed prompt is the first divergence, with what it was and what it is", async () => {
  const { t, sessionId } = await record();
  const agents = t.runtime.agents.list().map((agent) =>
    agent.name === "helper"
      ? defineAgent({
          name: "helper",
          description: "Plays helper.",
          prompt: "You are somebody else.",
          model: "helper",
          retry: agent.retry,
        })
      : agent,
  );
  const { divergence, identical } = await replaySession(optionsOf(t, agents), t.runtime.record, sessionId);
  expect(identical).toBe(false);
  expect(divergence).toMatchObject({ run: "lead > worker > helper", turn: 1, what: "the system prompt" });
  expect(divergence?.recorded).toContain("You are helper.");
  expect(divergence?.now).toContain("You are somebody else.");
  await t.close();
});

test("a right that was taken away since shows as a divergence", async () => {
  const { t, sessionId } = await record();
  const report = await replaySession(
    { ...optionsOf(t), disallowedTools: ["pay"] },
    t.runtime.record,
    sessionId,
  );
  expect(report.divergence).toMatchObject({ run: "lead > worker", what: "the call of pay" });
  await t.close();
});

test.each([
  ["denied then and allowed now", ["write(secret/**)"], []],
  ["allowed then and denied now", [], ["write(secret/**)"]],
])("a call that was %s shows as a divergence, with both verdicts", async (name, denied, denies) => {
  const settings = (deny: readonly string[]) => ({ permissions: { ask: [], deny } });
  const text = { path: "secret/a.txt", content: "a" };
  await using t = testRuntime(
    { lead: [callDelegate("worker", "w"), say("done")], worker: [callTool("write", text), say("over")] },
    { tools: codeTools, settings: settings(denied) },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const replayed = (deny: readonly string[]) =>
    replaySession({ ...optionsOf(t), settings: settings(deny) }, t.runtime.record, session_id);
  expect(await replayed(denied)).toMatchObject({ identical: true });
  const { identical, divergence } = await replayed(denies);
  expect(identical).toBe(false);
  expect(divergence).toMatchObject({ run: "lead > worker", turn: 1, what: "the call of write" });
  const verdicts = [divergence?.recorded, divergence?.now].map((said) => said?.startsWith("denied: "));
  expect(verdicts).toEqual(name.startsWith("denied") ? [true, false] : [false, true]);
});

test("a fork goes on from any turn of a recorded session, in a session of its own", async () => {
  await using t = testRuntime(
    {
      solo: [
        callTool("pay", {}),
        say("the first answer"),
        (request) => {
          expect(request.prompt).toContain("the first question");
          expect(request.prompt).toContain("payment");
          expect(request.prompt).not.toContain("the first answer");
          return say(`forked: ${request.last}`);
        },
        (request) => {
          expect(request.prompt).toContain("the first answer");
          return say("after the answer");
        },
      ],
    },
    { tools: [pay] },
  );
  const { session_id } = await t.runtime.run({ agent: "solo", task: "the first question" });
  const [firstTurn] = (await readTree(t.runtime.record, session_id))[0]?.children ?? [];
  const seq = Math.max(...(firstTurn?.children ?? []).map((row) => row.closed_seq ?? 0));
  const forked = await t.runtime.run({
    agent: "solo",
    task: "another question",
    fork: { sessionId: session_id, seq },
  });
  expect(forked).toMatchObject({
    summary: "forked: another question",
    iteration_count: 1,
    tool_calls_used: 0,
  });
  expect(forked.session_id).not.toBe(session_id);
  await t.runtime.run({ agent: "solo", task: "more", fork: { sessionId: session_id, seq: 1_000 } });
});
