import type { JsonSchema } from "../schema/json-schema.ts";
import { LARGEST } from "../schema/number-range.ts";
import { SEARCH_PROVIDERS } from "../schema/settings.ts";

const TEXT = { type: "string", minLength: 1 };
const DOMAIN = { type: "string", pattern: "^@?[^\\s@/:*]+\\.[^\\s@/:*.]+$" };
const TEXTS = { type: "array", items: TEXT };
const COUNT = { type: "integer", minimum: 0, maximum: LARGEST };
const AMOUNT = { type: "number", minimum: 0, maximum: LARGEST };
const POSITIVE = { type: "number", exclusiveMinimum: 0, maximum: LARGEST };
const AT_LEAST_ONE = { type: "integer", minimum: 1, maximum: LARGEST };

const told = (description: string, schema: object) => ({ description, ...schema });
/** An object with these keys; others are told of by `unknownKeys`, and do no harm. */
const closed = (properties: Record<string, unknown>, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
});
const mapOf = (items: unknown) => ({ type: "object", additionalProperties: items });

const LIMITS = {
  turns: told("Model calls of one run.", AT_LEAST_ONE),
  toolCalls: told("Tool calls of one run.", COUNT),
  perTool: told("Calls of one run, by the tool's name.", mapOf(COUNT)),
  contextChars: told("Characters of one run's history.", AT_LEAST_ONE),
  minutes: told("Working time of a run; waiting for sub-agents or a person does not count.", POSITIVE),
  tokens: told("Tokens of a run and everything below it.", AT_LEAST_ONE),
  costUsd: told("US dollars of a run and everything below it.", AMOUNT),
  spawns: told("Runs below one run, at any depth.", COUNT),
  depth: told("Levels of delegation below one run.", COUNT),
};

const PROVIDER = closed(
  {
    kind: told("The wire format it speaks.", {
      type: "string",
      enum: ["openai-compatible", "anthropic", "google", "ollama"],
    }),
    baseUrl: told("Its address, such as http://127.0.0.1:8080/v1.", TEXT),
    apiKeyEnv: told("The environment variable that holds the key.", TEXT),
    apiKey: told("The key itself; a variable named by apiKeyEnv is safer.", TEXT),
    headers: told("More headers of every request.", mapOf({ type: "string" })),
    maxConcurrent: told("Calls to it at once.", AT_LEAST_ONE),
  },
  ["kind"],
);

const PRICE = closed(
  {
    input: told("Tokens of the request.", AMOUNT),
    output: told("Tokens of the reply.", AMOUNT),
    cacheRead: told("Tokens of the request that came from the provider's cache.", AMOUNT),
    cacheWrite: told("Tokens of the request that went into it.", AMOUNT),
    reasoning: told("Tokens of reasoning, where they have a price of their own.", AMOUNT),
    maxOutputTokens: told("The most tokens that one reply of the model can have.", AT_LEAST_ONE),
  },
  ["input", "output"],
);

const SHELL = closed({
  sandbox: told(
    "`required`: commands run only in the system's sandbox; `off`: on the host, with all your rights. `auto`, of earlier versions, means `required`.",
    { type: "string", enum: ["required", "off", "auto"] },
  ),
  network: told("Whether commands may use the network.", { type: "boolean" }),
  seconds: told("Time of one command.", POSITIVE),
  testSeconds: told("Time of one run of the tests.", POSITIVE),
  memoryMb: told("Memory of one command.", AT_LEAST_ONE),
  pids: told("Processes and threads of one command at once.", AT_LEAST_ONE),
  diskMb: told("What one command may add to the disk.", AT_LEAST_ONE),
  env: told("Environment variables that commands may see besides the usual few.", TEXTS),
});

const SEARCH = closed({
  provider: told("Who answers searches; absent: the first one that there is an address or a key for.", {
    type: "string",
    enum: SEARCH_PROVIDERS,
  }),
  folders: told("Folders of local documents; a relative one is of the project.", TEXTS),
  url: told("Address of a SearXNG server, or another one than the provider's own.", TEXT),
  keyEnv: told("The environment variable that holds the key.", TEXT),
  key: told("The key itself; a variable named by keyEnv is safer.", TEXT),
});

const ASSISTANT = closed({
  folder: told("Mail, calendar, contact and Slack files that fill the local store once.", TEXT),
  internalDomains: told("Mail domains that count as inside, besides your own.", {
    type: "array",
    items: DOMAIN,
  }),
  timezone: told("The zone that times without one are meant in, such as Europe/Berlin.", TEXT),
  accounts: told(
    "The account of each domain: its id, or `local`.",
    closed({
      mail: told("Who serves mail.", TEXT),
      calendar: told("Who serves calendars.", TEXT),
      contacts: told("Who serves contacts.", TEXT),
      slack: told("Who serves Slack.", TEXT),
    }),
  ),
});

/** What a settings file may say. Agents are checked by whoever reads agents. */
export const SETTINGS_SCHEMA: JsonSchema = closed({
  $schema: told("Where editors find this schema; Retinue does not read it.", { type: "string" }),
  model: told("The default model: an alias or provider/model-id; `offline` for none.", TEXT),
  aliases: told('Names of your own for models, such as {"fast": "openai/gpt-5-mini"}.', mapOf(TEXT)),
  providers: told("Servers that models are called at, by name.", mapOf(PROVIDER)),
  gateway: told(
    "The provider that takes every model whose own provider is not among `providers`, under its full name.",
    TEXT,
  ),
  prices: told("US dollars for a million tokens, by provider/model-id.", mapOf(PRICE)),
  fallbacks: told("Models that take over when one stays unavailable, by its name.", mapOf(TEXTS)),
  permissions: told(
    "Rules for every agent, such as `shell(npm test *)`. Deny beats ask, ask beats allow.",
    closed({
      allow: told("The only things that may be used at all; absent: everything.", TEXTS),
      ask: told("What a person must be asked about.", TEXTS),
      deny: told("What nobody may do.", TEXTS),
    }),
  ),
  trustedProjects: told(
    "Folders of projects whose files, instructions and agents are your own word: what they say may leave without a question. Only in your own settings.",
    TEXTS,
  ),
  disabledAgents: told("Agents that are switched off, by name.", TEXTS),
  limits: told(
    "Upper bounds of runs whose agent sets none.",
    closed({
      ...LIMITS,
      scale: told(
        "Multiplies the turns, tool calls, characters and minutes of every agent, but not `perTool`; 3 suits strong models with large windows.",
        { type: "number", exclusiveMinimum: 0, maximum: 100 },
      ),
    }),
  ),
  maxOutputTokens: told(
    "Tokens of one reply, for agents that do not say; absent: as many as the model can give.",
    AT_LEAST_ONE,
  ),
  maxConcurrent: told("Runs in a model or tool call at once.", AT_LEAST_ONE),
  maxDepth: told("How deep agents may delegate.", COUNT),
  maxAgents: told("Runs of one session, the first included.", AT_LEAST_ONE),
  watchdog: told(
    "How long a model may be silent.",
    closed({
      firstTokenMs: told("Until its first word.", POSITIVE),
      idleMs: told("Between two words.", POSITIVE),
    }),
  ),
  graceSeconds: told(
    "How long SIGTERM and SIGHUP let model and tool calls under way end before sessions are left to be resumed.",
    AMOUNT,
  ),
  shell: told("How commands run.", SHELL),
  search: told("Where web_search looks.", SEARCH),
  workbench: told(
    "Where workbench_upload and workbench_download reach.",
    closed({
      folder: told("A folder of this machine.", TEXT),
      url: told("Address of an HTTP workbench.", TEXT),
      keyEnv: told("The environment variable that holds its key.", TEXT),
    }),
  ),
  assistant: told("Whose mail, calendar, contacts and Slack the assistant works with.", ASSISTANT),
  web: told(
    "How pages are asked for.",
    closed({
      allowHosts: told("Hosts that may be asked although their addresses are private.", TEXTS),
      userAgent: told("The name by which pages are asked for.", TEXT),
      maxPageMb: told("The largest page that is read.", POSITIVE),
    }),
  ),
  store: told(
    "The record.",
    closed({
      synchronous: told("`FULL` also survives a power cut right after a write, and is slower.", {
        type: "string",
        enum: ["NORMAL", "FULL"],
      }),
      retentionDays: told(
        "Sessions that ended so many days ago are removed, by `retinue serve` and `retinue sessions prune`; absent: never.",
        AT_LEAST_ONE,
      ),
    }),
  ),
  agents: told(
    "Agents by name, with the fields of agent files; or, without a prompt, other limits or another model for an agent that there is.",
    { type: "object" },
  ),
  AgentRoles: told("Roles in the form of an application's configuration.", { type: "object" }),
});

/** The same for editors, which also mark keys that there are not; it is published as docs/settings.schema.json. */
export const PUBLISHED_SETTINGS_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Settings of Retinue",
  description:
    "settings.json in the user's configuration folder, or in .retinue of a project, which may only narrow the user's.",
  ...withoutOthers(SETTINGS_SCHEMA),
};

function withoutOthers(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties: others } = schema;
  return {
    ...schema,
    ...(isSchema(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, isSchema(each) ? withoutOthers(each) : each]),
      ),
      additionalProperties: false,
    }),
    ...(isSchema(others) && { additionalProperties: withoutOthers(others) }),
  };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
