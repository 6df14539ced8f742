import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../schema/result.ts";
import type { Price } from "../schema/settings.ts";

/**
 * List prices in USD per million tokens, and the most tokens of one reply, by `provider/model-id` without a date. Both are
 * to the best of our knowledge when the model was added here. Settings add to these and win over them.
 */
export const PRICES: Readonly<Record<string, Price>> = {
  "anthropic/claude-opus-4-6": {
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    maxOutputTokens: 128_000,
  },
  "anthropic/claude-opus-4-5": {
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    maxOutputTokens: 64_000,
  },
  "anthropic/claude-opus-4-1": {
    input: 15,
    output: 75,
    cacheRead: 1.5,
    cacheWrite: 18.75,
    maxOutputTokens: 32_000,
  },
  "anthropic/claude-sonnet-4-6": {
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    maxOutputTokens: 64_000,
  },
  "anthropic/claude-sonnet-4-5": {
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    maxOutputTokens: 64_000,
  },
  "anthropic/claude-haiku-4-5": {
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    maxOutputTokens: 64_000,
  },
  // Prompts above 200,000 tokens cost more at gemini-2.5-pro.
  "google/gemini-2.5-pro": { input: 1.25, output: 10, cacheRead: 0.125, maxOutputTokens: 65_536 },
  "google/gemini-2.5-flash": { input: 0.3, output: 2.5, cacheRead: 0.03, maxOutputTokens: 65_536 },
  "google/gemini-2.5-flash-lite": { input: 0.1, output: 0.4, cacheRead: 0.01, maxOutputTokens: 65_536 },
  "openai/gpt-5": { input: 1.25, output: 10, cacheRead: 0.125, maxOutputTokens: 128_000 },
  "openai/gpt-5-mini": { input: 0.25, output: 2, cacheRead: 0.025, maxOutputTokens: 128_000 },
  "openai/gpt-5-nano": { input: 0.05, output: 0.4, cacheRead: 0.005, maxOutputTokens: 128_000 },
  "openai/gpt-4.1": { input: 2, output: 8, cacheRead: 0.5, maxOutputTokens: 32_768 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cacheRead: 0.1, maxOutputTokens: 32_768 },
  "openai/gpt-4o": { input: 2.5, output: 10, cacheRead: 1.25, maxOutputTokens: 16_384 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cacheRead: 0.075, maxOutputTokens: 16_384 },
  "openai/o3": { input: 2, output: 8, cacheRead: 0.5, maxOutputTokens: 100_000 },
  "openai/o4-mini": { input: 1.1, output: 4.4, cacheRead: 0.275, maxOutputTokens: 100_000 },
};

/** What is asked for where nobody says how much a model can give: its family's least, or what any server takes. */
const USUAL_OUTPUT: readonly (readonly [id: RegExp, maxOutputTokens: number])[] = [
  [/^claude-3-(?:haiku|opus|sonnet)/, 4_096],
  [/^claude-3-5-/, 8_192],
  [/^claude-/, 32_000],
  [/^gemini-(?:1|2\.0)/, 8_192],
  [/^gemini-/, 65_536],
  [/^gpt-(?:3|4-|4$)/, 4_096],
  [/^(?:gpt-|o\d|chatgpt-)/, 16_384],
];

/** What is asked for of a model of which nothing at all is known. */
export const DEFAULT_OUTPUT_TOKENS = 8_192;

const DATE = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The price of a model: the settings' by full or bare id, else the list's; an unknown model has none. */
export function priceOf(
  provider: string,
  modelId: string,
  own: Readonly<Record<string, Price>>,
): Price | null {
  const id = `${provider}/${modelId}`;
  for (const table of [own, PRICES]) {
    for (const key of [id, modelId, id.replace(DATE, "")]) {
      const price = Object.hasOwn(table, key) ? table[key] : undefined;
      if (price) return price;
    }
  }
  return null;
}

/** The most tokens of one reply, and whether that is known of the model or only usual for its family. */
export type OutputLimit = { readonly most: number; readonly isKnown: boolean };

/** How long a reply of a model can be. Gateways spell a vendor's ids with their own name before, and dots in versions. */
export function findOutputLimit(
  provider: string,
  modelId: string,
  own: Readonly<Record<string, Price>>,
): OutputLimit {
  const vendor = provider.split(".", 1)[0] ?? provider;
  const bare = modelId.slice(modelId.lastIndexOf("/") + 1).replace(DATE, "");
  const dashed = bare.replace(/(claude-[\w-]*\d)\.(\d)/, "$1-$2");
  const keys = [`${provider}/${modelId}`, modelId, `${vendor}/${bare}`];
  const listed = modelId.includes("/") ? `${modelId.split("/", 1)[0]}/${dashed}` : `${vendor}/${dashed}`;
  for (const [table, names] of [[own, keys] as const, [PRICES, [...keys, listed]] as const]) {
    for (const key of names) {
      const most = Object.hasOwn(table, key) ? table[key]?.maxOutputTokens : undefined;
      if (most !== undefined) return { most, isKnown: true };
    }
  }
  const usual = USUAL_OUTPUT.find(([id]) => id.test(dashed))?.[1] ?? DEFAULT_OUTPUT_TOKENS;
  return { most: usual, isKnown: false };
}

/**
 * Cost in USD. Cached tokens are part of the input and reasoning tokens part of the output; without prices of their own
 * they cost as much as the rest. No usage, no price or senseless counts give `null`, never 0.
 */
export function costOf(usage: Usage | null, price: Price | null): number | null {
  if (!usage || !price) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens];
  if (!counts.every((count) => Number.isFinite(count) && count >= 0)) return null;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const spoken = Math.max(0, outputTokens - reasoningTokens);
  const millionths =
    fresh * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    spoken * price.output +
    reasoningTokens * (price.reasoning ?? price.output);
  return millionths / 1_000_000;
}

/** A model's own count in our terms; `null` unless it tells both input and output. */
export function usageOf(usage: LanguageModelV4Usage): Usage | null {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens.total === undefined || outputTokens.total === undefined) return null;
  return {
    inputTokens: inputTokens.total,
    outputTokens: outputTokens.total,
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
  };
}
