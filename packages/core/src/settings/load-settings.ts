import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { FindOwnFiles, Problem } from "../schema/agent.ts";
import { isRecord } from "../schema/json-object.ts";
import type { Settings } from "../schema/settings.ts";
import { SETTING_TABLE } from "../schema/settings.ts";
import { checkSettings, type ExplainTool } from "./check-settings.ts";
import { narrowSettings, refuseWidening } from "./narrow-settings.ts";
import { readSettingsFile, type SettingsFile } from "./read-settings-file.ts";

/** Where settings stand, and what holds without them. */
export type SettingsOptions = {
  projectDir: string;
  /** Retinue's folder among the user's configuration. */
  configDir: string;
  /** What a project's limits are compared with where the user's file is silent. */
  defaults?: Partial<Settings>;
  /** Whether the project's file may be read; it may, if absent. */
  findOwn?: FindOwnFiles;
  /** Why a name is no tool's; undefined if it is one's. */
  explainTool?: ExplainTool;
};

/** Agents as a settings file gives them, still to be read. */
export type SettingsAgents = {
  value: unknown;
  /** The folders that prompt files are looked for in, the first first. */
  folders: readonly string[];
  file: string;
  /** The line of a path within the value, such as `/Roles/0`. */
  findLine(path: string): number;
  scope: "user" | "project";
};

/** What the settings files say. */
export type LoadedSettings = {
  settings: Partial<Settings>;
  /** Seed 004's `AgentRoles`, the project's first. */
  agentRoles: SettingsAgents[];
  /** The user's `agents`: definitions by name. */
  agents: SettingsAgents[];
  /** The names in `disabledAgents`, and where they stand. */
  switchedOff: { name: string; file: string; line: number }[];
  problems: Problem[];
};

/**
 * Reads the user's and the project's settings. The user's may set everything, the project's may only narrow that.
 * Never throws on content: a caller that runs something must first look for errors among the problems.
 */
export async function loadSettings(options: SettingsOptions): Promise<LoadedSettings> {
  const { projectDir, configDir, defaults = {} } = options;
  const loaded: LoadedSettings = {
    settings: defaults,
    agentRoles: [],
    agents: [],
    switchedOff: [],
    problems: [],
  };
  const user = await readChecked(join(configDir, "settings.json"), options, loaded);
  if (user) {
    const { AgentRoles, agents, $schema: _, ...rest } = user.value;
    const from = { folders: [configDir], file: user.file, scope: "user" as const, findLine: rolesLine(user) };
    const own = overlay(defaults, { ...readDepth(AgentRoles), ...rest });
    loaded.settings = withFolder(own, { beside: configDir, isOwn: true });
    if (AgentRoles !== undefined) loaded.agentRoles.push({ value: AgentRoles, ...from });
    if (agents !== undefined) loaded.agents.push({ value: agents, ...from });
  }
  const file = join(projectDir, ".retinue", "settings.json");
  const isOwn = !options.findOwn || (await options.findOwn([file])).length > 0;
  const project = isOwn ? await readChecked(file, options, loaded) : undefined;
  if (!isOwn && existsSync(file)) loaded.problems.push(madeByCommand(file));
  if (project) {
    const findLine = (path: string) => project.lines.get(path) ?? 1;
    const refused = refuseWidening(project.value, project.file, findLine);
    loaded.problems.push(...refused.problems);
    const { AgentRoles, ...rest } = refused.value;
    const narrowed = narrowSettings(loaded.settings, rest);
    const hasFolder = loaded.settings.assistant?.folder !== undefined;
    loaded.settings = hasFolder ? narrowed : withFolder(narrowed, { beside: projectDir, isOwn: false });
    if (AgentRoles !== undefined)
      loaded.agentRoles.unshift({
        value: AgentRoles,
        folders: [projectDir, join(projectDir, ".retinue")],
        file: project.file,
        scope: "project",
        findLine: rolesLine(project),
      });
  }
  return loaded;
}

function madeByCommand(file: string): Problem {
  const message = "a command that still runs made these settings, so they do not count";
  const fix = "wait for the end of the command";
  return { severity: "warning", file, line: 0, code: "made-by-command", message, fix };
}

async function readChecked(
  file: string,
  options: SettingsOptions,
  loaded: LoadedSettings,
): Promise<SettingsFile | undefined> {
  const read = await readSettingsFile(file);
  if (!read) return undefined;
  if ("problem" in read) {
    loaded.problems.push(read.problem);
    return undefined;
  }
  const checked = await checkSettings(read, options.explainTool);
  loaded.problems.push(...checked.problems);
  const { disabledAgents = [] }: { disabledAgents?: readonly string[] } = checked.value;
  for (const [index, name] of disabledAgents.entries())
    loaded.switchedOff.push({ name, file, line: read.lines.get(`/disabledAgents/${index}`) ?? 1 });
  return { ...read, value: checked.value };
}

function rolesLine({ lines }: SettingsFile): (path: string) => number {
  return (path) => lines.get(`/AgentRoles${path}`) ?? lines.get("/AgentRoles") ?? 1;
}

/** The depth that a user's roles ask for; it counts as the user's own word, so it may also raise the default. */
function readDepth(roles: unknown): { maxDepth?: number } {
  const named = isRecord(roles) ? Object.entries(roles).find(([key]) => /^max[-_]?depth$/i.test(key)) : null;
  const depth = named?.[1];
  return typeof depth === "number" && Number.isInteger(depth) && depth >= 0 ? { maxDepth: depth } : {};
}

/** The settings with the assistant's folder made absolute; one that a project named must really be inside of it. */
function withFolder(
  settings: Partial<Settings>,
  { beside, isOwn }: { beside: string; isOwn: boolean },
): Partial<Settings> {
  if (settings.assistant === undefined) return settings;
  const { folder, folderWithin: _, ...rest } = settings.assistant;
  const place = folder !== undefined && {
    folder: resolve(beside, folder),
    ...(!isOwn && { folderWithin: resolve(beside) }),
  };
  return { ...settings, assistant: { ...rest, ...place } };
}

/** The user's word over the defaults; within a section, key by key. */
function overlay(defaults: Partial<Settings>, user: Partial<Settings>): Partial<Settings> {
  const below: Readonly<Record<string, unknown>> = { permissions: { ask: [], deny: [] }, ...defaults };
  const sections = Object.entries(user).flatMap(([key, value]) =>
    SETTING_TABLE[key]?.parts ? [[key, { ...Object(below[key]), ...Object(value) }] as const] : [],
  );
  return { ...defaults, ...user, ...Object.fromEntries(sections) };
}
