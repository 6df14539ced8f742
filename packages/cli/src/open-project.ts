import { realpathSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import {
  countProblems,
  loadProject,
  type Project,
  refuseBrokenSettings,
} from "@retinue/builtin/load-project";
import type { AgentSource, Problem } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { stripControls } from "@retinue/core/text/plain-text";
import type { Cli } from "./terminal.ts";

/** The project a command works on. */
export type OpenProject = Project & { projectDir: string };

/** The folder that `-C` names, or the current one. */
export function findProjectDir(cli: Cli): string {
  const { cwd } = cli.options;
  const dir = resolve(cli.cwd, cwd ?? ".");
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return dir;
  throw new RetinueError("input", `${dir} is not a folder`, "name an existing folder with -C");
}

/** The same folder by its real path, as the record has it. */
export function findRealProject(cli: Cli): string {
  return realpathSync(findProjectDir(cli));
}

/** Loads settings and agents, with all their problems. */
export async function openProject(cli: Cli<{ agents?: string }>): Promise<OpenProject> {
  const projectDir = findProjectDir(cli);
  return {
    ...(await loadProject({ projectDir, env: cli.env, agentsJson: cli.options.agents })),
    projectDir,
  };
}

/** The same for commands that must not run with broken settings. */
export async function openSoundProject(cli: Cli<{ agents?: string }>): Promise<OpenProject> {
  const project = await openProject(cli);
  refuseBrokenSettings(project);
  return project;
}

/** The same for commands that run agents: first they warn about what is ignored. */
export async function openWorkingProject(cli: Cli<{ agents?: string }>): Promise<OpenProject> {
  const project = await openSoundProject(cli);
  for (const line of describeUnheld(project)) cli.tell(`warning: ${line}`);
  return project;
}

/** Settings that are ignored, and names that broken agent files block; one line each. */
export function describeUnheld(project: OpenProject): string[] {
  const files = findSettingsFiles(project);
  return project.problems
    .filter(
      ({ severity, file, code }) =>
        severity !== "info" && (file === files.user || file === files.project || UNHELD_CODES.has(code)),
    )
    .map(({ file, line, message, fix }) =>
      stripControls(`${showProblemPlace({ file, line }, project.projectDir)}: ${message} (${fix})`),
    );
}

/** Agents are missing or replaced: a file with their name is broken, or was perhaps not found. */
const UNHELD_CODES = new Set(["blocked-agent", "unreadable-folder", "too-many-files"]);

/** The settings files that apply in a folder. */
export function findSettingsFiles({ projectDir, places }: Pick<OpenProject, "projectDir" | "places">) {
  return {
    user: join(places.configDir, "settings.json"),
    project: join(projectDir, ".retinue", "settings.json"),
  };
}

/** A path as short as it can be without being ambiguous. */
export function shortenPath(path: string, projectDir: string): string {
  const inside = relative(projectDir, path);
  return inside === "" || inside.startsWith("..") ? path : inside;
}

/** Where a problem is: file and line. */
export function showProblemPlace({ file, line }: Pick<Problem, "file" | "line">, projectDir: string): string {
  return `${shortenPath(file, projectDir)}:${Math.max(1, line)}`;
}

/** How many problems of each weight there are, in words; empty if there are none. */
export function showProblemCounts(problems: readonly Problem[]): string {
  const { errors, warnings, notes } = countProblems(problems);
  const counts = [
    [errors, "error"],
    [warnings, "warning"],
    [notes, "note"],
  ] as const;
  return counts.flatMap(([count, word]) => (count > 0 ? [showCount(count, word)] : [])).join(", ");
}

/** Where a definition came from, in words: `project, claude`. */
export function showSource({ scope, format }: AgentSource): string {
  if (scope === "code") return "--agents";
  return format === "native" ? scope : `${scope}, ${format}`;
}
