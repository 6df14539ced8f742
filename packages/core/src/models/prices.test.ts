import fc from "fast-check";
import { expect, test } from "vitest";
import { anthropicUsage } from "./anthropic/anthropic-model.ts";
import { openAiUsage } from "./openai/openai-chat-model.ts";
import { computeCost, findOutputLimit, findPrice, PRICES, readUsage } from "./prices.ts";

const usage = {
  inputTokens: 1_000_000,
  outputTokens: 1_000_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

test("input and output are charged by the million", () => {
  expect(computeCost(usage, { input: 3, output: 15 })).toBe(18);
});

test("cached and reasoning tokens have their own price, or that of the rest", () => {
  const mixed = { ...usage, cacheReadTokens: 500_000, cacheWriteTokens: 100_000, reasoningTokens: 200_000 };
  expect(computeCost(mixed, { input: 10, output: 20 })).toBeCloseTo(30);
  const price = { input: 10, output: 20, cacheRead: 1, cacheWrite: 12.5, reasoning: 30 };
  expect(computeCost(mixed, price)).toBeCloseTo(4 + 0.5 + 1.25 + 16 + 6);
});

test("what is not known costs null, never 0", () => {
  expect(computeCost(usage, null)).toBeNull();
  expect(computeCost(null, { input: 1, output: 1 })).toBeNull();
  expect(computeCost({ ...usage, inputTokens: Number.NaN }, { input: 1, output: 1 })).toBeNull();
  expect(computeCost({ ...usage, outputTokens: -1 }, { input: 1, output: 1 })).toBeNull();
});

test("a cost is never negative, whatever the counts say", () => {
  const count = fc.nat(10_000_000);
  const counts = fc.record({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    reasoningTokens: count,
  });
  fc.assert(
    fc.property(
      counts,
      fc.constantFrom(...Object.values(PRICES)),
      (some, price) => (computeCost(some, price) ?? -1) >= 0,
    ),
  );
});

test("a dated model has the price of its family, settings win, and inherited names are no prices", () => {
  expect(findPrice("anthropic", "claude-haiku-4-5-20251001", {})).toEqual(
    PRICES["anthropic/claude-haiku-4-5"],
  );
  expect(findPrice("openai", "gpt-5-2025-08-07", {})).toEqual(PRICES["openai/gpt-5"]);
  expect(findPrice("openai", "gpt-5", { "openai/gpt-5": { input: 9, output: 9 } })).toEqual({
    input: 9,
    output: 9,
  });
  expect(findPrice("local", "qwen", { qwen: { input: 0, output: 0 } })).toEqual({ input: 0, output: 0 });
  expect(findPrice("local", "constructor", {})).toBeNull();
  expect(findPrice("local", "gpt-5", {})).toBeNull();
});

test("reasoning that a server counts apart is added to its output, so that it is paid for", () => {
  const reasoning = { completion_tokens_details: { reasoning_tokens: 30 } };
  const within = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, ...reasoning };
  const apart = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 150, ...reasoning };
  for (const counts of [within, apart]) {
    const read = readUsage(openAiUsage(counts));
    expect(read).toMatchObject({ inputTokens: 100, outputTokens: 50, reasoningTokens: 30 });
    expect(computeCost(read, { input: 1, output: 2 })).toBeCloseTo(200 / 1_000_000, 12);
  }
});

test("input written to a cache is priced as such, whichever server says so", () => {
  const details = { cached_tokens: 40, cache_write_tokens: 10 };
  const openRouter = openAiUsage({
    prompt_tokens: 100,
    completion_tokens: 0,
    prompt_tokens_details: details,
  });
  const anthropic = anthropicUsage({
    input_tokens: 50,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 10,
    output_tokens: 0,
  });
  const price = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 };
  for (const counts of [openRouter, anthropic])
    expect(computeCost(readUsage(counts), price)).toBeCloseTo((50 + 4 + 12.5) / 1_000_000, 12);
});

test("a usage without both totals is unknown", () => {
  const inputTokens = { total: 5, noCache: 3, cacheRead: 2, cacheWrite: undefined };
  const outputTokens = { total: 4, text: 3, reasoning: 1 };
  expect(readUsage({ inputTokens, outputTokens })).toEqual({
    inputTokens: 5,
    outputTokens: 4,
    cacheReadTokens: 2,
    cacheWriteTokens: 0,
    reasoningTokens: 1,
  });
  expect(readUsage({ inputTokens, outputTokens: { ...outputTokens, total: undefined } })).toBeNull();
});

test("how long a reply can be is known of every listed model, and said by the settings of any other", () => {
  for (const id of Object.keys(PRICES)) {
    const [provider = "", modelId = ""] = id.split("/");
    expect(findOutputLimit(provider, modelId, {})).toEqual({
      most: PRICES[id]?.maxOutputTokens,
      isKnown: true,
    });
  }
  expect(findOutputLimit("anthropic", "claude-haiku-4-5-20251001", {}).most).toBe(64_000);
  expect(findOutputLimit("anthropic.messages", "claude-sonnet-4-6", {}).most).toBe(64_000);
  expect(findOutputLimit("openrouter", "anthropic/claude-opus-4.6", {}).most).toBe(128_000);
  expect(findOutputLimit("openrouter", "openai/gpt-5", {}).most).toBe(128_000);
  const own = { "work/big": { input: 1, output: 1, maxOutputTokens: 50_000 } };
  expect(findOutputLimit("work", "big", own)).toEqual({ most: 50_000, isKnown: true });
  expect(
    findOutputLimit("anthropic", "claude-sonnet-4-6", {
      "anthropic/claude-sonnet-4-6": { input: 1, output: 1 },
    }).most,
  ).toBe(64_000);
});

test.each([
  ["openrouter", "anthropic/claude-sonnet-4.5:beta", 64_000],
  ["openrouter", "openai/gpt-5:online", 128_000],
  ["openrouter", "openai/gpt-5-2025-08-07:floor", 128_000],
  ["work", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 64_000],
  ["bedrock", "anthropic.claude-opus-4-1-20250805-v1:0", 32_000],
  ["google", "models/gemini-2.5-pro", 65_536],
  ["google", "gemini-2.5-pro-preview-06-05", 65_536],
  ["openai", "ft:gpt-4o-mini-2024-07-18:org::id", 16_384],
  ["openai", "gpt-4o-2024-08-06", 16_384],
  ["openai", "gpt-4o-2024-05-13", 4_096],
  ["openrouter", "openai/gpt-4o-2024-05-13", 4_096],
])("%s spells a listed model as %s, which can give %i tokens", (provider, modelId, most) => {
  expect(findOutputLimit(provider, modelId, {})).toEqual({ most, isKnown: true });
});

test("a listed model has its price under a gateway's spelling, but not where it was changed or is another's", () => {
  const sonnet = PRICES["anthropic/claude-sonnet-4-5"];
  for (const id of ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5:beta"])
    expect(findPrice("openrouter", id, {})).toEqual(sonnet);
  expect(findPrice("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", {})).toEqual(sonnet);
  expect(findPrice("openai", "gpt-4o-2024-05-13", {})?.input).toBe(5);
  expect(findPrice("openai", "gpt-4o-2024-08-06", {})).toEqual(PRICES["openai/gpt-4o"]);
  expect(findPrice("openai", "ft:gpt-4o-mini-2024-07-18:org::id", {})).toBeNull();
  expect(findPrice("openrouter", "openai/gpt-5:free", {})).toBeNull();
  expect(findPrice("vertex", "claude-sonnet-4-5@20250929", {})).toBeNull();
});

test.each([
  ["vertex", "claude-sonnet-4-5@20250929", 64_000],
  ["anthropic", "claude-2.1", 4_096],
  ["anthropic", "claude-instant-1.2", 4_096],
  ["bedrock", "anthropic.claude-v2:1", 4_096],
  ["google", "gemini-exp-1206", 8_192],
  ["openai", "gpt-5-chat-latest", 16_384],
  ["anthropic", "claude-3-haiku-20240307", 4_096],
  ["anthropic", "claude-future-9", 32_000],
  ["google", "gemini-2.0-flash", 8_192],
  ["google", "gemini-3-pro", 65_536],
  ["openai", "gpt-4-turbo", 4_096],
  ["openai", "gpt-9", 16_384],
  ["ollama", "qwen3:8b", 8_192],
  ["local", "constructor", 8_192],
])("a model of %s that is not listed, %s, is asked for %i tokens", (provider, modelId, most) => {
  expect(findOutputLimit(provider, modelId, {})).toEqual({ most, isKnown: false });
});
