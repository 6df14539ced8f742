import type { Agent, Limits } from "./agent.ts";

/** Prices in USD per million tokens. */
export type Price = {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
};

/** How one provider is reached. Keys come from the environment or the user's own settings, never from a project. */
export type ProviderSettings = {
  kind: "openai-compatible" | "anthropic" | "google" | "ollama";
  baseUrl?: string;
  /** Name of the environment variable that holds the key. */
  apiKeyEnv?: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  maxConcurrent?: number;
};

/** How commands run. A project's own settings can only make this stricter. */
export type ShellSettings = {
  /**
   * `required`: only in the operating system's sandbox; `auto`: without one, in the built-in shell that knows no
   * programs; `off`: on the host itself, with all the rights of the person.
   */
  sandbox: "auto" | "required" | "off";
  network: boolean;
  /** Wall time of one command. */
  seconds: number;
  memoryMb: number;
  /** Processes and threads at once. */
  pids: number;
  /** What one command may add to the disk. */
  diskMb: number;
  /** Names of environment variables that commands may see besides the usual few. */
  env: readonly string[];
};

/** Checked settings, all defaults filled in. */
export type Settings = {
  /** Default model: an alias or `provider/model-id`; absent: none configured. */
  model?: string;
  aliases: Readonly<Record<string, string>>;
  providers: Readonly<Record<string, ProviderSettings>>;
  prices: Readonly<Record<string, Price>>;
  /** Models to try, in order, when a model stays unavailable; by its name or alias. */
  fallbacks?: Readonly<Record<string, readonly string[]>>;
  permissions: { allow?: readonly string[]; ask: readonly string[]; deny: readonly string[] };
  /** Agents the user switched off; never reachable. */
  disabledAgents: readonly string[];
  limits: Limits;
  /** Runs in a model or tool call at once. */
  maxConcurrent: number;
  maxDepth: number;
  /** Runs of one session, root included. */
  maxAgents: number;
  watchdog: { firstTokenMs: number; idleMs: number };
  store: { synchronous: "NORMAL" | "FULL" };
  shell: ShellSettings;
  /** Agents given as configuration. */
  agents: readonly Agent[];
};
