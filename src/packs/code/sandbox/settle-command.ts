import { randomBytes } from "node:crypto";
import { readdir, readlink, rename, rmdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isBelow } from "../shell/below.ts";
import { type Holder, isHeld, releasePlaces } from "./hold-places.ts";
import { pinPath } from "./pin-path.ts";
import { type FirstProcess, killInside, sandboxEnd } from "./sandbox-end.ts";
import { type FolderScan, scanFolders } from "./scan-folders.ts";

/** A folder that a command may write, and the project or workspace it belongs to. */
export type GuardedFolder = { readonly folder: string; readonly root: string };

/** What a command found when it began: enough to put things right after it, in this process or another. */
export type CommandState = {
  readonly holder: Holder;
  readonly folders: readonly GuardedFolder[];
  /** Places that it holds, or was about to hold. */
  readonly held: readonly string[];
  /** What was there before it began; absent if it never did. */
  readonly before?: Surroundings;
  /** The first process of its sandbox. */
  readonly first?: FirstProcess;
};

/** What had a protected name before a command began. */
export type Surroundings = {
  /** Identities by path. */
  readonly existing: Readonly<Record<string, string>>;
  /** Where links led to, by path: nothing can be mounted on a link, so it is put back if it was changed. */
  readonly links: Readonly<Record<string, string>>;
  readonly closed: readonly string[];
  /** Paths as base64. */
  readonly unspelled: readonly string[];
};

/** Notes what is there, so that what is new can be told from it. */
export async function describeSurroundings(scan: FolderScan): Promise<Surroundings> {
  const links: [string, string][] = [];
  for (const { path, isLink } of scan.protected) {
    const target = isLink ? await readlink(path).catch(() => undefined) : undefined;
    if (target !== undefined) links.push([path, target]);
  }
  return {
    existing: Object.fromEntries(scan.protected.map(({ path, identity }) => [path, identity])),
    links: Object.fromEntries(links),
    closed: scan.closed,
    unspelled: scan.unspelled.map((path) => path.toString("base64")),
  };
}

/**
 * Puts things right after a command: ends what is left of it, sets aside what it made under a protected name, puts back
 * links that it replaced, and gives up the places it held. Gives what a reader of its result should know.
 */
export async function settleCommand({
  holder,
  folders,
  held,
  before,
  first,
}: CommandState): Promise<string[]> {
  killInside(first);
  const notes = await sandboxEnd(first);
  if (before) notes.push(...(await setNewAside(folders, before)));
  for (const root of new Set(folders.map(({ root }) => root)))
    await releasePlaces(
      root,
      held.filter((path) => isBelow(path, root)),
      holder,
    );
  return notes;
}

async function setNewAside(folders: readonly GuardedFolder[], before: Surroundings): Promise<string[]> {
  const now = await scanFolders(
    folders.map(({ folder }) => folder),
    { linked: false },
  );
  const known = { closed: new Set(before.closed), unspelled: new Set(before.unspelled) };
  const made: (string | Buffer)[] = [
    ...now.protected
      .filter(({ path, identity }) => before.existing[path] !== identity && !isHeld(path))
      .map(({ path }) => path),
    ...now.closed.filter((path) => !known.closed.has(path)),
    ...now.unspelled.filter((path) => !known.unspelled.has(path.toString("base64"))),
  ];
  const notes: string[] = [];
  for (const path of made) {
    const root = folders.find(({ folder }) => isBelow(path.toString(), folder))?.root;
    const name = root && (await setAside(root, path));
    if (name) notes.push(`no command may make this; it is now ${name}`);
  }
  const there = new Set(now.protected.map(({ path }) => path));
  for (const [path, target] of Object.entries(before.links))
    if (made.includes(path) || !there.has(path)) await symlink(target, path).catch(() => {});
  return notes;
}

/** Gives something a name that nothing reads, and tells that name. An empty folder is simply removed. */
export async function setAside(root: string, path: string | Buffer): Promise<string | undefined> {
  const bytes = Buffer.from(path);
  const slash = bytes.lastIndexOf("/");
  const parent = await pinPath(root, typeof path === "string" ? dirname(path) : bytes.subarray(0, slash));
  if (!parent) return undefined;
  const suffix = `.set-aside-${randomBytes(4).toString("hex")}`;
  const inside = (name: Buffer) => Buffer.concat([Buffer.from(`/proc/self/fd/${parent.fd}/`), name]);
  const from = inside(bytes.subarray(slash + 1));
  try {
    const isEmpty = (await readdir(from).catch(() => [""])).length === 0;
    if (
      isEmpty &&
      (await rmdir(from).then(
        () => true,
        () => false,
      ))
    )
      return undefined;
    await rename(from, inside(Buffer.concat([bytes.subarray(slash + 1), Buffer.from(suffix)])));
    const text = path.toString();
    return join(dirname(text), `${basename(text)}${suffix}`);
  } catch {
    return undefined;
  } finally {
    await parent.close();
  }
}
