import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isMissing } from "../files/file-fault.ts";
import type { AgentSource, FindOwnFiles, Problem } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";

/** One file that may hold an agent. */
export type AgentFile = { path: string; format: AgentSource["format"]; scope: AgentSource["scope"] };

/** Where to look. A place left out is not searched, so an untrusted project is simply not named. */
export type AgentPlaces = {
  projectDir?: string;
  homeDir?: string;
  /** `$XDG_CONFIG_HOME`; the home's `.config` if absent. */
  configHome?: string;
  builtinDir?: string;
  /** What of the files may be read; all, if absent. */
  findOwn?: FindOwnFiles;
};

type Place = { dir: string; format: AgentFile["format"]; scope: AgentFile["scope"]; suffix: string };

const MAX_FOLDER_DEPTH = 8;
const MAX_FILES_PER_PLACE = 5_000;

/** Every agent file in order of precedence. What cannot be read is a problem; a missing folder is not. */
export async function findAgentFiles(
  places: AgentPlaces,
): Promise<{ files: AgentFile[]; problems: Problem[] }> {
  const files: AgentFile[] = [];
  const problems: Problem[] = [];
  for (const place of listPlaces(places)) {
    const found = await searchFolder(place, problems);
    files.push(...found.map((path) => ({ path, format: place.format, scope: place.scope })));
  }
  if (!places.findOwn) return { files, problems };
  const own = new Set(await places.findOwn(files.map(({ path }) => path)));
  const why = "a command that still runs made it, so it is not read";
  for (const { path } of files)
    if (!own.has(path))
      problems.push(unreadable(path, "made-by-command", why, "wait for the end of the command"));
  return { files: files.filter(({ path }) => own.has(path)), problems };
}

/** Where agents are, below a project and below a home or its configuration; opencode knows two names of its folder. */
const FOLDERS: Readonly<Record<"project" | "user", readonly (readonly [Place["format"], string])[]>> = {
  project: [
    ["native", ".retinue/agents"],
    ["claude", ".claude/agents"],
    ["opencode", ".opencode/agent"],
    ["opencode", ".opencode/agents"],
    ["copilot", ".github/agents"],
    ["gemini", ".gemini/agents"],
  ],
  user: [
    ["native", "retinue/agents"],
    ["claude", ".claude/agents"],
    ["opencode", "opencode/agent"],
    ["opencode", "opencode/agents"],
    ["copilot", ".copilot/agents"],
    ["copilot", ".github/agents"],
    ["gemini", ".gemini/agents"],
  ],
};

/** The folders that are searched, first wins. */
export function listPlaces({ projectDir, homeDir, configHome, builtinDir }: AgentPlaces): Place[] {
  const list: Place[] = [];
  const add = (scope: Place["scope"], format: Place["format"], dir: string): void => {
    list.push({ dir, format, scope, suffix: format === "copilot" ? ".agent.md" : ".md" });
  };
  if (projectDir !== undefined)
    for (const [format, folder] of FOLDERS.project) add("project", format, join(projectDir, folder));
  if (homeDir !== undefined || configHome !== undefined) {
    const home = homeDir ?? homedir();
    const config = configHome ?? join(home, ".config");
    for (const [format, folder] of FOLDERS.user)
      add("user", format, join(folder.startsWith(".") ? home : config, folder));
  }
  if (builtinDir !== undefined) add("builtin", "native", builtinDir);
  return list;
}

/** Sorted paths below a folder. Links are followed, each real folder once, so a loop ends. */
async function searchFolder(place: Place, problems: Problem[]): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const pending: { dir: string; depth: number }[] = [{ dir: place.dir, depth: 0 }];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { dir, depth } = next;
    const names = await listFolder(dir, seen, problems);
    for (const name of names) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(dir, name);
      // What is no file or cannot be looked at is found as well: it claims its name, and reading it says what is wrong.
      if (!(await isFolder(path))) {
        if (name.toLowerCase().endsWith(place.suffix)) found.push(path);
      } else if (depth < MAX_FOLDER_DEPTH) pending.push({ dir: path, depth: depth + 1 });
    }
    if (found.length > MAX_FILES_PER_PLACE) {
      problems.push(
        unreadable(
          place.dir,
          "too-many-files",
          `more than ${MAX_FILES_PER_PLACE} agent files; the rest is skipped`,
        ),
      );
      return found.slice(0, MAX_FILES_PER_PLACE);
    }
  }
  return found;
}

async function listFolder(dir: string, seen: Set<string>, problems: Problem[]): Promise<string[]> {
  try {
    const real = await realpath(dir);
    if (seen.has(real)) return [];
    seen.add(real);
    return (await readdir(dir)).sort();
  } catch (thrown) {
    if (!isMissing(thrown))
      problems.push(unreadable(dir, "unreadable-folder", `the folder cannot be read: ${messageOf(thrown)}`));
    return [];
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function unreadable(
  file: string,
  code: string,
  message: string,
  fix = "check the path and its permissions",
): Problem {
  return { severity: "warning", file, line: 0, code, message, fix };
}
