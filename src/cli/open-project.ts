import { statSync } from "node:fs";
import { resolve } from "node:path";
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

/** The same for commands that run agents: they say first which roles of the settings are not as they were written. */
export async function openWorkingProject(
  options: CommonOptions & { agents?: string },
  terminal: Terminal,
): Promise<OpenProject> {
  const project = await openSoundProject(options, terminal);
  for (const line of describeRoleProblems(project)) terminal.tell(`warning: ${line}`);
  return project;
}

/** What could not be loaded of the settings' roles, one line for each. */
export function describeRoleProblems({ roleProblems, projectDir }: OpenProject): string[] {
  return roleProblems.map(({ file, line, message, fix }) =>
    plainText(`${shortPath(file, projectDir)}:${Math.max(1, line)}: ${message} (${fix})`),
  );
}
