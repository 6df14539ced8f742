import { isRecord } from "../models/wire/json.ts";
import type { Limits, Problem } from "../schema/agent.ts";
import { findOwn } from "../schema/find-own.ts";
import type {
  AssistantSettings,
  SearchSettings,
  Settings,
  SettingsLimits,
  ShellSettings,
  WebSettings,
} from "../schema/settings.ts";
import { narrowAssistant, wideningInAssistant } from "./narrow-assistant.ts";
import { narrowSearch, wideningInSearch } from "./narrow-search.ts";
import { narrowShell, wideningIn } from "./narrow-shell.ts";
import { narrowWeb, wideningInWeb } from "./narrow-web.ts";
import { SETTINGS_SCHEMA } from "./settings-schema.ts";

/** What a project's file may say, because each of it can only take rights or room away. */
type Narrowing = {
  permissions?: { ask?: readonly string[]; deny?: readonly string[] };
  disabledAgents?: readonly string[];
  limits?: SettingsLimits;
  maxDepth?: number;
  maxAgents?: number;
  maxConcurrent?: number;
  maxOutputTokens?: number;
  shell?: Partial<ShellSettings>;
  search?: Partial<SearchSettings>;
  web?: Partial<WebSettings>;
  assistant?: AssistantSettings;
};

const NARROWING = [
  "permissions",
  "disabledAgents",
  "limits",
  "maxDepth",
  "maxAgents",
  "maxConcurrent",
  "maxOutputTokens",
  "shell",
  "search",
  "web",
  "assistant",
];
/** For sections that can be said to widen or to narrow: the keys that would widen. */
const WIDENING: Readonly<Record<string, (section: Readonly<Record<string, unknown>>) => string[]>> = {
  shell: wideningIn,
  search: wideningInSearch,
  web: wideningInWeb,
  assistant: wideningInAssistant,
};
/** Kept, but not part of the settings themselves. */
const ELSEWHERE = ["AgentRoles", "$schema"];
const SECRET = /key|token|secret|password|authorization|credential/i;

/** Finds what a project's file may not say. Names are told, values never. */
export function refuseWidening(
  value: Readonly<Record<string, unknown>>,
  file: string,
  lineOf: (path: string) => number,
): { value: Record<string, unknown>; problems: Problem[] } {
  const kept: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [key, each] of Object.entries(value)) {
    for (const path of secretsIn(each, `/${key}`)) problems.push(secretInProject(path, file, lineOf(path)));
    if (ELSEWHERE.includes(key)) kept[key] = each;
    else if (!NARROWING.includes(key)) {
      // One that is none is told by the check already.
      const known = SETTINGS_SCHEMA.properties;
      if (isRecord(known) && Object.hasOwn(known, key)) problems.push(ignored(key, file, lineOf(`/${key}`)));
    } else if (key === "permissions" && isRecord(each) && "allow" in each) {
      const { allow: _, ...rest } = each;
      kept[key] = rest;
      problems.push(ignored("permissions.allow", file, lineOf("/permissions/allow")));
    } else if (isRecord(each) && Object.hasOwn(WIDENING, key)) {
      const widening = WIDENING[key]?.(each) ?? [];
      kept[key] = Object.fromEntries(Object.entries(each).filter(([name]) => !widening.includes(name)));
      problems.push(...widening.map((name) => ignored(`${key}.${name}`, file, lineOf(`/${key}/${name}`))));
    } else kept[key] = each;
  }
  return { value: kept, problems };
}

/** Settings cut down by a project's: rules add up, agents stay off, of two limits the lower one holds. */
export function narrowSettings(settings: Partial<Settings>, by: Narrowing): Partial<Settings> {
  const { permissions = { ask: [], deny: [] }, disabledAgents = [], limits = {} } = settings;
  const narrowed: Partial<Settings> = {
    ...settings,
    permissions: {
      ...permissions,
      ask: [...permissions.ask, ...(by.permissions?.ask ?? [])],
      deny: [...permissions.deny, ...(by.permissions?.deny ?? [])],
    },
    disabledAgents: [...new Set([...disabledAgents, ...(by.disabledAgents ?? [])])],
    limits: lowerSettingsLimits(limits, by.limits ?? {}),
    ...(settings.shell && { shell: narrowShell(settings.shell, by.shell ?? {}) }),
    ...(settings.search && { search: narrowSearch(settings.search, by.search ?? {}) }),
    ...(settings.web && { web: narrowWeb(settings.web, by.web ?? {}) }),
    ...(by.assistant && { assistant: narrowAssistant(settings.assistant ?? {}, by.assistant) }),
  };
  for (const key of ["maxDepth", "maxAgents", "maxConcurrent", "maxOutputTokens"] as const) {
    const lower = lowest(settings[key], by[key]);
    if (lower !== undefined) narrowed[key] = lower;
  }
  return narrowed;
}

/** A project can lower the scale, and without one it is 1. */
function lowerSettingsLimits(a: SettingsLimits, b: SettingsLimits): SettingsLimits {
  const lower = lowerLimits(a, b);
  return b.scale === undefined ? lower : { ...lower, scale: Math.min(a.scale ?? 1, b.scale) };
}

/** Of two sets of limits the lower value each. */
export function lowerLimits<Kind extends Limits>(a: Kind, b: Limits): Kind {
  const lower: Kind = { ...a };
  const keys = [
    "turns",
    "toolCalls",
    "contextChars",
    "minutes",
    "tokens",
    "costUsd",
    "spawns",
    "depth",
  ] as const;
  for (const key of keys) {
    const value = lowest(a[key], b[key]);
    if (value !== undefined) lower[key] = value;
  }
  const perTool: Record<string, number> = { ...a.perTool };
  for (const [tool, limit] of Object.entries(b.perTool ?? {}))
    perTool[tool] = Math.min(limit, findOwn(a.perTool, tool) ?? limit);
  return Object.keys(perTool).length > 0 ? { ...lower, perTool } : lower;
}

function lowest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

function ignored(key: string, file: string, line: number): Problem {
  return {
    severity: "warning",
    file,
    line,
    code: "ignored-in-project",
    message: `'${key}' is ignored: a project's settings may only take rights and room away, or anyone who commits to it could widen yours`,
    fix: "move it to your own settings file, or remove it",
  };
}

function secretInProject(path: string, file: string, line: number): Problem {
  const key = path.slice(1).replaceAll("/", ".");
  return {
    severity: "warning",
    file,
    line,
    code: "secret-in-project",
    message: `'${key}' looks like a secret, and everyone with the project can read it; it is not used`,
    fix: "remove it, replace it where it was issued, and name an environment variable with apiKeyEnv in your own settings",
  };
}

/** Paths of texts under names that secrets have; an `…Env` only names a variable. */
function secretsIn(value: unknown, path: string, depth = 0): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (typeof value === "string")
    return SECRET.test(name) && !/env$/i.test(name) && value !== "" ? [path] : [];
  if (!isRecord(value) || depth > 8) return [];
  return Object.entries(value).flatMap(([key, each]) => secretsIn(each, `${path}/${key}`, depth + 1));
}
