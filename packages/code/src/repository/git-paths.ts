import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { GitFault } from "@retinue/core/git/exec-git";
import type { Target } from "@retinue/core/schema/rights";
import type { Roots } from "@retinue/core/tools/tool";

/** A path target of the project. */
export type PathTarget = Extract<Target, { kind: "path" }>;

/**
 * The target of a path as git knows it. Links are not followed, because git does not follow them either: what it shows of
 * a link is where it leads, and a path through one is not in the repository.
 */
export async function gitTarget(
  path: string,
  { projectDir }: Pick<Roots, "projectDir">,
): Promise<PathTarget> {
  if (path.includes("\0")) throw new TypeError("a path must not contain a NUL character");
  const root = await realpath(projectDir);
  const named = path.replace(/^project:/, "");
  const absolute = resolve(root, isAbsolute(named) ? rebased(named, projectDir, root) : named);
  const inside = relative(root, absolute);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside
    ? { kind: "path", path: absolute, root: "outside", relative: absolute, mode: "read" }
    : { kind: "path", path: absolute, root: "project", relative: inside.replaceAll(sep, "/"), mode: "read" };
}

/** The target of a file that git named, relative to the project. */
export function fileTarget(file: string, projectDir: string): PathTarget {
  return { kind: "path", path: join(projectDir, file), root: "project", relative: file, mode: "read" };
}

/** The name git is given for a target: relative, and `.` for the project itself. */
export function gitName(target: PathTarget): string {
  if (target.root !== "project") throw new GitFault(`${target.path} is outside the project`);
  return target.relative || ".";
}

function rebased(path: string, projectDir: string, root: string): string {
  const inside = relative(projectDir, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : join(root, inside);
}
