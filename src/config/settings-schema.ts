import type { JsonSchema } from "../schema/json-schema.ts";
import { SEARCH_PROVIDERS } from "../schema/settings.ts";

const TEXT = { type: "string", minLength: 1 };
const DOMAIN = { type: "string", pattern: "^@?[^\\s@/:*]+\\.[^\\s@/:*.]+$" };
const TEXTS = { type: "array", items: TEXT };
const COUNT = { type: "integer", minimum: 0 };
const AMOUNT = { type: "number", minimum: 0 };
const POSITIVE = { type: "number", exclusiveMinimum: 0 };
const AT_LEAST_ONE = { type: "integer", minimum: 1 };

/** An object with these keys; others are told of by `unknownKeys`, and do no harm. */
const closed = (properties: Record<string, unknown>, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
});
const mapOf = (items: unknown) => ({ type: "object", additionalProperties: items });

const LIMITS = closed({
  turns: AT_LEAST_ONE,
  toolCalls: COUNT,
  perTool: mapOf(COUNT),
  contextChars: POSITIVE,
  minutes: POSITIVE,
  tokens: POSITIVE,
  costUsd: AMOUNT,
  spawns: COUNT,
  depth: COUNT,
});

const PROVIDER = closed(
  {
    kind: { type: "string", enum: ["openai-compatible", "anthropic", "google", "ollama"] },
    baseUrl: TEXT,
    apiKeyEnv: TEXT,
    apiKey: TEXT,
    headers: mapOf({ type: "string" }),
    maxConcurrent: AT_LEAST_ONE,
  },
  ["kind"],
);

const PRICE = closed(
  { input: AMOUNT, output: AMOUNT, cacheRead: AMOUNT, cacheWrite: AMOUNT, reasoning: AMOUNT },
  ["input", "output"],
);

/** What a settings file may say. Agents are checked by whoever reads agents. */
export const SETTINGS_SCHEMA: JsonSchema = closed({
  $schema: { type: "string" },
  model: TEXT,
  aliases: mapOf(TEXT),
  providers: mapOf(PROVIDER),
  prices: mapOf(PRICE),
  fallbacks: mapOf(TEXTS),
  permissions: closed({ allow: TEXTS, ask: TEXTS, deny: TEXTS }),
  disabledAgents: TEXTS,
  limits: LIMITS,
  maxConcurrent: AT_LEAST_ONE,
  maxDepth: COUNT,
  maxAgents: AT_LEAST_ONE,
  watchdog: closed({ firstTokenMs: POSITIVE, idleMs: POSITIVE }),
  shell: closed({
    sandbox: { type: "string", enum: ["auto", "required", "off"] },
    network: { type: "boolean" },
    seconds: POSITIVE,
    testSeconds: POSITIVE,
    memoryMb: AT_LEAST_ONE,
    pids: AT_LEAST_ONE,
    diskMb: AT_LEAST_ONE,
    env: TEXTS,
  }),
  search: closed({
    provider: { type: "string", enum: SEARCH_PROVIDERS },
    folders: TEXTS,
    url: TEXT,
    keyEnv: TEXT,
    key: TEXT,
  }),
  workbench: closed({ folder: TEXT, url: TEXT, keyEnv: TEXT }),
  assistant: closed({
    folder: TEXT,
    internalDomains: { type: "array", items: DOMAIN },
    timezone: TEXT,
    accounts: closed({ mail: TEXT, calendar: TEXT, contacts: TEXT, slack: TEXT }),
  }),
  web: closed({ allowHosts: TEXTS, userAgent: TEXT, maxPageMb: POSITIVE }),
  store: closed({ synchronous: { type: "string", enum: ["NORMAL", "FULL"] } }),
  agents: { type: "object" },
  AgentRoles: { type: "object" },
});
