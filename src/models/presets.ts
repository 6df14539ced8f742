import type { ProviderSettings } from "../schema/settings.ts";

/** Names every provider answers to with a model of its own. */
export const ALIASES = ["fast", "smart", "haiku", "sonnet", "opus"] as const;
/** One of the built-in model aliases. */
export type Alias = (typeof ALIASES)[number];

/** A provider that works as soon as its key is in the environment. */
export type Preset = ProviderSettings & {
  baseUrl: string;
  /** Variable that replaces the address. */
  baseUrlEnv?: string;
  aliases: Readonly<Partial<Record<Alias, string>>>;
  /** Bare model ids that can only be this provider's. */
  ownIds?: RegExp;
};

/** Built-in providers, in the order in which they are preferred for an alias. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  anthropic: {
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com",
    baseUrlEnv: "ANTHROPIC_BASE_URL",
    apiKeyEnv: "ANTHROPIC_API_KEY",
    aliases: {
      fast: "claude-haiku-4-5",
      smart: "claude-sonnet-4-6",
      haiku: "claude-haiku-4-5",
      sonnet: "claude-sonnet-4-6",
      opus: "claude-opus-4-6",
    },
    ownIds: /^claude-/,
  },
  openai: {
    kind: "openai-compatible",
    baseUrl: "https://api.openai.com/v1",
    baseUrlEnv: "OPENAI_BASE_URL",
    apiKeyEnv: "OPENAI_API_KEY",
    aliases: { fast: "gpt-5-mini", smart: "gpt-5", haiku: "gpt-5-mini", sonnet: "gpt-5", opus: "gpt-5" },
    ownIds: /^(gpt-|o\d)/,
  },
  openrouter: {
    kind: "openai-compatible",
    baseUrl: "https://openrouter.ai/api/v1",
    apiKeyEnv: "OPENROUTER_API_KEY",
    aliases: {
      fast: "anthropic/claude-haiku-4.5",
      smart: "anthropic/claude-sonnet-4.6",
      haiku: "anthropic/claude-haiku-4.5",
      sonnet: "anthropic/claude-sonnet-4.6",
      opus: "anthropic/claude-opus-4.6",
    },
  },
  deepseek: {
    kind: "openai-compatible",
    baseUrl: "https://api.deepseek.com/v1",
    apiKeyEnv: "DEEPSEEK_API_KEY",
    aliases: {
      fast: "deepseek-chat",
      smart: "deepseek-reasoner",
      haiku: "deepseek-chat",
      sonnet: "deepseek-chat",
      opus: "deepseek-reasoner",
    },
    ownIds: /^deepseek-/,
  },
};
