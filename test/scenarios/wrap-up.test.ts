import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import {
  callDelegate,
  callTool,
  callTools,
  failWith,
  hang,
  type ScriptRequest,
  type Step,
  say,
  testRuntime,
} from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { fastClock } from "../attacks/clocks.ts";

const FOUND = "The lock file pins zod 4.6.1.";

/** Answers with a fact and a great deal more. */
const look: AnyTool = defineTool<{ n: number }>({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: { n: { type: "integer" } } },
  replay: "safe",
  execute: async ({ n }) => `${FOUND} (${n})\n${"filler ".repeat(4_200)}`,
});

const sayAndLook = (text: string, n: number): Step => ({
  kind: "reply",
  text,
  calls: [{ tool: "look", input: { n } }],
});
const isWrapUp = ({ options }: ScriptRequest) => options.providerOptions?.retinue?.purpose === "wrap_up";
const isSummary = ({ options }: ScriptRequest) => options.providerOptions?.retinue?.purpose === "summary";
const many = callTools(Array.from({ length: 10 }, (_, n) => ({ tool: "look", input: { n } })));

function sizeOfPrompt({ prompt }: LanguageModelV4CallOptions): number {
  let chars = 0;
  for (const { content } of prompt) {
    if (typeof content === "string") chars += content.length;
    else
      for (const part of content) {
        if (part.type === "text") chars += part.text.length;
        if (part.type === "tool-call") chars += JSON.stringify(part.input).length;
        if (part.type === "tool-result" && "value" in part.output) chars += String(part.output.value).length;
      }
  }
  return chars;
}

const LIMITS: readonly [name: string, limits: Record<string, number>][] = [
  ["turns", { turns: 1, toolCalls: 50, contextChars: 30_000 }],
  ["tool calls", { toolCalls: 10, contextChars: 30_000 }],
  ["tokens", { tokens: 110_000, toolCalls: 50, contextChars: 30_000 }],
];

test.each(LIMITS)("the last report after a limit of %s keeps to the context limit", async (_, limits) => {
  await using t = testRuntime(
    { lead: (request) => (isSummary(request) ? say("sum") : isWrapUp(request) ? say("so far") : many) },
    { tools: [look], agents: { lead: { limits } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "look" });
  expect(result).toMatchObject({ status: "completed", partial: true, summary: "so far" });
  const last = t.models.lead?.requests.at(-1);
  expect(last?.toolChoice).toEqual({ type: "none" });
  expect(last && sizeOfPrompt(last)).toBeLessThanOrEqual(30_000);
  expect(JSON.stringify(last?.prompt)).toContain(FOUND);
});

/** What a model may do when it is asked for its last report, and how the run then ends. */
const LAST: readonly [name: string, step: Step, status: string][] = [
  ["says nothing", say(""), "completed"],
  ["says only white space", say(" \n "), "completed"],
  ["calls tools", callTool("look", { n: 7 }), "completed"],
  ["calls tools with some words", sayAndLook("One more look.", 7), "completed"],
  ["fails", failWith("bad_response", "no"), "completed"],
  ["overflows", failWith("context_overflow", "too long"), "completed"],
  ["never answers", hang(), "timeout"],
];

test.each(LAST)(
  "what was gathered is in the answer of a run whose model %s at the end",
  async (_, step, status) => {
    await using t = testRuntime(
      {
        lead: (request) => {
          if (isSummary(request)) return say("sum");
          if (isWrapUp(request)) return step;
          return request.turn === 0 ? sayAndLook("I look at the lock file.", 1) : many;
        },
      },
      {
        tools: [look],
        lenient: true,
        agents: { lead: { limits: { turns: 2, contextChars: 30_000, minutes: 5 } } },
        internals: { clock: fastClock(1_000) },
      },
    );
    const result = await t.runtime.run({ agent: "lead", task: "look" });
    expect(result).toMatchObject({ status, partial: true });
    expect(result.details).toContain("I look at the lock file.");
    expect(result.details).toContain(FOUND);
    expect(result.details.length).toBeLessThan(35_000);
    expect(result.tool_calls_used).toBe(11);
  },
);

test("a parent gets what its child had gathered, and results of children count as gathered", async () => {
  await using t = testRuntime(
    {
      lead: (request) => (isWrapUp(request) ? say("") : callDelegate("scout", "look")),
      scout: { eachRun: [callTool("look", { n: 1 }), say("")] },
    },
    { tools: [look], agents: { lead: { limits: { turns: 1 } }, scout: { limits: { turns: 1 } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "look" });
  expect(result).toMatchObject({ status: "completed", partial: true });
  expect(result.details).toContain(FOUND);
});
