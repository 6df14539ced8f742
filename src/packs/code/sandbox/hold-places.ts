import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import { RetinueError } from "../../../schema/error.ts";
import { findStart } from "./sandbox-end.ts";

/** A name under which a command, in this process or another, holds places. Tells whether its process still lives. */
export type Holder = string;

/** The mode of a folder that only holds a place, from the moment it is made: nobody else makes such folders. */
const HELD_MODE = 0o1700;
const MARK = /^retinue-hold\.([0-9a-f]{8})\.([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f]{8}$/;
const MOST_TRIES = 100;
/** Linux: `O_PATH`, a handle that stands for a place and reads nothing. */
const FOLDER = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A new name for one command of this process. */
export function createHolder(): Holder {
  const { machine, boot, processes } = here();
  const start = findStart(process.pid) ?? "0";
  const random = randomBytes(4).toString("hex");
  return `retinue-hold.${machine}.${boot}.${processes}.${process.pid}.${start}.${random}`;
}

/** Whether the process of a holder has ended. What runs on another machine or in another container counts as living. */
export function isHolderGone(holder: Holder): boolean {
  if (isOfEarlierBoot(holder)) return true;
  const [, machine, , processes, pid, start] = MARK.exec(holder) ?? [];
  const now = here();
  return machine === now.machine && processes === now.processes && findStart(Number(pid)) !== start;
}

/**
 * Then nothing of it can still run. A holder that is merely gone may have a command that runs a moment longer, and whose
 * mount would go with the place: that is left to the journal of the command, which waits for its end.
 */
function isOfEarlierBoot(holder: Holder): boolean {
  const [, machine, boot] = MARK.exec(holder) ?? [];
  return machine === here().machine && boot !== here().boot;
}

/**
 * A mount needs something to be mounted on: holds each path at which there is nothing by a folder, and in it an empty
 * folder for each holder. The last holder removes it; the file system itself keeps one that is held from being removed, so
 * processes need not know of each other. Folders without files are nothing to git. Gives the paths that are held now;
 * where the project has something of its own, that stays as it is. Throws if a place can be neither held nor left. A few
 * dozen short system calls, so not worth a wait.
 */
export function holdPlaces(root: string, paths: readonly string[], holder: Holder): string[] {
  return paths.filter((path) => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const outcome = tryHold(root, path, holder);
      if (outcome !== "again") return outcome === "held";
    }
    throw new RetinueError("failed", `${path} could not be held, so a command could put something there`);
  });
}

/** "again": others made or removed something there at the same moment. */
type Outcome = "held" | "needless" | "again";

/** A folder of the project in which a place is to be held is made, too, and later removed unless something was put there. */
function tryHold(root: string, path: string, holder: Holder): Outcome {
  const parent = dirname(path);
  using folder = openFolder(root, parent);
  if (folder) return holdPlace(folder.at, basename(path), holder);
  if (dirname(parent) !== root || !canBeFolder(parent)) return "needless";
  using top = openFolder(root, root);
  return top && make(top.at, basename(parent), HELD_MODE) !== "refused" ? "again" : "needless";
}

function holdPlace(parent: string, name: string, holder: Holder): Outcome {
  const at = join(parent, name);
  const made = make(parent, name, HELD_MODE);
  const standing = lookAt(at);
  if (standing === "own") return "needless";
  if (standing === "nothing") return made === "refused" ? "needless" : "again";
  for (const mark of readNames(at)) if (isOfEarlierBoot(mark)) tryRemove(join(at, mark));
  return make(at, holder, 0o700) === "there" ? "held" : "again";
}

/** Gives up what a holder has, and removes what nobody holds any more. */
export function releasePlaces(root: string, paths: readonly string[], holder: Holder): void {
  for (const path of paths) {
    using parent = openFolder(root, dirname(path));
    if (!parent) continue;
    const at = join(parent.at, basename(path));
    if (!isMadeToHold(lstatSync(at, { throwIfNoEntry: false }))) continue;
    tryRemove(join(at, holder));
    tryRemove(at);
    if (dirname(path) !== root) releaseParent(root, dirname(path));
  }
}

/** One in which there is something else by now becomes an ordinary folder. */
function releaseParent(root: string, path: string): void {
  using top = openFolder(root, dirname(path));
  if (!top) return;
  const at = join(top.at, basename(path));
  if (!isMadeToHold(lstatSync(at, { throwIfNoEntry: false }))) return;
  tryRemove(at);
  using folder = openFolder(root, path);
  if (folder && readNames(folder.at).some((name) => lookAt(join(folder.at, name)) === "own"))
    chmodSync(folder.at, 0o755);
}

/** A folder by an open handle, so that no rename leads elsewhere. */
type OpenFolder = Disposable & { readonly at: string };

/** Opens a folder below `root` component by component, never through a link. */
function openFolder(root: string, path: string): OpenFolder | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(root, FOLDER);
    for (const name of relative(root, path).split(sep).filter(Boolean)) {
      const next = openSync(`/proc/self/fd/${fd}/${name}`, FOLDER);
      closeSync(fd);
      fd = next;
    }
    const opened = fd;
    return { at: `/proc/self/fd/${opened}`, [Symbol.dispose]: () => closeSync(opened) };
  } catch {
    if (fd !== undefined) closeSync(fd);
    return undefined;
  }
}

/** Whether something only holds a place, for whichever command: it has nothing in it but the empty folders of holders. */
export function isHeld(path: string): boolean {
  return lookAt(path) === "hold";
}

/** What stands at a place. Others may give it up at the same moment: a holder that is gone by now has nothing in it. */
function lookAt(path: string): "nothing" | "hold" | "own" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return "nothing";
  if (!isMadeToHold(stats)) return "own";
  const isEmpty = (name: string) => MARK.test(name) && readNames(join(path, name)).length === 0;
  return readNames(path).every(isEmpty) ? "hold" : "own";
}

function isMadeToHold(stats: Stats | undefined): boolean {
  const isFolder = stats?.isDirectory() === true && stats.uid === process.getuid?.();
  return isFolder && (stats.mode & 0o7777) === HELD_MODE;
}

/** What cannot be read is not empty; what is gone is. */
function readNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT" ? [] : ["?"];
  }
}

/** Makes a folder, unless something is there. "refused": nobody with our rights can make it. */
function make(parent: string, name: string, mode: number): "there" | "refused" | "failed" {
  try {
    mkdirSync(join(parent, name), { mode });
    return "there";
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST") return "there";
    // The owner of a folder could open it first.
    const isRefused = code === "EROFS" || (code === "EACCES" && statSync(parent).uid !== process.getuid?.());
    return isRefused ? "refused" : "failed";
  }
}

/** Whether there is a folder, or nothing. */
function canBeFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
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
