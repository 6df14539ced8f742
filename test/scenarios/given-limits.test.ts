import { createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { defineAgent } from "@retinue/core/agents/define-agent";
import { createRegistry } from "@retinue/core/agents/registry";
import type { Agent, BrokenAgent } from "@retinue/core/schema/agent";
import type { RunRequest } from "@retinue/core/session/root-run";
import { callDelegate, callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { beforeEach, describe, expect, test } from "vitest";

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
const AGENT = { name: "k", description: "Plays k.", prompt: "You are k." };

/** What JavaScript passes where TypeScript would refuse it. */
function untyped<Value>(value: unknown): Value {
  return value as Value;
}

describe("limits by tool bind the tool that is meant", () => {
  const perTool = { search: 2 };
  const turns = 10;
  test.each(["search", "Grep", "grep_search", "grep"])(
    "%s is grep, for everyone who sets it",
    async (name) => {
      const limits = { perTool: { [name]: 2 }, turns };
      const doors: [string, Parameters<typeof testRuntime>[1], RunRequest["limits"]][] = [
        ["the task", {}, limits],
        ["the agent", { agents: { k: { limits } } }, undefined],
        ["the settings", { settings: { limits } }, undefined],
      ];
      for (const [door, options, asked] of doors) {
        await using t = testRuntime({ k: restless }, { tools: [look], lenient: true, ...options });
        ran.length = 0;
        await t.runtime.run({ agent: "k", task: "x", ...(asked && { limits: asked }) });
        expect([door, ran.length]).toEqual([door, 2]);
        const session = await t.runtime.openSession();
        ran.length = 0;
        await session.spawn("k", "x", { ...(asked && { limits: asked }) }).result;
        expect([door, ran.length]).toEqual([door, 2]);
        await session.close();
      }
    },
  );

  test("a program's own tool of that name comes first", async () => {
    const own = { ...look, name: "search" };
    const calls = { eachRun: Array.from({ length: 9 }, () => callTool("search", {})) };
    await using t = testRuntime({ k: calls }, { tools: [look, own], lenient: true });
    await t.runtime.run({ agent: "k", task: "x", limits: { perTool, turns } });
    expect(ran).toHaveLength(2);
  });

  test("a name that is no tool's is an error naming the nearest and what there is", async () => {
    const limits = { perTool: { gerp: 2 }, turns };
    const said = /perTool names the unknown tool "gerp".*did you mean 'grep'\? known are .*grep/;
    await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
    await expect(t.runtime.run({ agent: "k", task: "x", limits })).rejects.toThrow(said);
    await expect(t.runtime.spawn("k", "x", { limits })).rejects.toThrow(said);
    await expect(t.runtime.openSession({ limits })).rejects.toThrow(said);
    await expect(t.runtime.planForGoal("x", { limits })).rejects.toThrow(said);
    await expect(t.runtime.executePlan("pln_x", { limits })).rejects.toThrow(said);
    const session = await t.runtime.openSession();
    expect((await session.spawn("k", "x", { limits }).result).error?.message).toMatch(said);
    await session.close();
    expect(() =>
      createBuiltInRuntime({ agents: [defineAgent({ ...AGENT, limits })], tools: [look] }),
    ).toThrow(said);
    expect(() => createBuiltInRuntime({ agents: [], tools: [look], settings: { limits } })).toThrow(said);
    expect(ran).toEqual([]);
  });
});

describe("options that a program gives are taken or refused by their names", () => {
  test.each([
    [{ budjet: 2 }, "budjet is no option of spawn; did you mean 'budget'?"],
    [{ signal: "x" }, "signal is no option of spawn"],
    [{ tools: "grep" }, 'tools is "grep", but must be a list of names'],
    [{ tools: null }, "tools is null, but must be a list of names"],
    [{ tools: [5] }, "tools is [5], but must be a list of names"],
  ])("spawn refuses %j", async (options, message) => {
    await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
    await expect(t.runtime.spawn("k", "x", untyped(options))).rejects.toThrow(message);
    const { tools } = untyped<RunRequest>(options);
    if (tools !== undefined)
      await expect(t.runtime.run({ agent: "k", task: "x", tools })).rejects.toThrow(message);
    expect(ran).toEqual([]);
  });

  test("each task of fanOut takes what spawn takes, as a list or an object", async () => {
    await using t = testRuntime({ k: restless }, { tools: [look, other], lenient: true });
    const results = await t.runtime.fanOut([
      ["k", "x", { budget: 2 }],
      { agent: "k", task: "x", limits: { toolCalls: 3 }, tools: ["search"] },
      ["k", "x", { limits: { perTool: { Grep: 1 }, turns: 4 } }],
    ]);
    expect(results.map(({ tool_calls_used }) => tool_calls_used)).toEqual([2, 3, 1]);
  });

  test.each([
    [[["k", "x", { budget: Number.NaN }]], {}, "tasks[0].budget is NaN"],
    [[["k", "x"], { agent: "k", task: "x", limits: { turns: "5" } }], {}, 'tasks[1].limits.turns is "5"'],
    [[{ agent: "k", task: "x", signal: 1 }], {}, "signal is no option of tasks[0]"],
    [[{ agent: "k" }], {}, "tasks[0] must name an agent and a task"],
    [[["k", "x", {}, 1]], {}, "tasks[0] has more than an agent, a task and options"],
    [
      [["k", "x", { limits: { perTool: { gerp: 1 } } }]],
      {},
      'tasks[0].limits.perTool names the unknown tool "gerp"',
    ],
    [[["k", "x"]], { budget: Number.NaN }, "budget is no option of fanOut"],
  ])("fanOut(%j, %j) is refused before anything begins", async (tasks, options, message) => {
    await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
    await expect(t.runtime.fanOut(untyped(tasks), untyped(options))).rejects.toThrow(message);
    expect((await t.runtime.record.listSessions({ limit: 9 })).sessions).toEqual([]);
  });
});

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

  test.each([...BAD, 0, []].map((value) => [shown(value), value]))(
    "%s is no number of output tokens, wherever it is given",
    async (_, value) => {
      const number = untyped<number>(value);
      const accepted = "but must be a whole number of at least 1";
      expect(() => testRuntime({ k: [] }, { settings: { maxOutputTokens: number } })).toThrow(
        `settings.maxOutputTokens is ${shown(value)}, ${accepted}`,
      );
      const price = { input: 1, output: 1, maxOutputTokens: number };
      expect(() => testRuntime({ k: [] }, { settings: { prices: { "a/b": price } } })).toThrow(
        `settings.prices.a/b.maxOutputTokens is ${shown(value)}, ${accepted}`,
      );
      expect(() => defineAgent({ ...AGENT, maxOutputTokens: number })).toThrow(accepted);
      const agents = [{ ...defineAgent(AGENT), maxOutputTokens: number }];
      expect(() => createBuiltInRuntime({ agents, database: ":memory:", env: {} })).toThrow(
        `maxOutputTokens of the agent 'k' is ${shown(value)}, ${accepted}`,
      );
    },
  );

  test.each([...BAD.filter((value) => shown(value) !== "{}"), 0, []].map((value) => [shown(value), value]))(
    "%s in the place of all limits is an error, not a run without them",
    async (_, value) => {
      await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
      const limits = untyped<RunRequest["limits"]>(value);
      const refused = `limits is ${shown(value)}, but must be an object of numbers by their names`;
      await expect(t.runtime.run({ agent: "k", task: "x", ...{ limits } })).rejects.toThrow(refused);
      await expect(t.runtime.spawn("k", "x", { ...{ limits } })).rejects.toThrow(refused);
      await expect(t.runtime.openSession({ ...{ limits } })).rejects.toThrow(refused);
      await expect(t.runtime.planForGoal("x", { ...{ limits } })).rejects.toThrow(refused);
      await using session = await t.runtime.openSession();
      const child = await session.spawn("k", "x", { ...{ limits } }).result;
      expect(child).toMatchObject({ status: "failed", error: { message: refused } });
      expect(() => testRuntime({ k: [] }, { settings: untyped({ limits }) })).toThrow(`settings.${refused}`);
      const agents = untyped<Agent[]>([{ ...defineAgent(AGENT), limits }]);
      expect(() => createBuiltInRuntime({ agents, database: ":memory:", env: {} })).toThrow(
        `limits of the agent 'k' is ${shown(value)}`,
      );
      expect(t.models.k?.requests).toHaveLength(0);
    },
  );

  test.each(BAD.map((value) => [shown(value), value]))(
    "%s is no temperature, no time to stop in and no number of days",
    async (_, value) => {
      const number = untyped<number>(value);
      const isTime = value === 1.5;
      await using t = testRuntime({ k: restless }, { tools: [look], lenient: true });
      if (!isTime) await expect(t.runtime.drain(number)).rejects.toThrow(`graceMs is ${shown(value)}`);
      if (!isTime)
        expect(() => testRuntime({ k: [] }, { settings: { graceSeconds: number } })).toThrow(
          `settings.graceSeconds is ${shown(value)}`,
        );
      const store = { synchronous: "NORMAL", retentionDays: number } as const;
      expect(() => testRuntime({ k: [] }, { settings: { store } })).toThrow(
        `settings.store.retentionDays is ${shown(value)}`,
      );
      const agents = [{ ...defineAgent(AGENT), temperature: number }];
      const create = () => createBuiltInRuntime({ agents, database: ":memory:", env: {} });
      if (!isTime) expect(create).toThrow(`temperature of the agent 'k' is ${shown(value)}`);
      await expect(t.runtime.openSession({ maxConcurrent: number })).rejects.toThrow(
        `maxConcurrent is ${shown(value)}`,
      );
    },
  );

  test("settings that lack a number are an error; settings that are set to nothing have their defaults", async () => {
    const parts = {
      watchdog: { idleMs: 5 },
      shell: { sandbox: "off" },
      web: null,
      prices: { a: { input: 1 } },
    };
    const missing = [
      "watchdog.firstTokenMs is undefined",
      "shell.seconds is undefined",
      "web is null",
      "prices.a.output is",
    ];
    for (const [index, [part, value]] of Object.entries(parts).entries())
      expect(() => testRuntime({ k: [] }, { settings: untyped({ [part]: value }) })).toThrow(
        `settings.${missing[index]}`,
      );
    const unset = { maxConcurrent: undefined, maxAgents: undefined, watchdog: undefined, limits: undefined };
    await using t = testRuntime({ k: [say("ok")] }, { settings: untyped(unset) });
    expect((await t.runtime.run({ agent: "k", task: "x" })).success).toBe(true);
  });

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

  test("a person's budget of calls is not cut by the agent's turns, unless turns are given as well", async () => {
    const few = { k: { limits: { toolCalls: 15, turns: 20 } } };
    const count = async (limits: { turns?: number }) => {
      ran.length = 0;
      await using t = testRuntime({ k: restless }, { tools: [look], agents: few, lenient: true });
      const { bailout_reason } = await t.runtime.spawn("k", "x", { budget: 25, limits });
      return [ran.length, bailout_reason];
    };
    expect(await count({})).toEqual([25, "max_tool_calls"]);
    expect(await count({ turns: 22 })).toEqual([22, "max_iterations"]);
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

  test.each([{ tokens: 100 }, { spawns: 0 }])(
    "a model gives no child more than %j, which its agent has for itself and all below it",
    async (limits) => {
      await using t = testRuntime(
        {
          lead: [callDelegate("k", "x", { limits: { tokens: 1_000_000, spawns: 9 } }), say("done")],
          k: "spawns" in limits ? [callDelegate("sub", "y"), say("alone")] : [say("never said")],
          sub: [say("ok")],
        },
        { agents: { k: { limits, subagents: { allow: ["sub"] } } }, lenient: true },
      );
      const { sub_runs } = await t.runtime.run({ agent: "lead", task: "go" });
      expect(t.models.sub?.requests).toHaveLength(0);
      expect(sub_runs?.map(({ success }) => success)).toEqual(["spawns" in limits]);
    },
  );

  test.each(["turns", "toolCalls", "minutes", "tokens", "costUsd", "contextChars", "spawns"])(
    "no bad number for %s in a model's call starts anything",
    async (limit) => {
      const bad = ["-1", '"5"', "1e309", "null", "{}", "true"];
      const input = (value: string) => `{"agent": "k", "task": "x", "limits": {"${limit}": ${value}}}`;
      const calls = bad.map((value) => ({ tool: "delegate", input: input(value) }));
      await using t = testRuntime(
        { lead: [callTools(calls), say("done")], k: [] },
        { tools: [look], agents },
      );
      await t.runtime.run({ agent: "lead", task: "go" });
      const told = JSON.stringify(t.models.lead?.requests[1]?.prompt.at(-1));
      expect(told.match(new RegExp(`limits.${limit}: `, "g"))).toHaveLength(bad.length);
      expect(t.models.k?.requests).toHaveLength(0);
    },
  );

  test("a program may also say how often a child may call one tool, how deep it may delegate, and that it costs nothing", async () => {
    await using t = testRuntime({ k: restless }, { tools: [look], agents, lenient: true });
    await using session = await t.runtime.openSession();
    await session.spawn("k", "x", { limits: { perTool: { grep: 2 }, depth: 0 } }).result;
    expect(ran.length).toBe(2);
    const { error } = await session.spawn("k", "x", { limits: { costUsd: 0 } }).result;
    expect(error?.message).toContain("the price of scripted/k is not known, so a cost limit cannot be kept");
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
    expect((await t.runtime.record.listSessions({ limit: 10 })).sessions).toHaveLength(0);
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

test("a definition that cannot be used keeps its name also where a runtime's settings switch others off", async () => {
  const file = "/p/main.md";
  const broken: BrokenAgent = {
    ...{ name: "main", aliases: [], source: { format: "native", scope: "project", file } },
    problem: {
      severity: "info",
      file,
      line: 1,
      code: "not-an-agent",
      message: "it is empty",
      fix: "fill it",
    },
  };
  const wide = [
    defineAgent({ ...AGENT, name: "main", aliases: ["lead"] }),
    defineAgent({ ...AGENT, name: "other" }),
  ];
  const agents = createRegistry({ agents: [broken, ...wide] });
  const runtime = createBuiltInRuntime({
    agents,
    settings: { disabledAgents: ["other"] },
    database: ":memory:",
    env: {},
  });
  expect(runtime.agents.list()).toEqual([]);
  for (const agent of ["main", "lead"])
    await expect(runtime.run({ agent, task: "go" })).rejects.toThrow("/p/main.md:1: it is empty");
  const session = await runtime.openSession();
  const { error } = await session.spawn("main", "go").result;
  expect(error).toMatchObject({
    type: "disabled",
    message: expect.stringContaining("/p/main.md:1: it is empty"),
  });
  await session.close();
  await runtime.close();
});
