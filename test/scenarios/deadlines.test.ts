import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { callDelegate, callTool, hang, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { type HandClock, handClock } from "../attacks/clocks.ts";

const MINUTE = 60_000;

/** A tool that finds something after so many milliseconds. */
const searching = (clock: HandClock) =>
  defineTool<{ ms: number }>({
    name: "search",
    description: "searches",
    risk: "low",
    replay: "safe",
    input: { type: "object", properties: { ms: { type: "number" } }, required: ["ms"] },
    async execute({ ms }) {
      clock.advance(ms);
      return `found after ${ms} ms`;
    },
  });

/** Time passes once nothing else happens. */
const later = (clock: HandClock, ms: number) => setImmediate(() => setImmediate(() => clock.advance(ms)));

test("at four fifths of its time a run gets one last turn to report, and no tools", async () => {
  const clock = handClock();
  const { runtime, models, close } = testRuntime(
    {
      lead: [
        callTool("search", { ms: 4.7 * MINUTE * 0.5 }),
        callTool("search", { ms: 4.7 * MINUTE * 0.4 }),
        ({ options }) => say(`a report, tools ${JSON.stringify(options.toolChoice)}`),
      ],
    },
    { tools: [searching(clock)], agents: { lead: { limits: { minutes: 5 } } }, internals: { clock } },
  );
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", partial: true, bailout_reason: "deadline" });
  expect(result.details).toBe('a report, tools {"type":"none"}');
  expect(models.lead?.requests).toHaveLength(3);
  await close();
});

test("a run that is cut at its deadline leaves what it said and what its tools answered", async () => {
  const clock = handClock();
  const { runtime, close } = testRuntime(
    {
      lead: [
        {
          kind: "reply",
          text: "I look into the first folder.",
          calls: [{ tool: "search", input: { ms: 1_000 } }],
        },
        () => {
          later(clock, 5 * MINUTE);
          return hang();
        },
      ],
    },
    { tools: [searching(clock)], agents: { lead: { limits: { minutes: 5 } } }, internals: { clock } },
  );
  const { sessionId, result: ending } = await runtime.start({ agent: "lead", task: "go" });
  const result = await ending;
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "timeout", success: false });
  expect(result.details).toContain("I look into the first folder.");
  expect(result.details).toContain("found after 1000 ms");
  expect(await runtime.replay(sessionId)).toMatchObject({ identical: true });
  await close();
});

test("a last report that is cut off in the middle of a sentence is kept up to there", async () => {
  const clock = handClock();
  const { runtime, close } = testRuntime(
    {
      lead: [
        callTool("search", { ms: 4.5 * MINUTE }),
        () => {
          const parts: LanguageModelV4StreamPart[] = [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: "The cause is in parse.ts, and" },
          ];
          // The time is up when the next part is wanted.
          Object.defineProperty(parts, 2, {
            get: () => {
              clock.advance(MINUTE);
              return { type: "text-delta", id: "1", delta: " nobody reads this" };
            },
          });
          return { kind: "parts", parts };
        },
      ],
    },
    { tools: [searching(clock)], agents: { lead: { limits: { minutes: 5 } } }, internals: { clock } },
  );
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("timeout");
  expect(result.details).toContain("The cause is in parse.ts, and");
  await close();
});

test("time that a parent waits for its children is not its own: each has the whole of its time", async () => {
  const clock = handClock();
  const { runtime, close } = testRuntime(
    {
      lead: [
        callDelegate("kid", "one"),
        callDelegate("kid", "two"),
        callDelegate("kid", "three"),
        say("all three are done"),
      ],
      kid: ({ turn, task }) => (turn === 0 ? callTool("search", { ms: 3 * MINUTE }) : say(`${task} done`)),
    },
    {
      tools: [searching(clock)],
      agents: { lead: { limits: { minutes: 5 } }, kid: { limits: { minutes: 5 } } },
      internals: { clock },
    },
  );
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", partial: false, details: "all three are done" });
  await close();
});

test("minutes that a person gives hold for the whole tree, and time with the person counts for nobody", async () => {
  const clock = handClock();
  const ask = defineTool<object>({
    name: "ask",
    description: "asks",
    input: { type: "object" },
    execute: async () => "asked",
  });
  const t = testRuntime(
    {
      lead: [callDelegate("kid", "one"), callDelegate("kid", "two"), callDelegate("kid", "three")],
      kid: ({ turn }) =>
        [callTool("ask", {}), callTool("search", { ms: 3 * MINUTE }), say("done")][turn] ?? say("too often"),
    },
    {
      tools: [searching(clock), ask],
      agents: { lead: {}, kid: { askTools: ["ask"], limits: { minutes: 9 } } },
      internals: { clock },
      approve: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(60 * MINUTE);
        return { allowed: true, by: "me" };
      },
    },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go", limits: { minutes: 8 } });
  expect(result).toMatchObject({ status: "timeout", bailout_reason: "timeout" });
  const kids = t.events.flatMap((event) =>
    event.type === "run.ended" && event.agent === "kid" ? [event.result.status] : [],
  );
  expect(kids).toEqual(["completed", "completed", "timeout"]);
  expect(result.details).toContain("done");
  await t.close();
});

test("a child that hangs ends at its own time, its parent reads what it had found and goes on", async () => {
  const clock = handClock();
  const { runtime, close } = testRuntime(
    {
      lead: [callDelegate("kid", "look"), ({ last }) => say(last)],
      kid: [
        callTool("search", { ms: 10 }),
        () => {
          later(clock, 2 * MINUTE);
          return hang();
        },
      ],
    },
    {
      tools: [searching(clock)],
      agents: { lead: { limits: { minutes: 1 } }, kid: { limits: { minutes: 2 } } },
      internals: { clock },
    },
  );
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  expect(result.details).toContain("timeout");
  expect(result.details).toContain("found after 10 ms");
  await close();
});
