import type { Agent, Limits } from "./agent.ts";

/** Prices in USD per million tokens, and what else is known of a model. */
export type Price = {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
  /** The most tokens that one reply of the model can have. */
  maxOutputTokens?: number;
};

/** The wire formats that a provider may speak. */
export const PROVIDER_KINDS = ["openai-compatible", "anthropic", "google", "ollama"] as const;

/** How one provider is reached. Keys come from the environment or the user's own settings, never from a project. */
export type ProviderSettings = {
  kind: (typeof PROVIDER_KINDS)[number];
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
   * `required`: only in the operating system's sandbox; `off`: on the host itself, with all the rights of the person.
   * `auto` stands in settings of earlier versions and means `required`.
   */
  sandbox: "auto" | "required" | "off";
  network: boolean;
  /** Wall time of one command. */
  seconds: number;
  /** Wall time of one run of the tests. */
  testSeconds: number;
  memoryMb: number;
  /** Processes and threads at once. */
  pids: number;
  /** What one command may add to the disk. */
  diskMb: number;
  /** Names of environment variables that commands may see besides the usual few. */
  env: readonly string[];
};

/** Where `web_search` can look. */
export const SEARCH_PROVIDERS = ["local", "searxng", "brave", "tavily", "exa"] as const;

/** Name of a place that `web_search` can look in. */
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];

/** Where `web_search` looks. A project's own settings may only turn it to folders of the project. */
export type SearchSettings = {
  /** Absent: the first one that there is an address or a key for, else local documents. */
  provider?: SearchProviderName;
  /** Folders of local documents; a relative one is of the project and must stay in it. */
  folders: readonly string[];
  /** Address of a SearXNG server, or another one than the provider's own. */
  url?: string;
  /** Name of the environment variable that holds the key. */
  keyEnv?: string;
  key?: string;
};

/** How pages are asked for. A project's own settings can only make pages smaller. */
export type WebSettings = {
  /** Hosts (`wiki.corp`, `10.0.0.7:8080`) that may be asked although their addresses are private. */
  allowHosts: readonly string[];
  /** The name by which pages are asked for; absent: Retinue's own. */
  userAgent?: string;
  /** Size of a page once decoded; a larger one is not read. */
  maxPageMb: number;
};

/** Where `workbench_upload` and `workbench_download` reach. Only the user's own settings can say so. */
export type WorkbenchSettings = {
  /** A folder of this machine; absent, and without `url`: one among Retinue's data. */
  folder?: string;
  /** Address of an HTTP workbench. */
  url?: string;
  /** Name of the environment variable that holds its key. */
  keyEnv?: string;
};

/** Whose mail, calendar, contacts and Slack the assistant works with. A project's own settings may only name a folder of it. */
export type AssistantSettings = {
  /** Folder of mail, calendar, contact and Slack files that fill the local store once; absolute once loaded. */
  folder?: string;
  /** Set by the loader if a project named the folder: the folder must really be inside of this one. */
  folderWithin?: string;
  /** Domains that count as inside, besides the owner's own. */
  internalDomains?: readonly string[];
  /** IANA name of the zone that times without one are meant in; absent: the machine's. */
  timezone?: string;
  /** The account of each domain: its id, or `local`; over what `retinue accounts default` says. */
  accounts?: { mail?: string; calendar?: string; contacts?: string; slack?: string };
};

/** Limits of agents that set none, and the factor that multiplies the turns, tool calls, characters and minutes of all. */
export type SettingsLimits = Limits & { scale?: number };

/** Checked settings, all defaults filled in. */
export type Settings = {
  /** Default model: an alias or `provider/model-id`; absent: none configured. */
  model?: string;
  aliases: Readonly<Record<string, string>>;
  providers: Readonly<Record<string, ProviderSettings>>;
  /** The provider that takes every model whose own provider is not among `providers`, under its full name. */
  gateway?: string;
  prices: Readonly<Record<string, Price>>;
  /** Models to try, in order, when a model stays unavailable; by its name or alias. */
  fallbacks?: Readonly<Record<string, readonly string[]>>;
  permissions: { allow?: readonly string[]; ask: readonly string[]; deny: readonly string[] };
  /** Folders of projects whose files, instructions and agents are the person's own word. Only the user's own settings can say so. */
  trustedProjects: readonly string[];
  /** Agents the user switched off; never reachable. */
  disabledAgents: readonly string[];
  limits: SettingsLimits;
  /** Tokens of one reply, for agents that do not say; absent: as many as the model can give. */
  maxOutputTokens?: number;
  /** Runs in a model or tool call at once. */
  maxConcurrent: number;
  maxDepth: number;
  /** Runs of one session, root included. */
  maxAgents: number;
  watchdog: { firstTokenMs: number; idleMs: number };
  /** So long SIGTERM and SIGHUP let calls under way end before sessions are left for later. */
  graceSeconds: number;
  store: {
    synchronous: "NORMAL" | "FULL";
    /** Sessions that ended so many days ago are removed by a server; absent: never. */
    retentionDays?: number;
  };
  shell: ShellSettings;
  web: WebSettings;
  search: SearchSettings;
  workbench?: WorkbenchSettings;
  assistant?: AssistantSettings;
  /** Agents given as configuration. */
  agents: readonly Agent[];
};
