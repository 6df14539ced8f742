import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { RetinueError, tryTo } from "@retinue/core/schema/error";
import { pinFolder } from "./pin-path.ts";
import { findStart } from "./sandbox-end.ts";

/** A name under which a command, in this process or another, holds places. Tells whether its process still lives. */
export type Holder = string;

/** The mode of a folder that only holds a place, from the moment it is made: nobody else makes such folders. */
const HELD_MODE = 0o1700;
/** The same for a file. */
const HELD_FILE_MODE = 0o1600;
const MARK = /^retinue-hold\.([0-9a-f]{8})\.([0-9a-f]{8})\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f]{8}$/;
const LOG_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;
const MOST_TRIES = 100;
const MOST_LOG_BYTES = 16_777_216;

/** A new name for one command of this process. */
export function createHolder(): Holder {
  const { machine, boot, processes } = describeHere();
  const start = findStart(process.pid) ?? "0";
  const random = randomBytes(4).toString("hex");
  return `retinue-hold.${machine}.${boot}.${processes}.${process.pid}.${start}.${random}`;
}

/** Whether the process of a holder has ended. What runs on another machine or in another container counts as living. */
export function isHolderGone(holder: Holder): boolean {
  if (isOfEarlierBoot(holder)) return true;
  const [, machine, , processes, pid, start] = MARK.exec(holder) ?? [];
  const now = describeHere();
  return machine === now.machine && processes === now.processes && findStart(Number(pid)) !== start;
}

/**
 * Then nothing of it can still run. A holder that is merely gone may have a command that runs a moment longer, and whose
 * mount would go with the place: that is left to the journal of the command, which waits for its end.
 */
function isOfEarlierBoot(holder: Holder): boolean {
  const [, machine, boot] = MARK.exec(holder) ?? [];
  return machine === describeHere().machine && boot !== describeHere().boot;
}

/**
 * A mount needs something to be mounted on: holds each path at which there is nothing by a folder, and in it an empty
 * folder for each holder. The last holder removes it; the file system itself keeps one that is held from being removed, so
 * processes need not know of each other. Folders without files are nothing to git. Gives the paths that are held now;
 * where the project has something of its own, that stays as it is. Throws if a place can be neither held nor left. A few
 * dozen short system calls, so not worth a wait.
 *
 * Git fails if a folder stands where it reads settings: such a place, one of `files`, is held by a file.
 */
export function holdPlaces(
  root: string,
  paths: readonly string[],
  holder: Holder,
  files: ReadonlySet<string> = new Set(),
): string[] {
  return paths.filter((path) => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const outcome = tryHold(root, path, holder, files.has(path));
      if (outcome !== "again") return outcome === "held";
      // Who gives it up may have been interrupted just before removing it.
      if (tries > 10) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
    throw new RetinueError("failed", `${path} could not be held, so a command could put something there`);
  });
}

/** "again": others made or removed something there at the same moment. */
type Outcome = "held" | "needless" | "again";

/** A folder of the project in which a place is to be held is made, too, and later removed unless something was put there. */
function tryHold(root: string, path: string, holder: Holder, asFile: boolean): Outcome {
  const parent = dirname(path);
  using folder = pinFolder(root, parent);
  if (folder) {
    const isFile = lstatSync(join(folder.at, basename(path)), { throwIfNoEntry: false })?.isFile();
    return (isFile ?? asFile)
      ? holdFile(folder.at, basename(path), holder)
      : holdFolder(folder.at, basename(path), holder);
  }
  if (dirname(parent) !== root || !canBeFolder(parent)) return "needless";
  using top = pinFolder(root, root);
  return top && makeFolder(top.at, basename(parent), HELD_MODE) !== "refused" ? "again" : "needless";
}

function holdFolder(parent: string, name: string, holder: Holder): Outcome {
  const at = join(parent, name);
  const made = makeFolder(parent, name, HELD_MODE);
  const standing = lookAt(at);
  if (standing === "own") return "needless";
  if (standing === "nothing") return made === "refused" ? "needless" : "again";
  for (const mark of readNames(at)) if (isOfEarlierBoot(mark)) tryRemove(join(at, mark));
  return makeFolder(at, holder, 0o700) === "there" ? "held" : "again";
}

/**
 * A file cannot be kept from being removed by what is in it, so it is a log: lines are only ever added, and all who read it
 * see the same order. Once nobody holds it any more it is never held again, and who held it last removes it.
 */
function holdFile(parent: string, name: string, holder: Holder): Outcome {
  const at = join(parent, name);
  let log: number;
  try {
    log = openSync(at, LOG_FLAGS | constants.O_CREAT | constants.O_EXCL, HELD_FILE_MODE);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "EEXIST") return code === "EROFS" || code === "EACCES" ? "needless" : "again";
    const standing = lookAt(at);
    if (standing !== "hold") return standing === "own" ? "needless" : "again";
    const opened = tryTo(() => openSync(at, LOG_FLAGS));
    if (opened === undefined) return "again";
    log = opened;
  }
  try {
    writeSync(log, `# +${holder}\n`);
    return readLog(log)?.holders.has(holder) ? "held" : "again";
  } finally {
    closeSync(log);
  }
}

function releaseFile(at: string, holder: Holder): void {
  const log = tryTo(() => openSync(at, LOG_FLAGS));
  if (log === undefined) return;
  try {
    if (readLog(log)?.holders.has(holder)) writeSync(log, `# -${holder}\n`);
    const isSame = lstatSync(at, { throwIfNoEntry: false })?.ino === fstatSync(log).ino;
    if (isSame && readLog(log)?.last === holder) unlinkSync(at);
  } catch {
    // Somebody put something else there: it is no longer ours.
  } finally {
    closeSync(log);
  }
}

/** Who holds a file, and who gave it up when nobody else held it; undefined if it is not such a file. */
function readLog(file: number): { holders: ReadonlySet<Holder>; last?: Holder } | undefined {
  const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MOST_LOG_BYTES));
  const lines = bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0)).split("\n");
  // Of a line that is being added only the beginning may be there.
  if (!/^(# ?[+-]?[\w.-]*)?$/.test(lines.pop() ?? "")) return undefined;
  const holders = new Set<Holder>();
  for (const line of lines) {
    const [, sign, holder = ""] = /^# ([+-])(\S+)$/.exec(line) ?? [];
    if (!MARK.test(holder)) return undefined;
    if (sign === "+") holders.add(holder);
    else if (holders.delete(holder) && holders.size === 0) return { holders, last: holder };
  }
  return { holders };
}

/** Gives up what a holder has, and removes what nobody holds any more. */
export function releasePlaces(root: string, paths: readonly string[], holder: Holder): void {
  for (const path of paths) {
    using parent = pinFolder(root, dirname(path));
    if (!parent) continue;
    const at = join(parent.at, basename(path));
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (!isMadeToHold(stats)) continue;
    if (stats?.isFile()) releaseFile(at, holder);
    else {
      tryRemove(join(at, holder));
      tryRemove(at);
    }
    if (dirname(path) !== root) releaseParent(root, dirname(path));
  }
}

/** One in which there is something else by now becomes an ordinary folder. */
function releaseParent(root: string, path: string): void {
  using top = pinFolder(root, dirname(path));
  if (!top) return;
  const at = join(top.at, basename(path));
  if (!isMadeToHold(lstatSync(at, { throwIfNoEntry: false }))) return;
  tryRemove(at);
  using folder = pinFolder(root, path);
  if (folder && readNames(folder.at).some((name) => lookAt(join(folder.at, name)) === "own"))
    chmodSync(folder.at, 0o755);
}

/** Whether something only holds a place, for whichever command: it has nothing in it but the marks of holders. */
export function isHeld(path: string): boolean {
  return lookAt(path) === "hold";
}

/** What is at a place. Others may give it up at the same moment: a holder that is gone by now has nothing in it. */
function lookAt(path: string): "nothing" | "hold" | "own" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return "nothing";
  if (!isMadeToHold(stats)) return "own";
  if (stats.isFile()) return lookAtFile(path);
  const isEmpty = (name: string) => MARK.test(name) && readNames(join(path, name)).length === 0;
  return readNames(path).every(isEmpty) ? "hold" : "own";
}

function isMadeToHold(stats: Stats | undefined): boolean {
  const mode = stats?.isDirectory() ? HELD_MODE : stats?.isFile() ? HELD_FILE_MODE : undefined;
  return stats?.uid === process.getuid?.() && mode !== undefined && ((stats?.mode ?? 0) & 0o7777) === mode;
}

function lookAtFile(path: string): "nothing" | "hold" | "own" {
  const file = tryTo(() => openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW));
  // It had the mode of such a file a moment before, so it was given up meanwhile.
  if (file === undefined) return "nothing";
  try {
    return readLog(file) ? "hold" : "own";
  } finally {
    closeSync(file);
  }
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
function makeFolder(parent: string, name: string, mode: number): "there" | "refused" | "failed" {
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

/** If others hold it, or somebody put something there, it is no longer ours. */
function tryRemove(path: string): void {
  tryTo(() => rmdirSync(path));
}

type Here = { machine: string; boot: string; processes: string };
let known: Here | undefined;

function describeHere(): Here {
  known ??= {
    machine: shorten(readText("/etc/machine-id") || hostname()),
    boot: shorten(readText("/proc/sys/kernel/random/boot_id")),
    processes: /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0",
  };
  return known;
}

function readText(path: string): string {
  return tryTo(() => readFileSync(path, "utf8").trim()) ?? "";
}

function shorten(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
