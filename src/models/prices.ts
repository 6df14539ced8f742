import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../schema/result.ts";
import type { Price } from "../schema/settings.ts";

/** List prices in USD per million tokens, by `provider/model-id` without a date. Settings add to these and win over them. */
export const PRICES: Readonly<Record<string, Price>> = {
  "anthropic/claude-opus-4-6": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  "anthropic/claude-opus-4-1": { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 },
  "anthropic/claude-sonnet-4-6": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "anthropic/claude-sonnet-4-5": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  "anthropic/claude-haiku-4-5": { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
  // Prompts above 200,000 tokens cost more at gemini-2.5-pro.
  "google/gemini-2.5-pro": { input: 1.25, output: 10, cacheRead: 0.125 },
  "google/gemini-2.5-flash": { input: 0.3, output: 2.5, cacheRead: 0.03 },
  "google/gemini-2.5-flash-lite": { input: 0.1, output: 0.4, cacheRead: 0.01 },
  "openai/gpt-5": { input: 1.25, output: 10, cacheRead: 0.125 },
  "openai/gpt-5-mini": { input: 0.25, output: 2, cacheRead: 0.025 },
  "openai/gpt-5-nano": { input: 0.05, output: 0.4, cacheRead: 0.005 },
  "openai/gpt-4.1": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cacheRead: 0.1 },
  "openai/gpt-4o": { input: 2.5, output: 10, cacheRead: 1.25 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cacheRead: 0.075 },
  "openai/o3": { input: 2, output: 8, cacheRead: 0.5 },
  "openai/o4-mini": { input: 1.1, output: 4.4, cacheRead: 0.275 },
};

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
