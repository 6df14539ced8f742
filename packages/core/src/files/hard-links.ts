import { execFile } from "node:child_process";
import { relative, sep } from "node:path";

/** Folders that package managers fill with second names of files in a store of theirs, such as pnpm, Bun or uv. */
const PACKAGE_FOLDERS = new Set([
  "node_modules",
  ".pnpm-store",
  ".yarn",
  ".venv",
  "venv",
  "site-packages",
  "dist-packages",
]);
const SEARCH_MS = 30_000;

/** A file with more than one name, and what somebody wants with it. */
export type LinkedFile = {
  root: string;
  path: string;
  /** How many names it has. */
  links: number;
  mode: "read" | "write";
  /** Whether a path may be read; everything, by default. */
  mayRead?: ((path: string) => boolean) | undefined;
};

/** Whether a path lies among installed packages, whose files may have their other names in a store. */
export function isInPackages(root: string, path: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((name) => PACKAGE_FOLDERS.has(name));
}

/**
 * Why a file with several names (hard links) is not opened; undefined if it may be. Through such a name one would read or
 * change what lies outside, or what a rule denies. Installed packages may be read, because package managers link them
 * from their stores, and are not changed, because that would change the store for every other project.
 */
export async function explainHardLink(file: LinkedFile): Promise<string | undefined> {
  const { root, path, links, mode, mayRead = () => true } = file;
  if (isInPackages(root, path))
    return mode === "read" ? undefined : `${path} has a second name (hard link), probably in a package store`;
  const names = await findNames(root, path);
  if (names.length < links) return `${path} has a second name (hard link) outside ${root}`;
  return names.every(mayRead) ? undefined : `${path} has a second name (hard link) that you may not read`;
}

/** All names of a file below a folder; none if they cannot be found. */
function findNames(root: string, path: string): Promise<string[]> {
  return new Promise((resolve) => {
    const args = [root, "-samefile", path, "-print0"];
    execFile("find", args, { timeout: SEARCH_MS, killSignal: "SIGKILL" }, (_, stdout) =>
      resolve(stdout.split("\0").filter(Boolean)),
    );
  });
}
