import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import { callDelegate, callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const look = defineTool<{ n: number }>({
  name: "look",
  description: "looks",
  risk: "low",
  replay: "safe",
  input: { type: "object", properties: { n: { type: "number" } } },
  execute: async () => "seen",
});

/** A lead and a kid that call until they are stopped. */
const insatiable = {
  lead: [callDelegate("kid", "look"), say("done")],
  kid: ({ turn, options }: { turn: number; options: { toolChoice?: { type: string } | undefined } }) =>
    options.toolChoice?.type === "none" ? say("report") : callTool("look", { n: turn }),
};

test.each([
  [undefined, 4],
  [3, 12],
  [0.5, 2],
])("with a scale of %s a role's limit of 4 tool calls is %i, in the whole tree", async (scale, calls) => {
  const { runtime, events, close } = testRuntime(insatiable, {
    tools: [look],
    agents: { kid: { limits: { toolCalls: 4, turns: 30 } } },
    settings: { limits: { ...(scale !== undefined && { scale }) } },
  });
  await runtime.run({ agent: "lead", task: "go" });
  const kid = events.flatMap((event) =>
    event.type === "run.ended" && event.result.agent === "kid" ? [event.result] : [],
  );
  expect(kid).toMatchObject([{ tool_calls_used: calls, bailout_reason: "max_tool_calls" }]);
  await close();
});

test.each([undefined, 3, 0.5])(
  "with a scale of %s the prompt of main and child tells exactly what binds them",
  async (scale) => {
    const insatiableRun = ({
      turn,
      options,
    }: {
      turn: number;
      options: { toolChoice?: { type: string } | undefined };
    }) => (options.toolChoice?.type === "none" ? say("report") : callTools(lookAnd(turn)));
    const lookAnd = (turn: number) => [
      { tool: "look", input: { n: turn } },
      { tool: "peek", input: { n: turn } },
    ];
    const limits = { turns: 20, toolCalls: 10, perTool: { peek: 2, look: 500 } };
    await using t = testRuntime(
      {
        lead: (request) => (request.turn === 0 ? callDelegate("kid", "look") : insatiableRun(request)),
        kid: insatiableRun,
      },
      {
        tools: [look, { ...look, name: "peek" }],
        agents: { lead: { limits }, kid: { limits } },
        settings: { limits: { ...(scale !== undefined && { scale }), minutes: 10 } },
      },
    );
    await t.runtime.run({ agent: "lead", task: "go", limits: { minutes: 4 } });
    for (const name of ["lead", "kid"]) {
      const { requests = [] } = t.models[name] ?? {};
      const told =
        /Your limits: (\d+) turns, (\d+) tool calls \(at most (\d+) of `peek`\), (\S+) min of/.exec(
          String(requests[0]?.prompt[0]?.content),
        );
      const answers = JSON.stringify(requests.at(-1)?.prompt);
      expect(answers).toContain(`the limit of ${told?.[2]} tool calls is used up`);
      // With fewer calls in all, those run out before.
      if (scale !== 0.5) expect(answers).toContain(`the limit of ${told?.[3]} calls of 'peek' is used up`);
      expect(told?.slice(1)).toEqual([String(20 * (scale ?? 1)), String(10 * (scale ?? 1)), "2", "4"]);
    }
  },
);

test("a person's own number is taken as it is, and a model's narrows the raised limit", async () => {
  const { runtime, close } = testRuntime(
    {
      ...insatiable,
      lead: [callDelegate("kid", "look", { limits: { toolCalls: 7 } }), ({ last }) => say(last)],
    },
    {
      tools: [look],
      agents: { kid: { limits: { toolCalls: 4, turns: 30 } } },
      settings: { limits: { scale: 3 } },
    },
  );
  const spawned = await runtime.spawn("kid", "look", { budget: 5 });
  expect(spawned.tool_calls_used).toBe(5);
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result.subtree.tool_calls_used).toBe(1 + 7);
  await close();
});

test.each([Number.NaN, 0, -1, 101, "3" as never])("a scale of %s is an error", (scale) => {
  expect(() => testRuntime({ lead: [] }, { settings: { limits: { scale } } })).toThrow(
    "settings.limits.scale",
  );
});

test("a run is told once when few of its calls, and once when few of its turns, are left", async () => {
  const many = (count: number) =>
    callTools(Array.from({ length: count }, (_, n) => ({ tool: "look", input: { n } })));
  const { runtime, models, close } = testRuntime(
    { lead: [many(6), many(5), many(3), many(1), say("done")] },
    { tools: [look], agents: { lead: { limits: { toolCalls: 15, turns: 5 } } } },
  );
  await runtime.run({ agent: "lead", task: "go" });
  const told = (models.lead?.requests ?? []).map(({ prompt }) => {
    const last = prompt.at(-1);
    const text = last?.role === "user" ? JSON.stringify(last.content) : "";
    return /[^"]* left before this task is stopped/.exec(text)?.[0] ?? "";
  });
  expect(told).toEqual([
    "",
    "",
    "",
    "1 tool call is left before this task is stopped",
    "1 turn is left before this task is stopped",
  ]);
  await close();
});

function makeProject(user: object, project: object = {}) {
  const root = mkdtempSync(join(tmpdir(), "retinue-limits-"));
  const write = (path: string, value: object) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(value));
  };
  write(".config/retinue/settings.json", user);
  write("project/.retinue/settings.json", project);
  const env = { HOME: root };
  return {
    load: () => loadProject({ projectDir: join(root, "project"), env }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

test("the user's settings give a built-in agent other limits, and leave the rest of it as it is", async () => {
  using made = makeProject({
    agents: { coder: { limits: { minutes: 20 } }, codr: { limits: { turns: 1 } } },
  });
  const { registry, problems } = await made.load();
  expect(registry.get("coder")?.limits).toEqual({
    turns: 30,
    toolCalls: 30,
    contextChars: 80_000,
    minutes: 20,
  });
  expect(registry.get("coder")?.prompt).toContain("You change code");
  expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    expect.stringContaining("unknown-agent: agents.codr changes an agent that there is not; did you mean"),
  ]);
});

test("a bad number there is an error, and a project can change no agent and raise no scale", async () => {
  using bad = makeProject({ agents: { coder: { limits: { minutes: -1 } } } });
  expect((await bad.load()).problems).toMatchObject([{ severity: "error", code: "bad-value" }]);
  using widening = makeProject(
    { limits: { scale: 2 } },
    { limits: { scale: 9 }, agents: { coder: { limits: { minutes: 60 } } } },
  );
  const { settings, registry, problems } = await widening.load();
  expect(settings.limits.scale).toBe(2);
  expect(registry.get("coder")?.limits.minutes).toBe(5);
  expect(problems).toMatchObject([{ code: "ignored-in-project" }]);
});
