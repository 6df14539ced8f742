import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { didYouMean } from "../../agents/closest.ts";
import { loadSettings } from "../../config/load-settings.ts";
import { isRecord, readSettingsFile, type SettingsFile } from "../../config/read-settings-file.ts";
import { DEFAULT_SETTINGS } from "../../runtime/project/default-settings.ts";
import { DEFAULT_LIMITS } from "../../runtime/runs/effective-limits.ts";
import type { Problem } from "../../schema/agent.ts";
import { type CommonOptions, openProject, settingsFiles } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { pointerOf, valueAt } from "./setting-key.ts";

/** Whose word a value is. */
export type Scope = "default" | "user" | "project" | "environment";

/** Where a value comes from; a file with its line, or the variable that holds it. */
export type Origin = { scope: Scope; file?: string; line?: number; variable?: string };

/** One value that holds, with everybody who had a say in it. */
export type Effective = { keys: readonly string[]; value: unknown; origins: Origin[] };

/** The settings that hold, as they are seen by whoever runs something here. */
export type EffectiveSettings = {
  value: Readonly<Record<string, unknown>>;
  leaves: Effective[];
  problems: Problem[];
  files: { user: string; project: string };
};

/** Loads what holds, and says of every value where it comes from. */
export async function effectiveSettings(
  options: CommonOptions,
  terminal: Terminal,
): Promise<EffectiveSettings> {
  const project = await openProject(options, terminal);
  const files = settingsFiles(project);
  const read = { user: await readGood(files.user), project: await readGood(files.project) };
  const defaults = { ...DEFAULT_SETTINGS, limits: DEFAULT_LIMITS };
  const mine = await loadSettings({
    // A path below a file leads nowhere, so that no project has a say.
    projectDir: join(files.user, "none"),
    configDir: project.places.configDir,
    defaults,
    suggest: didYouMean,
  });
  const variable = terminal.env.RETINUE_MODEL;
  const { agents: _, ...settings } = project.settings;
  const value: Record<string, unknown> = {
    ...settings,
    ...agentsOf(read),
    ...(variable && { model: variable }),
  };
  const levels: Levels = { read, defaults, mine: { ...mine.settings }, variable };
  const leaves = leavesOf(value, []).map(([keys, each]) => ({
    keys,
    value: each,
    origins: originsOf(keys, each, levels),
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

/** Agents are no settings, but stand in the same files: the user's by name, the roles of both. */
function agentsOf({ user, project }: Levels["read"]): Record<string, unknown> {
  const roles = project?.value.AgentRoles ?? user?.value.AgentRoles;
  const agents = user?.value.agents;
  return { ...(agents !== undefined && { agents }), ...(roles !== undefined && { AgentRoles: roles }) };
}

/** Every value that is not made of others; a list is one value. */
function leavesOf(value: unknown, way: readonly string[]): [readonly string[], unknown][] {
  if (!isRecord(value)) return value === undefined ? [] : [[way, value]];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...way, key]));
}

function originsOf(keys: readonly string[], value: unknown, levels: Levels): Origin[] {
  const { read, defaults, mine, variable } = levels;
  if (keys[0] === "model" && variable) return [{ scope: "environment", variable: "RETINUE_MODEL" }];
  if (keys[0] === "agents") return [inFile("user", read.user, keys)];
  if (keys[0] === "AgentRoles")
    return [
      read.project?.value.AgentRoles === undefined
        ? inFile("user", read.user, keys)
        : inFile("project", read.project, keys),
    ];
  const before = valueAt(mine, keys);
  const user = isSaid(read.user, keys) ? inFile("user", read.user, keys) : undefined;
  if (isDeepStrictEqual(before, value)) return [user ?? { scope: "default" }];
  const project = isSaid(read.project, keys) ? inFile("project", read.project, keys) : byRoles(read);
  const isJoined = Array.isArray(value) && Array.isArray(before) && before.length > 0;
  const first = user ?? (valueAt(defaults, keys) === undefined ? undefined : { scope: "default" as const });
  return isJoined && first ? [first, project] : [project];
}

function isSaid(file: SettingsFile | undefined, keys: readonly string[]): boolean {
  return file !== undefined && valueAt(file.value, keys) !== undefined;
}

/** Limits that a file's roles bring are that file's word, too. */
function byRoles({ user, project }: Levels["read"]): Origin {
  const way = ["AgentRoles"];
  return isSaid(project, way) ? inFile("project", project, way) : inFile("user", user, way);
}

function inFile(scope: Scope, file: SettingsFile | undefined, keys: readonly string[]): Origin {
  if (!file) return { scope };
  return { scope, file: file.file, line: file.lines.get(pointerOf(keys)) ?? 1 };
}
