import { join } from "node:path";
import type { Problem } from "../schema/agent.ts";
import type { Settings } from "../schema/settings.ts";
import { checkSettings, type Suggest } from "./check-settings.ts";
import { narrowSettings, refuseWidening } from "./narrow-settings.ts";
import { readSettingsFile, type SettingsFile } from "./read-settings-file.ts";

/** Where settings stand, and what holds without them. */
export type SettingsOptions = {
  projectDir: string;
  /** Retinue's folder among the user's configuration. */
  configDir: string;
  /** What a project's limits are compared with where the user's file is silent. */
  defaults?: Partial<Settings>;
  suggest?: Suggest;
};

/** Agents as a settings file gives them, still to be read. */
export type SettingsAgents = {
  value: unknown;
  /** The folder that prompt files are relative to. */
  baseDir: string;
  file: string;
  scope: "user" | "project";
};

/** What the settings files say. */
export type LoadedSettings = {
  settings: Partial<Settings>;
  /** Seed 004's `AgentRoles`, the project's first. */
  agentRoles: SettingsAgents[];
  /** The user's `agents`: definitions by name. */
  agents: SettingsAgents[];
  problems: Problem[];
};

/**
 * Reads the user's and the project's settings. The user's may set everything, the project's may only narrow that.
 * Never throws on content: whoever runs something must first look for errors among the problems.
 */
export async function loadSettings(options: SettingsOptions): Promise<LoadedSettings> {
  const { projectDir, configDir, defaults = {} } = options;
  const loaded: LoadedSettings = { settings: defaults, agentRoles: [], agents: [], problems: [] };
  const user = await readChecked(join(configDir, "settings.json"), options, loaded);
  if (user) {
    const { AgentRoles, agents, $schema: _, ...rest } = user.value;
    const from = { baseDir: configDir, file: user.file, scope: "user" as const };
    loaded.settings = overlay(defaults, rest);
    if (AgentRoles !== undefined) loaded.agentRoles.push({ value: AgentRoles, ...from });
    if (agents !== undefined) loaded.agents.push({ value: agents, ...from });
  }
  const project = await readChecked(join(projectDir, ".retinue", "settings.json"), options, loaded);
  if (project) {
    const lineOf = (path: string) => project.lines.get(path) ?? 1;
    const refused = refuseWidening(project.value, project.file, lineOf);
    loaded.problems.push(...refused.problems);
    const { AgentRoles, ...rest } = refused.value;
    loaded.settings = narrowSettings(loaded.settings, rest);
    const from = { baseDir: join(projectDir, ".retinue"), file: project.file, scope: "project" as const };
    if (AgentRoles !== undefined) loaded.agentRoles.unshift({ value: AgentRoles, ...from });
  }
  return loaded;
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
  const checked = await checkSettings(read, options.suggest ?? (() => ""));
  loaded.problems.push(...checked.problems);
  return { ...read, value: checked.value };
}

/** The user's word over the defaults; of objects that are settings themselves, each of their keys. */
function overlay(defaults: Partial<Settings>, user: Partial<Settings>): Partial<Settings> {
  const merged: Partial<Settings> = { ...defaults, ...user };
  if (user.permissions)
    merged.permissions = { ask: [], deny: [], ...defaults.permissions, ...user.permissions };
  if (user.limits) merged.limits = { ...defaults.limits, ...user.limits };
  if (user.watchdog && defaults.watchdog) merged.watchdog = { ...defaults.watchdog, ...user.watchdog };
  return merged;
}
