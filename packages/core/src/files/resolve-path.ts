import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Target } from "../schema/rights.ts";

/** The two folders paths are judged against, and where in the project relative ones begin if not at its top. */
export type PathRoots = { projectDir: string; workspaceDir: string; cwd?: string | undefined };

/** Turns what a model wrote into the real, canonical path it means; symbolic links are followed to their target. */
export async function resolvePath(path: string, base: string): Promise<string> {
  if (path.includes("\0")) throw new TypeError("a path must not contain a NUL character");
  const expanded = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
  const absolute = isAbsolute(expanded) ? resolve(expanded) : resolve(base, expanded);
  return realOf(absolute, 0);
}

/** The permission target of a path: canonical, and relative to the folder it lies in. */
export async function pathTarget(path: string, mode: "read" | "write", roots: PathRoots): Promise<Target> {
  const inWorkspace = path.startsWith("workspace:");
  const text = path.replace(/^(workspace|project):/, "");
  const real = await resolvePath(text, inWorkspace ? roots.workspaceDir : await baseFor(path, roots));
  const [workspace, project] = await Promise.all([
    realOf(roots.workspaceDir, 0),
    realOf(roots.projectDir, 0),
  ]);
  const below = (root: string) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
  if (below(workspace))
    return {
      kind: "path",
      path: real,
      root: "workspace",
      relative: slashed(relative(workspace, real)),
      mode,
    };
  if (below(project))
    return { kind: "path", path: real, root: "project", relative: slashed(relative(project, real)), mode };
  return { kind: "path", path: real, root: "outside", relative: real, mode };
}

/** Where a relative path begins. What tools list is named from the project's top, so that is the second place to look. */
async function baseFor(path: string, { projectDir, cwd }: PathRoots): Promise<string> {
  if (cwd === undefined || path.startsWith("project:")) return projectDir;
  const exists = (base: string) =>
    realpath(resolve(base, path)).then(
      () => true,
      () => false,
    );
  return !(await exists(cwd)) && (await exists(projectDir)) ? projectDir : cwd;
}

const MAX_LINKS = 64;

/** `realpath` that also works for what does not exist yet: the longest existing part is real, the rest is kept. */
async function realOf(absolute: string, links: number): Promise<string> {
  if (links > MAX_LINKS) throw new TypeError(`too many symbolic links on the way to ${absolute}`);
  try {
    return await realpath(absolute);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw thrown;
    const dangling = await linkTarget(absolute);
    if (dangling) return realOf(dangling, links + 1);
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realOf(parent, links), basename(absolute));
  }
}

async function linkTarget(absolute: string): Promise<string | null> {
  const { readlink } = await import("node:fs/promises");
  try {
    return resolve(dirname(absolute), await readlink(absolute));
  } catch {
    return null;
  }
}

function slashed(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
