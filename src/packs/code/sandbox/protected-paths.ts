import { randomBytes } from "node:crypto";
import { mkdirSync, rmdirSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { compileSegments, expandBraces, matchesPathGlob } from "../../../permissions/patterns/path-glob.ts";
import { PROTECTED_DEFINITIONS } from "../../../permissions/protected-layer.ts";
import { pinPath } from "./pin-path.ts";

const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 8;
const PATTERNS = PROTECTED_DEFINITIONS.flatMap((pattern) => expandBraces(pattern) ?? [pattern]).map(
  (text) => ({
    last: text.slice(text.lastIndexOf("/") + 1),
    name: text.replace(/^\*\*\//, ""),
    glob: compileSegments(text.split("/")),
  }),
);
const LAST_NAMES = new Set(PATTERNS.map(({ last }) => last));
const BEGINNINGS = PATTERNS.filter(({ last }) => last.endsWith("*")).map(({ last }) => last.slice(0, -1));

/** Names at the top of a project that nobody may make, as far as they can be spelled out. */
export const TOP_NAMES: readonly string[] = PATTERNS.map(({ name }) => name).filter(
  (name) => !name.includes("*"),
);

/** Empty folders that stand where something must not be made, by how many commands need them. */
const standing = new Map<string, number>();
let watchesExit = false;

/** What a look through a folder found; `whole` is false if there was more than could be looked at. */
export type Found = { paths: string[]; whole: boolean };

/** Agent files, settings and git's own files below a folder of `root`: what no command may change or make. */
export async function findProtected(folder: string, root: string): Promise<Found> {
  const found: Found = { paths: [], whole: true };
  const waiting = [{ path: folder, depth: 0 }];
  let seen = 0;
  for (const { path: parent, depth } of waiting) {
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (++seen > MAX_ENTRIES) return { ...found, whole: false };
      const path = join(parent, entry.name);
      if (isProtected(path, root)) found.paths.push(path);
      else if (entry.isDirectory() && entry.name !== "node_modules") {
        if (depth < MAX_DEPTH) waiting.push({ path, depth: depth + 1 });
        else found.whole = false;
      }
    }
  }
  return found;
}

/** Whether a path below `root` is one of them. */
export function isProtected(path: string, root: string): boolean {
  const name = basename(path);
  if (!LAST_NAMES.has(name) && !BEGINNINGS.some((each) => name.startsWith(each))) return false;
  return PATTERNS.some(({ glob }) => matchesPathGlob(glob, relative(root, path).split(sep)));
}

/**
 * Puts what a command made against the rules under another name, which nothing reads; gives the new names. An empty
 * folder says nothing and stays.
 */
export async function setAside(root: string, paths: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const path of paths) {
    const isEmpty = (await readdir(path).catch(() => [""])).length === 0;
    const folder = isEmpty || standing.has(path) ? undefined : await pinPath(root, dirname(path));
    if (!folder) continue;
    const name = `${basename(path)}.set-aside-${randomBytes(4).toString("hex")}`;
    const at = `/proc/self/fd/${folder.fd}`;
    await rename(join(at, basename(path)), join(at, name)).then(
      () => names.push(join(dirname(path), name)),
      () => {},
    );
    await folder.close();
  }
  return names;
}

/**
 * A mount needs something to be mounted on: makes an empty folder at each path where there is nothing. The answer
 * takes those away again that no other command still needs. An empty folder is nothing to git.
 */
export function holdPlaces(paths: readonly string[]): { held: string[]; release(): void } {
  if (!watchesExit) process.once("exit", () => takeAway([...standing.keys()]));
  watchesExit = true;
  const held = paths.filter((path) => standing.has(path) || makeFolder(path));
  for (const path of held) standing.set(path, (standing.get(path) ?? 0) + 1);
  let isReleased = false;
  return {
    held,
    release() {
      if (isReleased) return;
      isReleased = true;
      const over = held.filter((path) => (standing.get(path) ?? 0) <= 1);
      for (const path of held) standing.set(path, (standing.get(path) ?? 1) - 1);
      for (const path of over) standing.delete(path);
      takeAway(over);
    },
  };
}

function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function takeAway(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmdirSync(path);
    } catch {
      // Somebody put something there: it is no longer ours.
    }
  }
}
