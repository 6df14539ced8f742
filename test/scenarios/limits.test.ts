import { callDelegate, callDelegateMany, callTool, hang, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const note = defineTool<{ text: string }>({
  name: "note",
  description: "Takes a note.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  replay: "safe",
  execute: async ({ text }) => `noted ${text}`,
});

test("at its turn limit a run reports once more without tools and ends partial", async () => {
  await using t = testRuntime(
    { solo: [callTool("note", { text: "1" }), callTool("note", { text: "2" }), say("I noted two things")] },
    { tools: [note], agents: { solo: { limits: { turns: 2 } } } },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({
    status: "completed",
    partial: true,
    bailout_reason: "max_iterations",
    summary: "I noted two things",
    tool_calls_used: 2,
  });
  expect(t.models.solo?.requests[2]?.toolChoice).toEqual({ type: "none" });
});

test("calls beyond the tool-call limit are refused and the run wraps up; using exactly all of them is no bail-out", async () => {
  const limits = { toolCalls: 1 };
  await using over = testRuntime(
    { solo: [callTool("note", { text: "1" }), callTool("note", { text: "2" }), say("enough")] },
    { tools: [note], agents: { solo: { limits } } },
  );
  expect(await over.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    partial: true,
    bailout_reason: "max_tool_calls",
    tool_calls_used: 1,
  });
  await using exact = testRuntime(
    { solo: [callTool("note", { text: "1" }), say("fine")] },
    { tools: [note], agents: { solo: { limits } } },
  );
  expect(await exact.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    partial: false,
    tool_calls_used: 1,
  });
});

test("a limit on one tool leaves the others usable", async () => {
  await using t = testRuntime(
    {
      solo: [
        callTool("note", { text: "1" }),
        callTool("note", { text: "2" }),
        (request) => say(request.last),
      ],
    },
    { tools: [note], agents: { solo: { limits: { perTool: { note: 1 } } } } },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "completed", partial: false });
  expect(result.summary).toContain("limit of 1 calls of 'note'");
});

test("a child that hangs times out, its parent is told, and its deliverables are still checked", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("sleeper", "work", { limits: { minutes: 0.001 } }), (request) => say(request.last)],
      // On a busy machine its time may be up before it says anything.
      sleeper: () => hang(),
    },
    { agents: { sleeper: { deliverables: [{ file: "out.txt" }] } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("failed");
  expect(result.details).toContain('status="timeout"');
  expect(result.details).toContain("COMPLIANCE ERROR: sleeper did not leave");
});

test("a model that gives no first token is given up by the watchdog", async () => {
  await using t = testRuntime({ solo: [hang()] }, { settings: { watchdog: { firstTokenMs: 5, idleMs: 5 } } });
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "first_token_timeout", success: false });
});

test("delegation stops at the depth limit with a clear error", async () => {
  await using t = testRuntime(
    {
      a: [callDelegate("b", "x"), say("a")],
      b: [(request) => say(String(request.options.tools?.length ?? 0))],
    },
    { settings: { maxDepth: 1 }, agents: { b: { subagents: ["a"] } } },
  );
  await t.runtime.run({ agent: "a", task: "go" });
  expect(JSON.stringify(t.models.a?.requests[1]?.prompt)).toContain("0");
  expect(t.models.b?.requests[0]?.tools ?? []).toEqual([]);
});

test("an agent above in the chain is refused as a circle unless recursion is allowed", async () => {
  const scripts = {
    a: [callDelegate("b", "x"), say("a")],
    b: [callDelegate("a", "x"), (request: { last: string }) => say(request.last)],
    c: [],
  };
  await using t = testRuntime(scripts, { agents: { a: { subagents: ["b"] }, b: { subagents: ["a", "c"] } } });
  await t.runtime.run({ agent: "a", task: "go" });
  expect(JSON.stringify(t.models.a?.requests[1]?.prompt)).toMatch(/"type\\*":\\*"cycle/);
});

test("runs of a session are capped in number", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany(
          Array.from({ length: 6 }, (_, index) => ({ id: `t${index}`, agent: "worker", task: "x" })),
        ),
        (request) => say(request.last),
      ],
      worker: { eachRun: [say("ok")] },
    },
    { settings: { maxAgents: 4 } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toContain("3 succeeded, 3 failed");
  expect(result.details).toContain("spawn_limit");
});

test("steering reaches the run at its next turn, and pausing holds it until it is let go", async () => {
  const steered = defineTool<object>({
    name: "steer_me",
    description: "x",
    input: { type: "object" },
    execute: async (_, context) => {
      t.runtime.steer(context.runId, "look at the tests too");
      t.runtime.pause(context.runId);
      return "ok";
    },
  });
  await using t = testRuntime(
    { solo: [callTool("steer_me", {}), (request) => say(request.last)] },
    { tools: [steered] },
  );
  t.runtime.events((event) => {
    if (event.type === "run.waiting" && event.on === "pause") t.runtime.unpause(event.runId);
  });
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result.summary).toBe("look at the tests too");
  expect(t.events.filter((event) => event.type === "run.waiting" && event.on === "pause")).toHaveLength(1);
});

test("a conversation over its context limit is condensed and goes on, with rights and counters as before", async () => {
  let calls = 0;
  const big = defineTool<{ n: number }>({
    name: "big",
    description: "Much text.",
    input: { type: "object", properties: { n: { type: "number" } } },
    untrusted: true,
    replay: "safe",
    execute: async ({ n }) => {
      calls++;
      return `${n} `.repeat(3_000);
    },
  });
  await using t = testRuntime(
    {
      solo: (request) => {
        if (request.options.prompt[0]?.content.toString().startsWith("You condense"))
          return say("SUMMARY OF EARLIER WORK");
        return calls < 4 ? callTool("big", { n: calls }) : say("done");
      },
    },
    { tools: [big], agents: { solo: { limits: { contextChars: 14_000 } } } },
  );
  const result = await t.runtime.run({ agent: "solo", task: "remember the goal" });
  expect(result).toMatchObject({ status: "completed", tainted: true, tool_calls_used: 4 });
  const last = JSON.stringify(t.models.solo?.requests.at(-1)?.prompt);
  expect(last).toContain("SUMMARY OF EARLIER WORK");
  expect(last).toContain("remember the goal");
  expect(last.length).toBeLessThan(20_000);
});
