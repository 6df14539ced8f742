import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { pinPath } from "./pin-path.ts";
import { findStart } from "./sandbox-end.ts";

/** A name under which a command, in this process or another, holds places. Tells whether its process still lives. */
export type Holder = string;

/** The mode of a folder that only holds a place, from the moment it is made: nobody else makes such folders. */
const HELD_MODE = 0o1700;
const MARK = /^retinue-hold\.([0-9a-f]{8})\.([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f]{8}$/;
const MOST_TRIES = 100;

/** A new name for one command of this process. */
export function createHolder(): Holder {
  const { machine, boot, processes } = here();
  const start = findStart(process.pid) ?? "0";
  const random = randomBytes(4).toString("hex");
  return `retinue-hold.${machine}.${boot}.${processes}.${process.pid}.${start}.${random}`;
}

/** Whether the process of a holder has ended. What runs on another machine or in another container counts as living. */
export function isHolderGone(holder: Holder): boolean {
  const [, machine, boot, processes, pid, start] = MARK.exec(holder) ?? [];
  const now = here();
  if (machine !== now.machine) return false;
  if (boot !== now.boot) return true;
  return processes === now.processes && findStart(Number(pid)) !== start;
}

/**
 * A mount needs something to be mounted on: holds each path at which there is nothing by a folder, and in it an empty
 * folder for each holder. The last holder removes it; the file system itself keeps one that is held from being removed, so
 * processes need not know of each other. Folders without files are nothing to git. Gives the paths that are held now;
 * where the project has something of its own, that stays as it is.
 */
export async function holdPlaces(root: string, paths: readonly string[], holder: Holder): Promise<string[]> {
  const held: string[] = [];
  for (const path of paths) {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const parent = await openParent(root, path);
      if (!parent) break;
      const isDone = holdPlace(`/proc/self/fd/${parent.fd}/${basename(path)}`, holder);
      const isGone = (await parent.stat()).nlink === 0;
      await parent.close();
      if (isDone) held.push(path);
      // Its last holder may just have removed a folder that was there only for this.
      if (isDone || !isGone) break;
    }
  }
  return held;
}

/** A folder of the project in which a place is to be held is made, too, and later removed unless something was put there. */
async function openParent(root: string, path: string): Promise<FileHandle | undefined> {
  const parent = dirname(path);
  const found = await pinPath(root, parent);
  if (found || dirname(parent) !== root) return found;
  const top = await pinPath(root, root);
  if (top) tryMake(`/proc/self/fd/${top.fd}/${basename(parent)}`, HELD_MODE);
  await top?.close();
  return pinPath(root, parent);
}

/** Gives up what a holder has, and removes what nobody holds any more. */
export async function releasePlaces(root: string, paths: readonly string[], holder: Holder): Promise<void> {
  for (const path of paths) {
    const place = await pinPath(root, path);
    if (!place) continue;
    tryRemove(`/proc/self/fd/${place.fd}/${holder}`);
    await place.close();
    await removeHeld(root, path);
    if (dirname(path) !== root && !(await removeHeld(root, dirname(path))))
      await keepFolder(root, dirname(path));
  }
}

/** Removes a folder that only holds a place, if it is empty; says whether there is none now. */
async function removeHeld(root: string, path: string): Promise<boolean> {
  const parent = await pinPath(root, dirname(path));
  if (!parent) return true;
  const at = `/proc/self/fd/${parent.fd}/${basename(path)}`;
  if (isMadeToHold(at)) tryRemove(at);
  const isGone = lstatSync(at, { throwIfNoEntry: false }) === undefined;
  await parent.close();
  return isGone;
}

/** A folder that was made to hold a place in it, and in which there is something else by now, becomes an ordinary one. */
async function keepFolder(root: string, path: string): Promise<void> {
  const folder = await pinPath(root, path);
  if (!folder) return;
  const at = `/proc/self/fd/${folder.fd}`;
  const isOnlyHeld = readNames(at).every((name) => isHeld(join(at, name)));
  if ((statSync(at).mode & 0o7777) === HELD_MODE && !isOnlyHeld) chmodSync(at, 0o755);
  await folder.close();
}

/** Whether something only holds a place, for whichever command: it has nothing in it but the empty folders of holders. */
export function isHeld(path: string): boolean {
  return (
    isMadeToHold(path) &&
    readNames(path).every((name) => MARK.test(name) && readNames(join(path, name)).length === 0)
  );
}

function isMadeToHold(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return (
    stats?.isDirectory() === true && (stats.mode & 0o7777) === HELD_MODE && stats.uid === process.getuid?.()
  );
}

function holdPlace(at: string, holder: Holder): boolean {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    tryMake(at, HELD_MODE);
    if (!isHeld(at)) return false;
    for (const name of readNames(at)) {
      if (!MARK.test(name)) return false;
      if (isHolderGone(name)) tryRemove(join(at, name));
    }
    // Another command may just now have removed the folder as its last holder.
    if (tryMake(join(at, holder), 0o700)) return true;
  }
  return false;
}

/** What cannot be read is not empty. */
function readNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return ["?"];
  }
}

function tryMake(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch {
    return false;
  }
}

function tryRemove(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Others hold it, or somebody put something there: it is no longer ours.
  }
}

type Here = { machine: string; boot: string; processes: string };
let known: Here | undefined;

function here(): Here {
  known ??= {
    machine: shorten(readText("/etc/machine-id") || hostname()),
    boot: shorten(readText("/proc/sys/kernel/random/boot_id")),
    processes: /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0",
  };
  return known;
}

function shorten(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
