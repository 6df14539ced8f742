import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { DEFAULT_LIMITS } from "@retinue/core/delegate/effective-limits";
import type { Problem } from "@retinue/core/schema/agent";
import { isRecord } from "@retinue/core/schema/json-object";
import { DEFAULT_SETTINGS } from "@retinue/core/settings/default-settings";
import { loadSettings } from "@retinue/core/settings/load-settings";
import { readSettingsFile, type SettingsFile } from "@retinue/core/settings/read-settings-file";
import { findSettingsFiles, openProject, shortenPath } from "./open-project.ts";
import { omitAbsent } from "./options.ts";
import { readValueAt, writePointer } from "./setting-key.ts";
import type { Cli } from "./terminal.ts";

/** Which source sets a value. */
type SettingScope = "default" | "user" | "project" | "environment";

/** Where a value comes from; a file with its line, or the variable that holds it. */
type SettingOrigin = { scope: SettingScope; file?: string; line?: number; variable?: string };

/** One value that applies, with every source it comes from. */
type Effective = { keys: readonly string[]; value: unknown; origins: SettingOrigin[] };

/** The settings that hold, as a run in this folder sees them. */
export type EffectiveSettings = {
  value: Readonly<Record<string, unknown>>;
  leaves: Effective[];
  problems: Problem[];
  files: { user: string; project: string };
};

/** Loads the settings that apply, with the source of every value. */
export async function loadEffectiveSettings(cli: Cli): Promise<EffectiveSettings> {
  const project = await openProject(cli);
  const files = findSettingsFiles(project);
  const read = { user: await readGood(files.user), project: await readGood(files.project) };
  const defaults = { ...DEFAULT_SETTINGS, limits: DEFAULT_LIMITS };
  const mine = await loadSettings({
    // A path below a file leads nowhere, so no project settings are read.
    projectDir: join(files.user, "none"),
    configDir: project.places.configDir,
    defaults,
  });
  const variable = cli.env.RETINUE_MODEL;
  const { agents: _, ...settings } = project.settings;
  const value: Record<string, unknown> = {
    ...settings,
    ...readAgents(read),
    ...(variable && { model: variable }),
  };
  const levels: Levels = { read, defaults, mine: { ...mine.settings }, variable };
  const leaves = listLeaves(value, []).map(([keys, each]) => ({
    keys,
    value: each,
    origins: findOrigins(keys, each, levels),
  }));
  const problems = project.problems.filter(({ file }) => file === files.user || file === files.project);
  return { value, leaves, problems, files };
}

type Levels = {
  read: { user: SettingsFile | undefined; project: SettingsFile | undefined };
  defaults: object;
  mine: object;
  variable: string | undefined;
};

async function readGood(file: string): Promise<SettingsFile | undefined> {
  const read = await readSettingsFile(file);
  return read && "value" in read ? read : undefined;
}

/** Agents are not settings but are in the same files: the user's by name, the roles of both. */
function readAgents({ user, project }: Levels["read"]): Record<string, unknown> {
  const roles = project?.value.AgentRoles ?? user?.value.AgentRoles;
  const agents = user?.value.agents;
  return omitAbsent({ agents, AgentRoles: roles });
}

/** Every value that is not an object; a list is one value. */
function listLeaves(value: unknown, way: readonly string[]): [readonly string[], unknown][] {
  if (!isRecord(value)) return value === undefined ? [] : [[way, value]];
  return Object.entries(value).flatMap(([key, each]) => listLeaves(each, [...way, key]));
}

function findOrigins(keys: readonly string[], value: unknown, levels: Levels): SettingOrigin[] {
  const { read, defaults, mine, variable } = levels;
  if (keys[0] === "model" && variable) return [{ scope: "environment", variable: "RETINUE_MODEL" }];
  if (keys[0] === "agents") return [inFile("user", read.user, keys)];
  if (keys[0] === "AgentRoles")
    return [
      read.project?.value.AgentRoles === undefined
        ? inFile("user", read.user, keys)
        : inFile("project", read.project, keys),
    ];
  const before = readValueAt(mine, keys);
  const user = isSaid(read.user, keys) ? inFile("user", read.user, keys) : undefined;
  if (isDeepStrictEqual(before, value)) return [user ?? { scope: "default" }];
  const project = isSaid(read.project, keys) ? inFile("project", read.project, keys) : byRoles(read);
  const isJoined = Array.isArray(value) && Array.isArray(before) && before.length > 0;
  const first =
    user ?? (readValueAt(defaults, keys) === undefined ? undefined : { scope: "default" as const });
  return isJoined && first ? [first, project] : [project];
}

function isSaid(file: SettingsFile | undefined, keys: readonly string[]): boolean {
  return file !== undefined && readValueAt(file.value, keys) !== undefined;
}

/** Limits that come with a file's roles come from that file. */
function byRoles({ user, project }: Levels["read"]): SettingOrigin {
  const way = ["AgentRoles"];
  return isSaid(project, way) ? inFile("project", project, way) : inFile("user", user, way);
}

function inFile(scope: SettingScope, file: SettingsFile | undefined, keys: readonly string[]): SettingOrigin {
  if (!file) return { scope };
  return { scope, file: file.file, line: file.lines.get(writePointer(keys)) ?? 1 };
}

/** The source of a value, as briefly as possible. */
export function showOrigin({ scope, file, line, variable }: SettingOrigin, projectDir: string): string {
  if (variable) return `environment ${variable}`;
  return file ? `${shortenPath(file, projectDir)}:${line ?? 1}` : scope;
}
