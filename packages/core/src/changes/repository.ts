import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { tryTo } from "../schema/error.ts";

/** The repository whose top folder a project is. */
export type ProjectRepository = {
  /** The project's own part of it, with HEAD and index. */
  gitDir: string;
  /** What all its worktrees share: refs and objects. */
  commonDir: string;
};

const MAX_POINTER_BYTES = 4096;

/** The repository of a project, if the project is its top folder; found without running anything. */
export function findRepository(project: string): ProjectRepository | null {
  try {
    const own = join(project, ".git");
    const stats = lstatSync(own);
    const gitDir = stats.isDirectory() ? own : stats.isFile() ? pointer(own, /^gitdir: (.+)$/) : null;
    if (!gitDir) return null;
    const shared = join(gitDir, "commondir");
    const commonDir = existsSync(shared) ? pointer(shared, /^(.+)$/) : gitDir;
    if (!commonDir || !existsSync(join(commonDir, "objects")) || !existsSync(join(gitDir, "HEAD")))
      return null;
    return { gitDir: realpathSync(gitDir), commonDir: realpathSync(commonDir) };
  } catch {
    return null;
  }
}

function pointer(file: string, form: RegExp): string | null {
  if (lstatSync(file).size > MAX_POINTER_BYTES) return null;
  const path = form.exec(readFileSync(file, "utf8").trim())?.[1];
  return path === undefined ? null : resolve(dirname(file), path);
}

/** How objects are named in a repository; `sha1` unless it says otherwise. */
export function objectFormat({ commonDir }: ProjectRepository): string {
  const text = tryTo(() => readFileSync(join(commonDir, "config"), "utf8")) ?? "";
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(text) ? "sha256" : "sha1";
}
