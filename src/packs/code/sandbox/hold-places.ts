import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from "node:fs";
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
    const parent = await pinPath(root, dirname(path));
    if (!parent) continue;
    try {
      if (holdPlace(`/proc/self/fd/${parent.fd}/${basename(path)}`, holder)) held.push(path);
    } finally {
      await parent.close();
    }
  }
  return held;
}

/** Gives up what a holder has, and removes what nobody holds any more. */
export async function releasePlaces(root: string, paths: readonly string[], holder: Holder): Promise<void> {
  for (const path of paths) {
    const place = await pinPath(root, path);
    if (!place) continue;
    tryRemove(`/proc/self/fd/${place.fd}/${holder}`);
    await place.close();
    const parent = await pinPath(root, dirname(path));
    if (!parent) continue;
    const at = `/proc/self/fd/${parent.fd}/${basename(path)}`;
    if (isHeld(at)) tryRemove(at);
    await parent.close();
  }
}

/** Whether something only holds a place, for whomever. */
export function isHeld(path: string): boolean {
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

function readNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
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
