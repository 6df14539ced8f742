import type { Settings } from "../schema/settings.ts";
import { DEFAULT_SEARCH } from "./default-search.ts";
import { DEFAULT_SHELL } from "./default-shell.ts";
import { DEFAULT_WEB } from "./default-web.ts";

/** What holds when nobody says otherwise. */
export const DEFAULT_SETTINGS: Settings = {
  aliases: {},
  providers: {},
  prices: {},
  permissions: { ask: [], deny: [] },
  trustedProjects: [],
  disabledAgents: [],
  limits: {},
  maxConcurrent: 50,
  maxDepth: 3,
  maxAgents: 1_000,
  watchdog: { firstTokenMs: 120_000, idleMs: 120_000 },
  // Whoever sends SIGTERM often kills after 10 seconds, and what is left must be written by then.
  graceSeconds: 8,
  store: { synchronous: "NORMAL" },
  shell: DEFAULT_SHELL,
  search: DEFAULT_SEARCH,
  web: DEFAULT_WEB,
  agents: [],
};
