import type { Agent, Limits } from "./agent.ts";
import { LIMIT_PARTS } from "./agent-fields.ts";
import { COUNTED_LIMITS } from "./check-numbers.ts";
import { findOwn } from "./find-own.ts";
import type { JsonSchema } from "./json-schema.ts";
import {
  AMOUNT,
  AT_LEAST_ONE,
  COUNT,
  describeAsSchema,
  type NumberRange,
  POSITIVE,
  SCALE,
} from "./number-range.ts";
import { byName, flag, list, type Shape, type TypeIn, text, textWith } from "./shape.ts";

/** The wire formats that a provider may speak. */
export const PROVIDER_KINDS = ["openai-compatible", "anthropic", "google", "ollama"] as const;

/** Where `web_search` can look. */
export const SEARCH_PROVIDERS = ["local", "searxng", "brave", "tavily", "exa"] as const;

/** Name of a place that `web_search` can look in. */
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];

/**
 * What a project's file may do to a setting: it can only take rights and room away. `join` gives what then holds, out of the
 * user's value and the project's; a value that `isWider` is ignored, and the person is told.
 */
type Narrowing = { isWider?(value: unknown): boolean; join(user: unknown, project: unknown): unknown };

/** One setting, or a section of some. */
export type Setting = {
  readonly about: string;
  readonly schema?: JsonSchema;
  readonly range?: NumberRange;
  readonly parts?: SettingTable;
  /** What every entry of a map by names consists of, and which of it has to be there. */
  readonly each?: SettingTable;
  readonly required?: readonly string[];
  readonly default?: unknown;
  /** Absent: only the user's own file may set it. */
  readonly project?: Narrowing;
};
/** Settings by their keys. */
export type SettingTable = Readonly<Record<string, Setting>>;

const TEXT = textWith({ minLength: 1 });
const DOMAIN = textWith({ pattern: "^@?[^\\s@/:*]+\\.[^\\s@/:*.]+$" });
const TEXTS = list(TEXT);
const describeWord = <const Word extends string>(words: readonly Word[]): Shape<Word> => ({
  type: "string",
  enum: words,
});

const isText = (value: unknown): value is string => typeof value === "string";
const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);

/** Of two numbers the lower one holds. */
const LOWER: Narrowing = { join: (user, project) => findLowest(user, project) };
/** Rules and switched-off agents add up. */
const ADDED: Narrowing = {
  join: (user, project) => [...toTexts(user), ...toTexts(project)],
};

function findLowest(a: unknown, b: unknown): unknown {
  return typeof a === "number" && typeof b === "number" ? Math.min(a, b) : (a ?? b);
}

/** Whether a path of a project's settings, by its words alone, points out of the project. */
function leavesProject(path: unknown): boolean {
  return isText(path) && (/^[/\\~]|^[a-z]:/i.test(path) || path.split(/[/\\]/).includes(".."));
}

const LIMITS: SettingTable = {
  ...Object.fromEntries(
    COUNTED_LIMITS.map((name) => {
      const { about, kind } = LIMIT_PARTS[name];
      return [name, { about, range: kind.range, project: LOWER }];
    }),
  ),
  perTool: {
    about: "Calls of one run, by the tool's name.",
    schema: byName(describeAsSchema(COUNT)),
    project: {
      join: (user, project) => {
        const lower: Record<string, unknown> = { ...Object(user) };
        for (const [tool, calls] of Object.entries(Object(project)))
          lower[tool] = findLowest(findOwn(lower, tool), calls);
        return lower;
      },
    },
  },
  scale: {
    about:
      "Multiplies the turns, tool calls, characters and minutes of every agent, but not `perTool`; 3 suits strong models with large windows.",
    range: SCALE,
    project: { join: (user = 1, project) => findLowest(user, project) },
  },
};

const PROVIDER = {
  kind: {
    about: "The wire format it speaks.",
    schema: describeWord(PROVIDER_KINDS),
  },
  baseUrl: { about: "Its address, such as http://127.0.0.1:8080/v1.", schema: TEXT },
  apiKeyEnv: { about: "The environment variable that holds the key.", schema: TEXT },
  apiKey: { about: "The key itself; a variable named by apiKeyEnv is safer.", schema: TEXT },
  headers: { about: "More headers of every request.", schema: byName(text) },
  maxConcurrent: { about: "Calls to it at once.", range: AT_LEAST_ONE },
} as const satisfies SettingTable;

const PRICE = {
  input: { about: "Tokens of the request.", range: AMOUNT },
  output: { about: "Tokens of the reply.", range: AMOUNT },
  cacheRead: { about: "Tokens of the request that came from the provider's cache.", range: AMOUNT },
  cacheWrite: { about: "Tokens of the request that went into it.", range: AMOUNT },
  reasoning: { about: "Tokens of reasoning, where they have a price of their own.", range: AMOUNT },
  maxOutputTokens: { about: "The most tokens that one reply of the model can have.", range: AT_LEAST_ONE },
} as const satisfies SettingTable;

const SHELL = {
  sandbox: {
    about:
      "`required`: commands run only in the system's sandbox; `off`: on the host, with all your rights. `auto`, of earlier versions, means `required`.",
    schema: describeWord(["required", "off", "auto"]),
    default: "required",
    project: {
      isWider: (value) => value === "off",
      join: (user, project) => (user === "off" && project === "off" ? "off" : "required"),
    },
  },
  network: {
    about: "Whether commands may use the network.",
    schema: flag,
    default: false,
    project: {
      isWider: (value) => value === true,
      join: (user, project) => user === true && project !== false,
    },
  },
  seconds: { about: "Time of one command.", range: POSITIVE, default: 120, project: LOWER },
  testSeconds: { about: "Time of one run of the tests.", range: POSITIVE, default: 600, project: LOWER },
  memoryMb: { about: "Memory of one command.", range: AT_LEAST_ONE, default: 2_048, project: LOWER },
  pids: {
    about: "Processes and threads of one command at once.",
    range: AT_LEAST_ONE,
    default: 1_024,
    project: LOWER,
  },
  diskMb: {
    about: "What one command may add to the disk.",
    range: AT_LEAST_ONE,
    default: 4_096,
    project: LOWER,
  },
  env: {
    about: "Environment variables that commands may see besides the usual few.",
    schema: TEXTS,
    default: [],
    project: {
      isWider: (value) => Array.isArray(value) && value.length > 0,
      join: (user, project) => toTexts(user).filter((name) => toTexts(project).includes(name)),
    },
  },
} as const satisfies SettingTable;

const SEARCH = {
  provider: {
    about: "Who answers searches; absent: the first one that there is an address or a key for.",
    schema: describeWord(SEARCH_PROVIDERS),
    project: {
      isWider: (value) => value !== "local",
      join: (user, project) => (project === "local" ? project : user),
    },
  },
  folders: {
    about: "Folders of local documents; a relative one is of the project.",
    schema: TEXTS,
    // Without settings `web_search` looks through the documents of the project.
    default: ["."],
    project: {
      isWider: (value) => Array.isArray(value) && value.some(leavesProject),
      join: (user, project) => (toTexts(user).every((folder) => folder === ".") ? project : user),
    },
  },
  url: { about: "Address of a SearXNG server, or another one than the provider's own.", schema: TEXT },
  keyEnv: { about: "The environment variable that holds the key.", schema: TEXT },
  key: { about: "The key itself; a variable named by keyEnv is safer.", schema: TEXT },
} as const satisfies SettingTable;

const ASSISTANT = {
  folder: {
    about: "Mail, calendar, contact and Slack files that fill the local store once.",
    schema: TEXT,
    project: { isWider: leavesProject, join: (user, project) => user ?? project },
  },
  internalDomains: {
    about: "Mail domains that count as inside, besides your own.",
    schema: list(DOMAIN),
  },
  timezone: { about: "The zone that times without one are meant in, such as Europe/Berlin.", schema: TEXT },
  accounts: {
    about: "The account of each domain: its id, or `local`.",
    parts: {
      mail: { about: "Who serves mail.", schema: TEXT },
      calendar: { about: "Who serves calendars.", schema: TEXT },
      contacts: { about: "Who serves contacts.", schema: TEXT },
      slack: { about: "Who serves Slack.", schema: TEXT },
    },
  },
} as const satisfies SettingTable;

const TABLE = {
  $schema: {
    about: "Where editors find this schema; Retinue does not read it.",
    schema: text,
    project: { join: (user) => user },
  },
  model: {
    about: "The default model: an alias or provider/model-id; `offline` for none.",
    schema: TEXT,
  },
  aliases: {
    about: 'Names of your own for models, such as {"fast": "openai/gpt-5-mini"}.',
    schema: byName(TEXT),
    default: {},
  },
  providers: {
    about: "Servers that models are called at, by name.",
    each: PROVIDER,
    required: ["kind"],
    default: {},
  },
  gateway: {
    about:
      "The provider that takes every model whose own provider is not among `providers`, under its full name.",
    schema: TEXT,
  },
  prices: {
    about: "US dollars for a million tokens, by provider/model-id.",
    each: PRICE,
    required: ["input", "output"],
    default: {},
  },
  fallbacks: {
    about: "Models that take over when one stays unavailable, by its name.",
    schema: byName(TEXTS),
  },
  permissions: {
    about: "Rules for every agent, such as `shell(npm test *)`. Deny beats ask, ask beats allow.",
    parts: {
      allow: { about: "The only things that may be used at all; absent: everything.", schema: TEXTS },
      ask: { about: "What a person must be asked about.", schema: TEXTS, default: [], project: ADDED },
      deny: { about: "What nobody may do.", schema: TEXTS, default: [], project: ADDED },
    },
  },
  trustedProjects: {
    about:
      "Folders of projects whose files, instructions and agents are your own word: what they say may leave without a question. Only in your own settings.",
    schema: TEXTS,
    default: [],
  },
  disabledAgents: {
    about: "Agents that are switched off, by name.",
    schema: TEXTS,
    default: [],
    project: { join: (user, project) => [...new Set([...toTexts(user), ...toTexts(project)])] },
  },
  limits: { about: "Upper bounds of runs whose agent sets none.", parts: LIMITS },
  maxOutputTokens: {
    about: "Tokens of one reply, for agents that do not say; absent: as many as the model can give.",
    range: AT_LEAST_ONE,
    project: LOWER,
  },
  maxConcurrent: {
    about: "Runs in a model or tool call at once.",
    range: AT_LEAST_ONE,
    default: 50,
    project: LOWER,
  },
  maxDepth: { about: "How deep agents may delegate.", range: COUNT, default: 3, project: LOWER },
  maxAgents: {
    about: "Runs of one session, the first included.",
    range: AT_LEAST_ONE,
    default: 1_000,
    project: LOWER,
  },
  watchdog: {
    about: "How long a model may be silent.",
    parts: {
      firstTokenMs: { about: "Until its first word.", range: POSITIVE, default: 120_000 },
      idleMs: { about: "Between two words.", range: POSITIVE, default: 120_000 },
    },
  },
  graceSeconds: {
    about:
      "How long SIGTERM and SIGHUP let model and tool calls under way end before sessions are left to be resumed.",
    range: AMOUNT,
    // Who sends SIGTERM often kills after 10 seconds, and what is left must be written by then.
    default: 8,
  },
  shell: { about: "How commands run.", parts: SHELL },
  search: { about: "Where web_search looks.", parts: SEARCH },
  workbench: {
    about: "Where workbench_upload and workbench_download reach.",
    parts: {
      folder: { about: "A folder of this machine.", schema: TEXT },
      url: { about: "Address of an HTTP workbench.", schema: TEXT },
      keyEnv: { about: "The environment variable that holds its key.", schema: TEXT },
    },
  },
  assistant: {
    about: "Whose mail, calendar, contacts and Slack the assistant works with.",
    parts: ASSISTANT,
  },
  web: {
    about: "How pages are asked for.",
    parts: {
      allowHosts: {
        about: "Hosts that may be asked although their addresses are private.",
        schema: TEXTS,
        default: [],
      },
      userAgent: { about: "The name by which pages are asked for.", schema: TEXT },
      maxPageMb: { about: "The largest page that is read.", range: POSITIVE, default: 5, project: LOWER },
    },
  },
  store: {
    about: "The record.",
    parts: {
      synchronous: {
        about: "`FULL` also survives a power cut right after a write, and is slower.",
        schema: describeWord(["NORMAL", "FULL"]),
        default: "NORMAL",
      },
      retentionDays: {
        about:
          "Sessions that ended so many days ago are removed, by `retinue serve` and `retinue sessions prune`; absent: never.",
        range: AT_LEAST_ONE,
      },
    },
  },
  agents: {
    about:
      "Agents by name, with the fields of agent files; or, without a prompt, other limits or another model for an agent that there is.",
    schema: { type: "object" },
  },
  AgentRoles: {
    about: "Roles in the form of an application's configuration.",
    schema: { type: "object" },
    project: { join: (user) => user },
  },
} as const satisfies SettingTable;

/**
 * Every setting: its type and range, what holds without it, who may set it, and how a project's value narrows the user's. The
 * check of settings files, the defaults and the published schema follow it. Agents are checked where agents are read.
 */
export const SETTING_TABLE: SettingTable = TABLE;

type Table = typeof TABLE;

/** What a setting is once it is checked: as its range, parts or schema say. */
type SettingValue<Given> = Given extends { readonly range: NumberRange }
  ? number
  : Given extends { readonly parts: infer Parts }
    ? SectionValue<Parts>
    : Given extends { readonly each: infer Parts; readonly required: readonly (infer Name)[] }
      ? Readonly<Record<string, EntryValue<Parts, Name>>>
      : Given extends { readonly schema: infer Described }
        ? TypeIn<Described>
        : never;

/** A setting is always there if it has a default, and a section if one of its parts has. */
type IsSure<Given> = Given extends { readonly default: unknown }
  ? true
  : Given extends { readonly parts: infer Parts }
    ? true extends { [Name in keyof Parts]: IsSure<Parts[Name]> }[keyof Parts]
      ? true
      : false
    : false;
type SureName<Parts> = {
  [Name in keyof Parts]: IsSure<Parts[Name]> extends true ? Name : never;
}[keyof Parts];
type SectionValue<Parts> = EntryValue<Parts, SureName<Parts>>;
type EntryValue<Parts, Sure> = {
  -readonly [Name in keyof Parts as Name extends Sure ? Name : never]: SettingValue<Parts[Name]>;
} & { -readonly [Name in keyof Parts as Name extends Sure ? never : Name]?: SettingValue<Parts[Name]> };

/** Prices in USD per million tokens, and what else is known of a model. */
export type Price = Settings["prices"][string];
/** How one provider is reached. Keys come from the environment or the user's own settings, never from a project. */
export type ProviderSettings = Settings["providers"][string];
/** How commands run. A project's own settings can only make this stricter. */
export type ShellSettings = Settings["shell"];
/** Where `web_search` looks. A project's own settings may only turn it to folders of the project. */
export type SearchSettings = Settings["search"];
/** How pages are asked for. A project's own settings can only make pages smaller. */
export type WebSettings = Settings["web"];
/** Where `workbench_upload` and `workbench_download` reach. Only the user's own settings can say so. */
export type WorkbenchSettings = NonNullable<Settings["workbench"]>;
/** Whose mail, calendar, contacts and Slack the assistant works with. A project's own settings may only name a folder of it. */
export type AssistantSettings = SettingValue<Table["assistant"]> & {
  /** Set by the loader if a project named the folder, which is absolute once loaded: it must really be inside of this one. */
  folderWithin?: string;
};

/** Limits of agents that set none, and the factor that multiplies the turns, tool calls, characters and minutes of all. */
export type SettingsLimits = Limits & { scale?: number };

/** Checked settings, all defaults filled in. */
export type Settings = SectionValue<
  Omit<Table, "$schema" | "limits" | "assistant" | "agents" | "AgentRoles">
> & {
  limits: SettingsLimits;
  assistant?: AssistantSettings;
  /** Agents given as configuration. */
  agents: readonly Agent[];
};
