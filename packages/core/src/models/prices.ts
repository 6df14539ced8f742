import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { findOwn } from "../schema/find-own.ts";
import type { Usage } from "../schema/result.ts";
import type { Price } from "../schema/settings.ts";

/**
 * List prices in USD per million tokens, and the most tokens of one reply, by `provider/model-id` without a date, but
 * for snapshots that differ. Both are to the best of our knowledge when the model was added here. Settings add to these and win over them.
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
  "openai/gpt-4o-2024-05-13": { input: 5, output: 15, maxOutputTokens: 4_096 },
  "openai/gpt-4o-mini": { input: 0.15, output: 0.6, cacheRead: 0.075, maxOutputTokens: 16_384 },
  "openai/o3": { input: 2, output: 8, cacheRead: 0.5, maxOutputTokens: 100_000 },
  "openai/o4-mini": { input: 1.1, output: 4.4, cacheRead: 0.275, maxOutputTokens: 100_000 },
};

/** What is asked for where nobody says how much a model can give: its family's least, or what any server takes. */
const USUAL_OUTPUT: readonly (readonly [id: RegExp, maxOutputTokens: number])[] = [
  [/^claude(?:$|-(?:[12]\b|v\d|instant|3-(?:haiku|opus|sonnet)))/, 4_096],
  [/^claude-3-5-/, 8_192],
  [/^claude-/, 32_000],
  [/^gemini-(?:1|2\.0|pro|ultra|exp)/, 8_192],
  [/^gemini-/, 65_536],
  [/^gpt-(?:3|4-|4$)/, 4_096],
  [/^(?:gpt-|o\d|chatgpt-)/, 16_384],
];

/** What is asked for of a model of which nothing at all is known. */
export const DEFAULT_OUTPUT_TOKENS = 8_192;

/** Where a model runs for a region, and whose it is, as Amazon writes it before the id. */
const REGION = /^(?:(?:us|us-gov|eu|apac|ap|jp|au|ca|sa|global)\.)?([a-z]+)\.(?=[a-z])/;
/** What gateways add: a variant such as `:beta`, and Amazon a version. */
const ADDED = /(?:-v\d+(?::\d+)?|:[\w.-]*)$/;
/** A snapshot by its date, or the newest one. */
const SNAPSHOT = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|default|(?:preview|exp)(?:-\d{2}-\d{2}|-\d{4})?)$/;
const FAMILIES: readonly (readonly [id: RegExp, vendor: string])[] = [
  [/^claude-/, "anthropic"],
  [/^gemini-/, "google"],
  [/^(?:gpt-|o\d|chatgpt-)/, "openai"],
];

/** A model as lists spell it, whatever a gateway makes of that. */
type ModelName = {
  /** Whose it is, if the provider or the id says so. */
  readonly vendor: string;
  /** Whose an id of this form usually is. */
  readonly family: string | undefined;
  /** The ids to look for, with a snapshot's date and without. */
  readonly ids: readonly string[];
  /** It was trained further, or costs nothing, so that the list's price is not its own. */
  readonly isPricedApart: boolean;
};

function readModelName(provider: string, modelId: string): ModelName {
  const [, tuned] = /^ft:([^:]+)/.exec(modelId) ?? [];
  const last = (tuned ?? modelId).slice((tuned ?? modelId).lastIndexOf("/") + 1);
  const [region = "", owner] = REGION.exec(last) ?? [];
  const added = last.slice(region.length).replace(ADDED, "");
  // Versions of Claude are written with dots by some.
  const dated = added.replace(/(claude-[\w-]*\d)\.(\d)/, "$1-$2");
  const first = modelId.includes("/") ? modelId.split("/", 1)[0] : provider.split(".", 1)[0];
  return {
    vendor: owner ?? first ?? provider,
    family: FAMILIES.find(([id]) => id.test(dated))?.[1],
    ids: [dated, dated.replace(SNAPSHOT, "")],
    isPricedApart: tuned !== undefined || /:free$/.test(modelId),
  };
}

/** The price of a model: the settings' by full or bare id, else the list's; an unknown model has none. */
export function findPrice(
  provider: string,
  modelId: string,
  own: Readonly<Record<string, Price>>,
): Price | null {
  const { vendor, ids, isPricedApart } = readModelName(provider, modelId);
  const exact = [`${provider}/${modelId}`, modelId];
  const names = isPricedApart ? exact : [...exact, ...ids.map((id) => `${vendor}/${id}`)];
  for (const table of [own, PRICES]) {
    const price = names.map((name) => findOwn(table, name)).find((each) => each !== undefined);
    if (price) return price;
  }
  return null;
}

/** The most tokens of one reply, whether that is known of the model or only usual for its family, or its server said so. */
export type OutputLimit = { readonly most: number; readonly isKnown: boolean; readonly isTold?: boolean };

/** How long a reply of a model can be, under every server and spelling. */
export function findOutputLimit(
  provider: string,
  modelId: string,
  own: Readonly<Record<string, Price>>,
): OutputLimit {
  const { vendor, family, ids } = readModelName(provider, modelId);
  const owners = [vendor, provider.split(".", 1)[0] ?? provider];
  const names = [
    `${provider}/${modelId}`,
    modelId,
    ...owners.flatMap((owner) => ids.map((id) => `${owner}/${id}`)),
  ];
  for (const table of [own, PRICES]) {
    const most = findMost(table, names);
    if (most !== undefined) return { most, isKnown: true };
  }
  // A server may call anything by a well-known name.
  const usual = findMost(
    PRICES,
    ids.map((id) => `${family}/${id}`),
  );
  const of = USUAL_OUTPUT.find(([form]) => ids.some((id) => form.test(id)))?.[1];
  return { most: usual ?? of ?? DEFAULT_OUTPUT_TOKENS, isKnown: false };
}

function findMost(table: Readonly<Record<string, Price>>, names: readonly string[]): number | undefined {
  return names.map((name) => findOwn(table, name)?.maxOutputTokens).find((most) => most !== undefined);
}

/**
 * Cost in USD. Cached tokens are part of the input and reasoning tokens part of the output; without prices of their own
 * they cost as much as the rest. No usage, no price or senseless counts give `null`, never 0.
 */
export function computeCost(usage: Usage | null, price: Price | null): number | null {
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
export function readUsage(usage: LanguageModelV4Usage): Usage | null {
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
