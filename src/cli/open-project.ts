import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadProject, type Project, refuseBrokenSettings } from "../runtime/project/load-project.ts";
import { RetinueError } from "../schema/error.ts";
import { shortPath } from "./agents/show-source.ts";
import { plainText } from "./plain-text.ts";
import type { Terminal } from "./terminal.ts";

/** Options that every command has. */
export type CommonOptions = { cwd?: string; json?: boolean };

/** The project a command works on. */
export type OpenProject = Project & { projectDir: string };

/** The folder that `-C` names, or the current one. */
export function projectDirOf({ cwd }: CommonOptions, terminal: Terminal): string {
  const dir = resolve(terminal.cwd, cwd ?? ".");
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return dir;
  throw new RetinueError("input", `${dir} is not a folder`, "name an existing folder with -C");
}

/** Loads settings and agents, with all their problems. */
export async function openProject(
  options: CommonOptions & { agents?: string },
  terminal: Terminal,
): Promise<OpenProject> {
  const projectDir = projectDirOf(options, terminal);
  return {
    ...(await loadProject({ projectDir, env: terminal.env, agentsJson: options.agents })),
    projectDir,
  };
}

/** The same for commands whose answer would be wrong if the settings are. */
export async function openSoundProject(
  options: CommonOptions & { agents?: string },
  terminal: Terminal,
): Promise<OpenProject> {
  const project = await openProject(options, terminal);
  refuseBrokenSettings(project);
  return project;
}

/** The same for commands that run agents: they say first what does not hold as it was written. */
export async function openWorkingProject(
  options: CommonOptions & { agents?: string },
  terminal: Terminal,
): Promise<OpenProject> {
  const project = await openSoundProject(options, terminal);
  for (const line of describeUnheld(project)) terminal.tell(`warning: ${line}`);
  return project;
}

/** What does not hold of the settings, and names that agent files keep from other agents; one line for each. */
export function describeUnheld(project: OpenProject): string[] {
  const files = settingsFiles(project);
  return project.problems
    .filter(
      ({ severity, file, code }) =>
        severity !== "info" && (file === files.user || file === files.project || UNHELD_CODES.has(code)),
    )
    .map(({ file, line, message, fix }) =>
      plainText(`${shortPath(file, project.projectDir)}:${Math.max(1, line)}: ${message} (${fix})`),
    );
}

/** Agents are not as their files say: a file of their name is broken, or perhaps there is one that was not found. */
const UNHELD_CODES = new Set(["blocked-agent", "unreadable-folder", "too-many-files"]);

/** The files of settings that hold in a folder. */
export function settingsFiles({ projectDir, places }: Pick<OpenProject, "projectDir" | "places">) {
  return {
    user: join(places.configDir, "settings.json"),
    project: join(projectDir, ".retinue", "settings.json"),
  };
}
