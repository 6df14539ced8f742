import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { failWith, type Step, say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { leapingClock } from "../attacks/clocks.ts";

const PRICES = { prices: { "scripted/lead": { input: 10, output: 100 } } };
const text = (delta: string): LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta },
];
const parts = (...some: LanguageModelV4StreamPart[]): Step => ({ kind: "parts", parts: some });
const broken = Object.assign(new Error("gone"), { type: "network", recoverable: false });

test.each<[string, Step]>([
  ["ends in the middle of its text", parts(...text("half an answer"))],
  [
    "breaks off with an error after its text",
    parts(...text("half an answer"), { type: "error", error: broken }),
  ],
])("a reply that %s is paid for, in the run, in its row and above it", async (_, step) => {
  for (const limits of [{}, { tokens: 100_000, costUsd: 10 }]) {
    await using t = testRuntime(
      { lead: (request) => (request.options.prompt.length === 2 ? step : say("never")) },
      { settings: PRICES, agents: { lead: { limits } }, internals: { clock: leapingClock() } },
    );
    const result = await t.runtime.run({ agent: "lead", task: "go" });
    expect(result.status).toBe("failed");
    const rows = (await t.runtime.record.readRows({ sessionId: result.session_id })).filter(
      ({ request_type }) => request_type === "continuation",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.total_tokens).toBeGreaterThan(50);
      expect(row.cost_usd).toBeGreaterThan(0.000_5);
    }
    const tokens = rows.reduce((sum, row) => sum + (row.total_tokens ?? 0), 0);
    expect(result.tokens).toEqual({ self: tokens, subtree: tokens });
    expect(result.cost_usd.subtree).toBeCloseTo(
      rows.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0),
      10,
    );
  }
});

test("a call that failed before the model began to answer costs nothing", async () => {
  await using t = testRuntime(
    { lead: [failWith("config", "no such model")] },
    { settings: PRICES, agents: { lead: { limits: { tokens: 100_000 } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "failed", tokens: { self: 0, subtree: 0 } });
});

test("replies that break off again and again use up a budget, and end the run at it", async () => {
  const limits = { tokens: 12_000 };
  await using t = testRuntime(
    { lead: () => parts(...text("half an answer")) },
    {
      settings: { maxOutputTokens: 4_000 },
      agents: { lead: { limits } },
      internals: { clock: leapingClock() },
    },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("failed");
  expect(result.tokens.self).toBeLessThanOrEqual(limits.tokens);
  expect(result.error?.type).toBe("budget");
});
