import { randomBytes } from "node:crypto";
import { lstatSync, rmdirSync } from "node:fs";
import { chmod, lstat, readdir, rename, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { tryTo } from "@retinue/core/schema/error";
import { isHeld, releasePlaces } from "./hold-places.ts";
import { type PinnedPath, pinFolder } from "./pin-path.ts";
import { type CommandState, type CommandSurroundings, identifyFile } from "./running-commands.ts";
import { killInside, waitForSandboxEnd } from "./sandbox-end.ts";
import { type Find, type FolderScan, scanFolders } from "./scan-folders.ts";

const MOST_SCANS = 6;
const MOST_NOTES = 5;

/** Notes what is there, so that what is new can be told from it. */
export async function describeSurroundings(
  scan: FolderScan,
  roots: readonly string[],
  namedByGit: readonly string[],
): Promise<CommandSurroundings> {
  const modes = await Promise.all(
    roots.map(async (root) => [root, (await stat(root)).mode & 0o7777] as const),
  );
  return {
    existing: Object.fromEntries(scan.protected),
    links: Object.fromEntries(scan.links),
    closed: scan.closed,
    unspelled: scan.unspelled.map((path) => path.toString("base64")),
    modes: Object.fromEntries(modes),
    namedByGit,
  };
}

/**
 * Puts things right after a command: ends what is left of it, sets aside what it made under a protected name, and gives up
 * the places it held. Gives what a reader of its result should know. Throws if not everything could be looked at.
 */
export async function settleCommand(state: CommandState, find?: Find): Promise<string[]> {
  const { holder, roots, held, before, first, groups = [] } = state;
  killInside(first);
  const [running] = await waitForSandboxEnd(first);
  // What it holds is given up only when it cannot use it any more.
  if (running) throw new Error(running);
  try {
    return before ? await setNewAside(roots, before, find) : [];
  } finally {
    for (const root of roots)
      releasePlaces(
        root,
        held.filter((path) => isBelow(path, root)),
        holder,
      );
    // One in which something has not ended yet stays.
    for (const group of groups) tryTo(() => rmdirSync(group));
  }
}

/**
 * Until a look finds nothing new: what moves while it is looked for may be missed once. Other commands may keep making
 * things all the time; theirs are set aside as well, and only what could not be is a fault.
 */
async function setNewAside(
  roots: readonly string[],
  before: CommandSurroundings,
  find: Find | undefined,
): Promise<string[]> {
  const names: string[] = [];
  let fault: unknown;
  for (let scans = 0; scans < MOST_SCANS; scans++) {
    for (const [root, mode] of Object.entries(before.modes)) await chmod(root, mode).catch(() => {});
    try {
      const made = findNew(await scanFolders(roots, find, () => before.namedByGit ?? []), before);
      fault = undefined;
      if (made.length === 0) break;
      for (const path of made) {
        const identity = identifyFile(path);
        const root = roots.find((each) => isBelow(path.toString(), each));
        const name = root && (await setFileAside(root, path));
        if (name) names.push(name);
        const stays = identity !== undefined && identifyFile(path) === identity && !isHeld(path.toString());
        if (stays) fault ??= new Error(`${path} cannot be set aside`);
      }
    } catch (thrown) {
      fault = thrown;
    }
  }
  if (fault) throw fault;
  const gone = Object.entries(before.links).filter(
    ([path]) => Object.hasOwn(before.existing, path) && !lstatSync(path, { throwIfNoEntry: false }),
  );
  const more = names.length - MOST_NOTES;
  return [
    ...names.slice(0, MOST_NOTES).map((name) => `no command may make this; it is now ${name}`),
    ...(more > 0 ? [`… and ${more} more`] : []),
    ...gone.map(([path, target]) => `${path} is gone; it was a link to ${target || "nothing"}`),
  ];
}

function findNew(now: FolderScan, before: CommandSurroundings): (string | Buffer)[] {
  const known = { closed: new Set(before.closed), unspelled: new Set(before.unspelled) };
  const isKnown = (table: Readonly<Record<string, string>>, path: string, value: string) =>
    Object.hasOwn(table, path) && table[path] === value;
  return [
    ...[...now.protected]
      .filter(([path, identity]) => !isKnown(before.existing, path, identity) && !isHeld(path))
      .map(([path]) => path),
    // A link that leads elsewhere than before, or to something where there was nothing.
    ...[...now.links].filter(([path, target]) => !isKnown(before.links, path, target)).map(([path]) => path),
    ...now.closed.filter((path) => !known.closed.has(path)),
    ...now.unspelled.filter((path) => !known.unspelled.has(path.toString("base64"))),
  ];
}

/**
 * Gives something a name that nothing reads, and tells that name. An empty folder is simply removed, and one that was
 * shut is opened, so that the next look goes into it.
 */
export async function setFileAside(root: string, path: string | Buffer): Promise<string | undefined> {
  const bytes = Buffer.from(path);
  const slash = bytes.lastIndexOf("/");
  using parent = pinFolder(root, slash === Buffer.byteLength(root) ? root : bytes.subarray(0, slash));
  if (!parent) return undefined;
  try {
    const name = bytes.subarray(slash + 1);
    return await retryOpened(parent, async () => {
      const from = nameInside(parent, name);
      const isFolder = (await lstat(from)).isDirectory();
      const entries = isFolder && (await readdir(from).catch((thrown: NodeJS.ErrnoException) => thrown.code));
      if (entries === "EACCES") {
        await chmod(from, 0o700);
        return undefined;
      }
      if (Array.isArray(entries) && entries.length === 0) {
        await rmdir(from);
        return undefined;
      }
      // Another command may hold this place by now, and relies on what it holds.
      if (isHeld(from.toString())) return undefined;
      const suffix = `.set-aside-${randomBytes(4).toString("hex")}`;
      await rename(from, nameInside(parent, Buffer.concat([name, Buffer.from(suffix)])));
      return join(dirname(bytes.toString()), `${basename(bytes.toString())}${suffix}`);
    });
  } catch {
    return undefined;
  }
}

/** A folder whose owner may not write it is opened to its owner first. */
async function retryOpened<Result>(folder: PinnedPath, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EACCES") throw thrown;
    await chmod(folder.at, 0o700);
    return work();
  }
}

function nameInside(folder: PinnedPath, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder.at}/`), name]);
}
