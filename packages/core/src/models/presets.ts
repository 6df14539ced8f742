import type { ProviderSettings } from "../schema/settings.ts";

/** Names every provider answers to with a model of its own. */
export const ALIASES = ["fast", "smart", "haiku", "sonnet", "opus"] as const;
/** One of the built-in model aliases. */
export type Alias = (typeof ALIASES)[number];

/** A provider that needs no settings: its key is in the environment, or it runs on this machine. */
export type Preset = ProviderSettings & {
  baseUrl: string;
  /** Variable that replaces the address. */
  baseUrlEnv?: string;
  /** Variables in which people also keep the key. */
  otherKeyEnvs?: readonly string[];
  /** Used only when a model names it, since nobody knows whether such a server runs. */
  onlyByName?: true;
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
  google: {
    kind: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    apiKeyEnv: "GEMINI_API_KEY",
    otherKeyEnvs: ["GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    aliases: {
      fast: "gemini-2.5-flash",
      smart: "gemini-2.5-pro",
      haiku: "gemini-2.5-flash",
      sonnet: "gemini-2.5-pro",
      opus: "gemini-2.5-pro",
    },
    ownIds: /^gemini-/,
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
  ollama: {
    kind: "ollama",
    baseUrl: "http://127.0.0.1:11434",
    baseUrlEnv: "OLLAMA_HOST",
    aliases: {},
    onlyByName: true,
  },
  lmstudio: onThisMachine(1234),
  "llama.cpp": onThisMachine(8080),
  vllm: onThisMachine(8000),
};

/** An OpenAI-compatible server on its usual port. */
function onThisMachine(port: number): Preset {
  return {
    kind: "openai-compatible",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    aliases: {},
    onlyByName: true,
  };
}
