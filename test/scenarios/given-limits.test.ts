import { beforeEach, describe, expect, test } from "vitest";
import type { RunRequest } from "../../src/runtime/runtime.ts";
import { callDelegate, callTool, say, testRuntime } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/tool.ts";

/** Calls that really ran. */
const ran: string[] = [];
beforeEach(() => {
  ran.length = 0;
});

const look = defineTool({
  name: "grep",
  description: "Looks.",
  risk: "low",
  input: { type: "object" },
  access: async () => [],
  execute: async () => {
    ran.push("grep");
    return "nothing";
  },
});
const other = { ...look, name: "shell" };

/** A model that calls a tool at every turn. */
const restless = { eachRun: Array.from({ length: 60 }, (_, turn) => callTool("grep", { turn })) };

const BAD = [
  Number.NaN,
  -1,
  1.5,
  "5",
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e308,
  null,
  {},
  true,
];
const shown = (value: unknown) => (typeof value === "number" ? String(value) : JSON.stringify(value));

/** What JavaScript passes where TypeScript would refuse it. */
function untyped<Value>(value: unknown): Value {
  return value as Value;
}

describe("every number that comes from code is checked", () => {
  test.each(BAD.map((value) => [shown(value), value]))(
    "%s is no budget, no limit and no concurrency",
    async (_, value) => {
      await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
      const number = untyped<number>(value);
      const { runtime } = t;
      await expect(runtime.spawn("k", "x", { budget: number })).rejects.toThrow(/^budget is .*whole number/);
      for (const limit of ["turns", "toolCalls", "tokens", "contextChars", "spawns", "depth"])
        await expect(runtime.spawn("k", "x", { limits: { [limit]: number } })).rejects.toThrow(
          `limits.${limit} is`,
        );
      await expect(
        runtime.run({ agent: "k", task: "x", limits: { perTool: { grep: number } } }),
      ).rejects.toThrow("limits.perTool.grep is");
      await expect(runtime.fanOut([["k", "x"]], { maxConcurrent: number })).rejects.toThrow(
        "maxConcurrent is",
      );
      await expect(runtime.planForGoal("x", { maxSteps: number })).rejects.toThrow("maxSteps is");
      await expect(runtime.executePlan("pln_x", { maxConcurrent: number })).rejects.toThrow(
        "maxConcurrent is",
      );
      expect(t.models.k?.requests).toHaveLength(0);
    },
  );

  test.each(BAD.filter((value) => value !== 1.5).map((value) => [shown(value), value]))(
    "%s is no time and no amount of money",
    async (_, value) => {
      await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
      const number = untyped<number>(value);
      for (const limit of ["minutes", "costUsd"])
        await expect(t.runtime.spawn("k", "x", { limits: { [limit]: number } })).rejects.toThrow(
          `limits.${limit} is`,
        );
      for (const settings of [
        { limits: { minutes: number } },
        { maxConcurrent: number },
        { maxDepth: number },
        { maxAgents: number },
        { watchdog: { firstTokenMs: number, idleMs: 1 } },
        { prices: { "*": { input: number, output: 1 } } },
      ])
        expect(() => testRuntime({ k: [] }, { settings })).toThrow(/^settings\..* is .* must be a/);
    },
  );

  test("a limit by a name that is none is an error, not a run without it", async () => {
    await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
    const limits = untyped<RunRequest["limits"]>({ maxToolCalls: 5 });
    await expect(t.runtime.run({ agent: "k", task: "x", limits })).rejects.toThrow(
      "limits.maxToolCalls is no limit; there are turns, toolCalls",
    );
  });
});

describe("a budget of one task", () => {
  const agents = { k: { limits: { toolCalls: 15, turns: 100, perTool: { grep: 15 } } } };

  test.each([3, 25])("a person's %d replaces the agent's 15", async (budget) => {
    await using t = testRuntime({ k: restless }, { tools: [look], agents, lenient: true });
    const result = await t.runtime.spawn("k", "x", { budget, limits: { perTool: { grep: 100 } } });
    expect(result.bailout_reason).toBe("max_tool_calls");
    expect(ran.length).toBe(budget);
  });

  test("a model's limits only narrow", async () => {
    const calls = async (toolCalls: number) => {
      ran.length = 0;
      await using t = testRuntime(
        { lead: [callDelegate("k", "x", { limits: { toolCalls } }), say("done")], k: restless },
        { tools: [look], agents, lenient: true },
      );
      await t.runtime.run({ agent: "lead", task: "go" });
      return ran.length;
    };
    expect(await calls(3)).toBe(3);
    expect(await calls(25)).toBe(15);
  });

  test("a person's budget stays within the session's", async () => {
    await using t = testRuntime(
      { lead: [callDelegate("k", "x"), say("done")], k: [say("ok")] },
      { settings: { maxDepth: 0 }, lenient: true },
    );
    const result = await t.runtime.run({ agent: "lead", task: "go", limits: { depth: 3 } });
    expect(t.models.k?.requests).toHaveLength(0);
    expect(result.status).toBe("completed");
  });
});

describe("the tools of one task", () => {
  const agents = { k: { tools: ["grep"] } };

  test.each(["search", "Grep", "grep"])("%s is understood as in an agent file", async (name) => {
    await using t = testRuntime({ k: [callTool("grep", {}), say("done")] }, { tools: [look, other], agents });
    expect((await t.runtime.spawn("k", "x", { tools: [name] })).status).toBe("completed");
    expect(t.models.k?.requests[0]?.tools?.map(({ name: each }) => each)).toEqual(["grep"]);
  });

  test.each([
    ["shell", "the tool \"shell\" is not among its tools; the agent 'k' has: grep"],
    ["bash", "the tool \"bash\" is not among its tools; the agent 'k' has: grep"],
    ["gerp", "there is no tool \"gerp\"; the agent 'k' has: grep"],
    ["constructor", "there is no tool \"constructor\"; the agent 'k' has: grep"],
    ["delegate", "the tool \"delegate\" is not among its tools; the agent 'k' has: grep"],
  ])("%s is an error that names what there is", async (name, message) => {
    await using t = testRuntime({ k: [] }, { tools: [look, other], agents });
    await expect(t.runtime.spawn("k", "x", { tools: [name] })).rejects.toThrow(message);
    expect(t.runtime.store.sessions({ limit: 10 })).toHaveLength(0);
  });

  test("a parent hears of a tool that its child does not hold, and nothing runs", async () => {
    await using t = testRuntime(
      { lead: [callDelegate("k", "x", { tools: ["bash"] }), say("done")], k: [] },
      { tools: [look, other], agents },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    const told = JSON.stringify(t.models.lead?.requests[1]?.prompt);
    expect(told).toContain("the agent 'k' has: grep");
  });
});

describe("a disabled agent", () => {
  const settings = { disabledAgents: ["general-purpose", "helper"] };

  test.each(["general-purpose", "helper", "aid"])("%s is neither offered nor reachable", async (agent) => {
    await using t = testRuntime(
      { lead: [callDelegate(agent, "x"), say("done")], other: [] },
      {
        more: [{ name: "helper", description: "h", prompt: "p", model: "other", aliases: ["aid"] }],
        settings,
      },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    const [first, second] = t.models.lead?.requests ?? [];
    expect(JSON.stringify(first)).not.toContain("general-purpose");
    expect(JSON.stringify(second?.prompt)).toContain("is disabled");
    expect(t.trace()).toEqual(["lead: completed"]);
  });
});
