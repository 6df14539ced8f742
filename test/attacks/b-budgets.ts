import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { messageOf } from "@retinue/core/schema/error";
import {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  type ScriptedUsage,
  type ScriptRequest,
  type Step,
  say,
} from "@retinue/core/testing";
import { expect } from "vitest";
import { type Attack, expectSettled, type Outcome, type World } from "./attack.ts";
import { handClock, leapingClock } from "./clocks.ts";

const SEEDS = process.env.RETINUE_DEEP === "1" ? 1_000 : 20;
const PRICE = { input: 3, output: 15 };

/** What a scripted provider really reported for one call. */
type Spent = { input: number; output: number };

/**
 * A provider that counts honestly: so many tokens per character, the same in the whole world, and for the output
 * anything from what was said up to what the request allows. It answers in random order.
 */
function honestProvider(
  world: World,
  act: (request: ScriptRequest) => Step,
): (request: ScriptRequest) => Step {
  const ratio = world.random() / 4;
  const turn = shuffled(world.random);
  return (request) => {
    const step = act(request);
    if (step.kind !== "reply") return step;
    const max = request.options.maxOutputTokens ?? 0;
    const least = Math.min(
      max,
      Math.ceil(ratio * (step.text.length + JSON.stringify(step.calls).length)) + 1,
    );
    const output = world.random() < 0.2 ? max : least + Math.floor(world.random() * (max - least));
    const usage: Spent = {
      input: Math.max(1, Math.floor(ratio * textLength(request.options))),
      output: Math.max(1, output),
    };
    world.seen.push(usage);
    return after(turn(), { ...step, usage });
  };
}

function textLength({ prompt }: LanguageModelV4CallOptions): number {
  return prompt.reduce(
    (sum, { content }) =>
      sum +
      (typeof content === "string"
        ? content.length
        : content.reduce((all, part) => all + (part.type === "text" ? part.text.length : 0), 0)),
    0,
  );
}

/** Lets those who wait go one by one, in random order. */
function shuffled(random: () => number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const next = () => {
    waiting.splice(Math.floor(random() * waiting.length), 1)[0]?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}

const spentOf = (world: World) => world.seen as Spent[];
const tokensOf = (world: World) => spentOf(world).reduce((sum, { input, output }) => sum + input + output, 0);
const computeCost = (world: World) =>
  spentOf(world).reduce((sum, { input, output }) => sum + input * PRICE.input + output * PRICE.output, 0) /
  1e6;
const hundred = callDelegateMany(
  Array.from({ length: 100 }, (_, index) => ({ id: `t${index}`, agent: "worker", task: `task ${index}` })),
);

/** A hundred children of up to three turns each, all at once, on one budget. */
function crowd(world: World): ReturnType<Attack["turns"]> {
  const lead = (request: ScriptRequest) => (request.turn === 0 ? hundred : say("done"));
  const worker = (request: ScriptRequest) =>
    request.turn < 2 && world.random() < 0.6
      ? callTool("note", { n: request.turn })
      : say("ok".repeat(1 + Math.floor(world.random() * 40)));
  const provider = honestProvider(world, (request) =>
    request.task === "go" ? lead(request) : worker(request),
  );
  return { lead: provider, worker: provider };
}

async function expectWithinBudget(
  { world, t, result }: Outcome,
  limit: { tokens: number } | { costUsd: number },
): Promise<void> {
  if ("tokens" in limit) expect(tokensOf(world)).toBeLessThanOrEqual(limit.tokens);
  else expect(computeCost(world)).toBeLessThanOrEqual(limit.costUsd * (1 + 1e-9));
  expect(result.tokens.subtree).toBe(tokensOf(world));
  await expectSettled(t);
  const finished = t.trace().filter((line) => line === "lead > worker: completed").length;
  expect(finished).toBeLessThan(100);
  const share = "tokens" in limit ? tokensOf(world) / limit.tokens : computeCost(world) / limit.costUsd;
  expect(share).toBeGreaterThan(0.5);
}

const CROWD_OPTIONS = { maxConcurrent: 100 };
const note = (world: World) => [
  world.tool("note", { execute: async () => "x".repeat(Math.floor(world.random() * 2_000)) }),
];

const LONG = " all of it".repeat(20_000);

/** Usage that no honest provider reports for a task of one word, or of many. */
const ABSURD: readonly (readonly [name: string, usage: ScriptedUsage, long?: string])[] = [
  ["cached beyond the input", { input: 10, cacheRead: 99_999_999 }],
  ["a negative cached count", { input: 10, cacheRead: -5_000 }],
  ["input beyond what was sent", { input: 5_000_000 }],
  ["input that is a text", { input: "700" as never }],
  ["half a token", { input: 0.5 }],
  ["output beyond what was allowed", { output: 3_000_000 }],
  ["reasoning beyond the output", { output: 5, reasoning: 40_000_000 }],
  ["hardly any input for a long task", { input: 3 }, LONG],
  ["hardly any output for a long answer", { output: 1 }, LONG],
];

/** Budgets hold for the whole tree, whatever a provider says. */
export const B_CASES: readonly Attack[] = [
  {
    id: "B1 tokens",
    title: "a hundred children at once on a token budget for ten never overshoot it, and all settle",
    guards: ["reserve"],
    seeds: SEEDS,
    setup: (world) => ({
      tools: note(world),
      settings: CROWD_OPTIONS,
      agents: { lead: { limits: { tokens: 90_000 }, subagents: { allow: ["worker"], maxConcurrent: 100 } } },
    }),
    turns: crowd,
    oracle: (outcome) => expectWithinBudget(outcome, { tokens: 90_000 }),
  },
  {
    id: "B1 cost",
    title: "nor do they overshoot a cost budget",
    guards: ["reserve"],
    seeds: SEEDS,
    setup: (world) => ({
      tools: note(world),
      settings: { ...CROWD_OPTIONS, prices: { "scripted/lead": PRICE, "scripted/worker": PRICE } },
      agents: { lead: { limits: { costUsd: 1.2 }, subagents: { allow: ["worker"], maxConcurrent: 100 } } },
    }),
    turns: crowd,
    oracle: (outcome) => expectWithinBudget(outcome, { costUsd: 1.2 }),
  },
  {
    id: "B2",
    title: "what grandchildren spend is counted in every ancestor and against every ancestor's limit",
    guards: ["reserve"],
    setup: () => ({ agents: { lead: { limits: { tokens: 100_000 } }, middle: { subagents: ["leaf"] } } }),
    turns: () => ({
      lead: [
        { ...callDelegate("middle", "x"), usage: { input: 100, output: 10 } },
        say("done", { input: 200, output: 20 }),
      ],
      middle: [
        { ...callDelegate("leaf", "x"), usage: { input: 1_000, output: 100 } },
        say("done", { input: 2_000, output: 200 }),
      ],
      leaf: [say("done", { input: 14_000, output: 4_000 })],
    }),
    oracle: ({ t, result }) => {
      const subtrees = t.events.flatMap((event) =>
        event.type === "run.ended"
          ? [[event.agent, event.result.tokens.self, event.result.tokens.subtree]]
          : [],
      );
      expect(subtrees).toEqual([
        ["leaf", 18_000, 18_000],
        ["middle", 3_300, 21_300],
        ["lead", 330, 21_630],
      ]);
      expect(result.tokens.subtree).toBe(21_630);
    },
  },
  ...[
    { input: Number.NaN, output: Number.NaN },
    { input: -1_000_000, output: -1_000_000 },
    { input: undefined, output: undefined },
    { input: Number.POSITIVE_INFINITY, output: Number.NEGATIVE_INFINITY },
    { input: 1e308, output: 1e308 },
    { input: 10, output: Number.NaN },
  ].map(
    (usage): Attack => ({
      id: `B4 ${usage.input}/${usage.output}`,
      title: "usage that is missing or makes no sense is charged at the worst case",
      guards: ["measure"],
      setup: (world) => ({
        tools: [world.tool("note")],
        agents: { lead: { limits: { tokens: 20_000, turns: 100 } } },
      }),
      turns: () => ({
        lead: (request) =>
          request.options.toolChoice?.type === "none"
            ? say("so far", usage)
            : { ...callTool("note", { n: request.turn }), usage },
      }),
      oracle: ({ t, result }) => {
        expect(t.models.lead?.requests.length).toBeLessThanOrEqual(4);
        expect(result.tokens.self).toBeGreaterThan(8_000);
        expect(result.tokens.self).toBeLessThanOrEqual(20_000);
      },
    }),
  ),
  ...ABSURD.map(
    ([name, usage, long = ""]): Attack => ({
      id: `B9 ${name}`,
      title: "usage that cannot be true is not believed: an estimate is counted, never less, and it is said",
      guards: ["measure"],
      setup: () => ({ settings: { prices: { "scripted/lead": { input: 10, output: 100 } } } }),
      turns: () => ({ lead: [say(`done${long}`, { input: 700, output: 7, ...usage })] }),
      act: (t) => t.runtime.run({ agent: "lead", task: `go${long}` }),
      oracle: async ({ t, result }) => {
        const about = `the usage that scripted/lead reports is not believed: it `;
        expect(result.warnings).toEqual([expect.stringContaining(about)]);
        const [row] = (await t.runtime.record.readRows({ sessionId: result.session_id })).filter(
          ({ request_type }) => request_type === "continuation",
        );
        expect(row?.metadata_json).toContain("estimated");
        const [request] = t.models.lead?.requests ?? [];
        const plausible = Math.floor((request ? textLength(request) : 0) / 4);
        expect(row?.prompt_tokens).toBeGreaterThanOrEqual(plausible);
        expect(result.tokens.self).toBeLessThan(20_000 + 3 * plausible);
        expect(result.cost_usd.self).toBeGreaterThanOrEqual((plausible * 10) / 1e6);
        expect(result.cost_usd.self).toBeLessThan(2 + (plausible * 200) / 1e6);
      },
    }),
  ),
  {
    id: "B5",
    title: "a storm of rate limits on a hundred children costs at most a fifth more calls, and all succeed",
    noGuard: "the provider's limit paces all calls; it is part of the scheduler and cannot be left out",
    setup: (world) => {
      const clock = leapingClock();
      world.seen.push(clock);
      return {
        internals: { clock, random: world.random },
        settings: {
          maxConcurrent: 100,
          providers: { scripted: { kind: "openai-compatible", maxConcurrent: 32 } },
        },
        agents: {
          lead: { limits: { minutes: 60 }, subagents: { allow: ["worker"], maxConcurrent: 100 } },
          worker: { limits: { minutes: 60 } },
        },
        tools: [world.tool("note")],
      };
    },
    turns: (world) => {
      const clock = world.seen[0] as ReturnType<typeof leapingClock>;
      const stormUntilMs = 20_000;
      return {
        lead: (request) => (request.turn === 0 ? hundred : say("done")),
        worker: (request) => {
          if (clock.monotonicMs() < stormUntilMs)
            return failWith(world.broken ? "overloaded" : "rate_limit", "slow down", { recoverable: true });
          return request.turn < 2 ? callTool("note", { n: request.turn }) : say("ok");
        },
      };
    },
    oracle: ({ t }) => {
      expect(t.trace().filter((line) => line === "lead > worker: completed")).toHaveLength(100);
      expect(t.models.worker?.requests.length).toBeLessThanOrEqual(300 * 1.2);
    },
  },
  {
    id: "B6",
    title: "a wall clock that jumps by a year, back or forth, neither ends a run nor lengthens it",
    noGuard: "deadlines are told the time by a clock that never jumps; nothing stands in between",
    setup: (world) => {
      const clock = handClock();
      const year = 365 * 86_400_000;
      const jump = world.tool("jump", {
        execute: async ({ ms }) => {
          clock.jumpWall(Number(ms) * year);
          if (world.broken) clock.advance(Math.abs(Number(ms)) * year);
          return "ok";
        },
      });
      return { tools: [jump], internals: { clock }, agents: { lead: { limits: { minutes: 5 } } } };
    },
    turns: () => ({ lead: [callTool("jump", { ms: 1 }), callTool("jump", { ms: -2 }), say("done")] }),
    oracle: async ({ t, result }) => {
      expect(result).toMatchObject({ status: "completed", partial: false, duration_ms: 0 });
      for (const { session_id } of (await t.runtime.record.listSessions()).sessions) {
        for (const row of await t.runtime.record.readRows({ sessionId: session_id }))
          expect(row.duration_ms).toBe(0);
      }
    },
  },
  {
    id: "B7 deadline",
    title: "time that runs out inside a tool leads to one last report without tools",
    noGuard: "the run's own deadline ends it before its next turn",
    setup: (world) => {
      const clock = handClock();
      const slow = world.tool("slow", {
        execute: async () => String(clock.advance(world.broken ? 1 : 55_000)),
      });
      return { tools: [slow], internals: { clock }, agents: { lead: { limits: { minutes: 1 } } } };
    },
    turns: () => ({
      lead: (request) =>
        request.options.toolChoice?.type === "none" || request.turn > 2
          ? say("so far")
          : callTool("slow", { n: request.turn }),
    }),
    oracle: async ({ world, t, result }) => {
      expect(result).toMatchObject({
        status: "completed",
        partial: true,
        bailout_reason: "deadline",
        summary: "so far",
      });
      expect(world.count("slow")).toBe(1);
      await expectSettled(t);
    },
  },
  {
    id: "B7 timeout",
    title: "a tool that goes on past the end of its run is told to stop, and what there is is kept",
    noGuard: "the run's own deadline fires the signal of its calls",
    setup: (world) => {
      const clock = handClock();
      const slow = world.tool("slow", {
        execute: async (_, { signal }) => {
          clock.advance(world.broken ? 1 : 61_000);
          world.seen.push(signal.aborted);
          return signal.aborted ? new Promise<string>(() => {}) : "ok";
        },
      });
      return { tools: [slow], internals: { clock }, agents: { lead: { limits: { minutes: 1 } } } };
    },
    turns: () => ({ lead: [{ ...callTool("slow", {}), text: "I begin" }, say("done")] }),
    oracle: async ({ world, t, result }) => {
      expect(world.seen).toEqual([true]);
      expect(result).toMatchObject({
        status: "timeout",
        success: false,
        partial: true,
        bailout_reason: "timeout",
        details: "I begin",
      });
      await expectSettled(t);
    },
  },
  {
    id: "B7 tokens",
    title:
      "a token budget that a child uses up inside a tool call ends its parent with a report, not an error",
    guards: ["reserve"],
    setup: () => ({ agents: { lead: { limits: { tokens: 5_975 } } } }),
    turns: () => ({
      lead: (request) =>
        request.options.toolChoice?.type === "none"
          ? say("so far", { input: 500, output: 5 })
          : { ...callDelegate("child", `x${request.turn}`), usage: { input: 300, output: 10 } },
      child: { eachRun: [say("half", { input: 100, output: 4_900 })] },
    }),
    oracle: async ({ t, result }) => {
      expect(result).toMatchObject({
        status: "completed",
        partial: true,
        bailout_reason: "max_tokens",
        summary: "so far",
      });
      expect(result.tokens.subtree).toBeLessThanOrEqual(5_975);
      await expectSettled(t);
    },
  },
  ...[Number.NaN, -1, 1.5, "5", Number.POSITIVE_INFINITY, 1e308].map(
    (budget): Attack => ({
      id: `B8 ${String(budget)}${typeof budget === "string" ? " as text" : ""}`,
      title: "a budget that is no whole number is refused by its name, and nothing runs",
      noGuard: "numbers are checked where a run is asked for, before there is any run to guard",
      setup: (world) => ({
        tools: [world.tool("look")],
        agents: { lead: { limits: { toolCalls: 5, turns: 60 } } },
        lenient: true,
      }),
      turns: () => ({
        lead: { eachRun: Array.from({ length: 40 }, (_, turn) => callTool("look", { turn })) },
      }),
      act: async (t, world) => {
        const said = await t.runtime
          .spawn("lead", "go", { budget: (world.broken ? 7 : budget) as number })
          .then(() => "it ran", messageOf);
        world.seen.push(said);
        return t.runtime.spawn("lead", "go", { budget: 0 });
      },
      oracle: ({ world }) => {
        expect(world.seen).toEqual([expect.stringMatching(/^budget is .* must be a whole number/)]);
        expect(world.count("look")).toBe(0);
      },
    }),
  ),
];
