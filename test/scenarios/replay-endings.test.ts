import {
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  hang,
  replaySession,
  type Script,
  say,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { handClock } from "../attacks/clocks.ts";
import { Lives } from "../fixtures/lives.ts";

const note = defineTool<object>({
  name: "note",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async () => "noted",
});

/** Runs `lead`, then replays what came of it. */
async function recordAndReplay(scripts: Record<string, Script>, options: TestRuntimeOptions = {}) {
  await using t = testRuntime(scripts, { tools: [note], lenient: true, ...options });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  return { result, report: await t.runtime.replay(result.session_id) };
}

const PRICE = { input: 1, output: 1 };
const spending = { input: 400, output: 100 };

test.each([
  ["a token limit", { tokens: 1_500 }, "max_tokens"],
  ["a cost limit", { costUsd: 0.0015 }, "max_cost"],
  ["a turn limit", { turns: 2 }, "max_iterations"],
  ["a limit on tool calls", { toolCalls: 1 }, "max_tool_calls"],
])("a run that ended at %s is replayed with its last report", async (_, limits, reason) => {
  const { result, report } = await recordAndReplay(
    {
      lead: ({ turn, options }) =>
        options.toolChoice?.type === "none"
          ? say("as far as I came", spending)
          : callTool("note", { turn }, spending),
    },
    { agents: { lead: { limits } }, settings: { prices: { "scripted/lead": PRICE } } },
  );
  expect(result).toMatchObject({ status: "completed", bailout_reason: reason });
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test("a run whose first call could not be paid is replayed as it failed", async () => {
  const { result, report } = await recordAndReplay(
    { lead: [] },
    { agents: { lead: { limits: { tokens: 10 } } } },
  );
  expect(result.error?.type).toBe("budget");
  expect(report).toMatchObject({ identical: true, modelCalls: 0 });
});

test("a run that came near its deadline is replayed with its last report", async () => {
  const clock = handClock();
  const { result, report } = await recordAndReplay(
    {
      lead: [
        () => {
          clock.advance(58_000);
          return callTool("note", {});
        },
        say("in a hurry"),
      ],
    },
    { agents: { lead: { limits: { minutes: 1 } } }, internals: { clock } },
  );
  expect(result).toMatchObject({ status: "completed", bailout_reason: "deadline" });
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test.each([
  ["in a model call", [callTool("note", {})]],
  ["in its first model call", []],
] as const)("a run that its deadline ended %s is replayed up to there", async (_, steps) => {
  const clock = handClock();
  const { result, report } = await recordAndReplay(
    {
      lead: [
        ...steps,
        () => {
          setImmediate(() => clock.advance(61_000));
          return hang();
        },
      ],
    },
    { agents: { lead: { limits: { minutes: 1 } } }, internals: { clock } },
  );
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "timeout" });
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test("a run whose model fell silent is replayed as it timed out", async () => {
  const { result, report } = await recordAndReplay(
    { lead: [callTool("note", {}), hang()] },
    { settings: { watchdog: { firstTokenMs: 20, idleMs: 20 } } },
  );
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "first_token_timeout" });
  expect(report).toMatchObject({ identical: true, divergence: null });
});

test("a run that was cancelled with children at work, and others not yet begun, is replayed as it stood", async () => {
  const tasks = ["a", "b", "c"].map((id) => ({ id, agent: "worker", task: id }));
  await using t = testRuntime(
    {
      lead: [callTool("note", {}), callDelegateMany(tasks)],
      worker: (request) => (request.turn === 0 ? callTool("note", {}) : hang()),
    },
    { tools: [note], agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 2 } } } },
  );
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while ((t.models.worker?.requests.length ?? 0) < 4) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ status: "cancelled" });
  expect(await t.runtime.replay(sessionId)).toMatchObject({ identical: true, divergence: null, runs: 4 });
});

test("one child that was cancelled is replayed, and what its parent made of it", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "w"), (request) => say(request.last)], worker: [hang()] },
    {},
  );
  t.runtime.events((event) => {
    if (event.type === "turn.started" && event.model.endsWith("worker")) t.runtime.cancel(event.runId);
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain('status="cancelled"');
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ identical: true, divergence: null });
});

test("a session that was interrupted and is still open is replayed as far as it came", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "w")],
      worker: [callTool("note", {}), hang()],
    },
    { tools: [note], lenient: true },
  );
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.worker?.requests.length !== 2) await new Promise((resolve) => setImmediate(resolve));
  expect(await t.runtime.replay(sessionId)).toMatchObject({
    identical: true,
    divergence: null,
    runs: 2,
    modelCalls: 2,
  });
});

test("a run that was stopped while it waited to try again is replayed without waiting", async () => {
  await using t = testRuntime(
    { lead: [failWith("network", "down", { recoverable: true, retryAfterMs: 600_000 })] },
    {},
  );
  t.runtime.events((event) => {
    if (event.type === "run.waiting" && event.on === "provider") t.runtime.cancel(event.runId);
  });
  const { session_id, status } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(status).toBe("cancelled");
  expect(await t.runtime.replay(session_id)).toMatchObject({ identical: true, divergence: null });
});

test("attempts of one call that failed are replayed one by one", async () => {
  const { result, report } = await recordAndReplay({
    lead: [
      failWith("network", "down", { recoverable: true, retryAfterMs: 1 }),
      failWith("network", "down again", { recoverable: true, retryAfterMs: 1 }),
      say("at last"),
    ],
  });
  expect(result.summary).toBe("at last");
  expect(report).toMatchObject({ identical: true, modelCalls: 3 });
});

test("a limit that ended a run then and would not now is a divergence", async () => {
  await using t = testRuntime(
    { lead: [callTool("note", {}), say("cut short")] },
    { tools: [note], agents: { lead: { limits: { turns: 1 } } } },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  await using now = testRuntime({ lead: [] }, { tools: [note] });
  const options = { agents: now.runtime.agents, tools: [note], env: {} };
  expect((await replaySession(options, t.runtime.record, session_id)).divergence).toMatchObject({
    run: "lead",
    turn: 2,
    what: "one turn more",
  });
});

test.each([
  ["turns", "iteration_count", 7],
  ["a limit", "bailout_reason", "max_tokens"],
])("a run that ended otherwise than then, by %s, is where the replay differs", async (_, field, value) => {
  using lives = new Lives();
  await using t = lives.open({ lead: [callTool("note", {}), say("done")] }, { tools: [note] });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(await t.runtime.replay(session_id)).toMatchObject({ identical: true });
  lives.sql(
    "UPDATE messages SET metadata_json = json_set(metadata_json, ?, ?) WHERE request_type = 'prompt'",
    `$.result.${field}`,
    value,
  );
  expect(await t.runtime.replay(session_id)).toMatchObject({
    identical: false,
    divergence: { run: "lead", what: "how it ended" },
  });
});
