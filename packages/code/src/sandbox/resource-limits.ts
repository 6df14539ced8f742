import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { readFile, statfs } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { tryTo } from "@retinue/core/schema/error";
import type { ShellSettings } from "@retinue/core/schema/settings";
import { findSystemProgram } from "./find-bubblewrap.ts";

/** Limits around one command. */
type Confinement = {
  /** Goes before the command's argv. */
  readonly before: readonly string[];
  /** The same for the command inside a sandbox with users of its own. */
  readonly inside: readonly string[];
  /** The control groups that were made for it. */
  readonly groups: readonly string[];
  /** The kernel itself limits the memory of all its processes together. */
  readonly fencesMemory: boolean;
  readonly notes: readonly string[];
  release(): Promise<void>;
};

type Controller = "pids" | "memory";
/** Where groups of processes can be made, by what they limit. */
type Hierarchies = Partial<Record<Controller, string>>;

const LIMIT_FILES: Readonly<Record<Controller, readonly string[]>> = {
  pids: ["pids.max"],
  memory: ["memory.max", "memory.limit_in_bytes"],
};
const MEGABYTE = 1024 * 1024;
let hierarchies: Hierarchies | undefined;
let count = 0;

/** Sets limits on processes, memory and file size, by control groups where they are ours to make, else by rlimits. */
export function confine({ pids, memoryMb, diskMb }: ShellSettings): Confinement {
  const groups = makeGroups({ pids, memory: memoryMb * MEGABYTE });
  const prlimit = findSystemProgram("prlimit");
  const countsInside = prlimit !== undefined && process.getuid?.() !== 0 && hasOwnCounts();
  // What a program reserves is more than what it uses; the total is watched besides.
  const bounds = ["--core=0", `--fsize=${diskMb * MEGABYTE}`, `--data=${2 * memoryMb * MEGABYTE}`];
  const entering = [...new Set(groups.values())].map((group) => join(group, "cgroup.procs"));
  return {
    before: [...enter(entering), ...(prlimit ? [prlimit, ...bounds] : [])],
    inside: countsInside && !groups.has("pids") ? [prlimit, `--nproc=${pids}`] : [],
    groups: [...new Set(groups.values())],
    fencesMemory: groups.has("memory"),
    notes: [
      ...(groups.has("pids") || countsInside
        ? []
        : ["the limit on processes is not enforced here: no control group can be made for it"]),
      ...(prlimit ? [] : ["the limit on file size is not enforced here: there is no prlimit"]),
    ],
    release: async () => {
      for (const group of new Set(groups.values())) await removeGroup(group);
    },
  };
}

/** Since Linux 5.14 the processes of a user are counted in each user namespace by themselves; root's never are. */
function hasOwnCounts(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

/** A process enters its groups itself, before it starts anything. */
function enter(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const script = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"';
  return ["/bin/sh", "-c", script, "sh", ...files, "--"];
}

/** One group per hierarchy; a controller whose limit cannot be set is not tried again. */
function makeGroups(limits: Readonly<Record<Controller, number>>): Map<Controller, string> {
  hierarchies ??= findHierarchies();
  const name = `retinue-${process.pid}-${++count}`;
  const groups = new Map<Controller, string>();
  for (const controller of ["pids", "memory"] as const) {
    const parent = hierarchies[controller];
    if (!parent) continue;
    const group = join(parent, name);
    if (setLimit(group, LIMIT_FILES[controller], limits[controller])) groups.set(controller, group);
    else {
      delete hierarchies[controller];
      if (![...groups.values()].includes(group)) tryRemove(group);
    }
  }
  return groups;
}

function setLimit(group: string, files: readonly string[], limit: number): boolean {
  const set = tryTo(() => {
    mkdirSync(group, { recursive: true });
    const file = files.map((name) => join(group, name)).find((path) => existsSync(path));
    if (file) writeFileSync(file, String(limit));
    return file !== undefined;
  });
  return set === true;
}

/** Ended processes leave a group a moment after their end. */
async function removeGroup(group: string): Promise<void> {
  for (let attempt = 0; attempt < 50 && !tryRemove(group); attempt++) await wait(10);
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/**
 * A group that somebody made for this process, such as a service manager's, is theirs to divide. Ours are made only
 * at the root of a hierarchy, as in a container, or in a folder that was given to this user.
 */
function findHierarchies(): Hierarchies {
  try {
    const mounts = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "));
    const found: Hierarchies = {};
    for (const line of readFileSync("/proc/self/cgroup", "utf8").trim().split("\n")) {
      const [, names = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      for (const controller of ["pids", "memory"] as const) {
        const isUnified = names === "";
        if (!isUnified && !names.split(",").includes(controller)) continue;
        const mount = mounts.find(([, , type = "", options = ""]) =>
          isUnified ? type === "cgroup2" : type === "cgroup" && options.split(",").includes(controller),
        );
        const folder = mount?.[1] && join(mount[1], path);
        if (folder && isOurs(folder, path) && !found[controller]) found[controller] = folder;
      }
    }
    return found;
  } catch {
    return {};
  }
}

function isOurs(folder: string, path: string): boolean {
  const uid = process.getuid?.();
  if (uid === 0) return path === "/";
  return statSync(folder, { throwIfNoEntry: false })?.uid === uid;
}

const EVERY_MS = 200;
/** What stays free on the disk whatever a command does, so that the record can still be written. */
const RESERVE_MB = 256;
const PAGE_BYTES = 4_096;

/** What to watch: the disk under these folders, and the memory of a process with everything below it. */
export type WatchedProcess = {
  folders: readonly string[];
  pid: number;
  limits: Pick<ShellSettings, "memoryMb" | "diskMb">;
  /** The kernel does not already limit the memory of all together. */
  memory: boolean;
  /** Called once, with what was overstepped. */
  stop(reason: string): void;
};

/** Looks a few times a second whether a command uses more than it may; gives the end of the watch. */
export function watchResources(watched: WatchedProcess): () => void {
  const { limits } = watched;
  let isBusy = false;
  let isOver = false;
  const atStart = Promise.all(watched.folders.map(measureFree));
  const look = async () => {
    if (isBusy || isOver) return;
    isBusy = true;
    const reason =
      (await findDiskFault(watched, await atStart)) ??
      (watched.memory && (await measureMemory(watched.pid)) > limits.memoryMb * MEGABYTE
        ? `it used more than ${limits.memoryMb} MB of memory`
        : undefined);
    isBusy = false;
    if (reason === undefined || isOver) return;
    isOver = true;
    watched.stop(reason);
  };
  const timer = setInterval(() => void look().catch(() => {}), EVERY_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function findDiskFault(
  { folders, limits }: WatchedProcess,
  atStart: readonly number[],
): Promise<string | undefined> {
  for (const [index, folder] of folders.entries()) {
    const before = atStart[index] ?? 0;
    const free = await measureFree(folder);
    if (before - free > limits.diskMb * MEGABYTE) return `it put more than ${limits.diskMb} MB on the disk`;
    if (free < Math.min(RESERVE_MB * MEGABYTE, before / 2)) return "the disk is almost full";
  }
  return undefined;
}

async function measureFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Bytes that a process and all below it hold for themselves. */
async function measureMemory(pid: number): Promise<number> {
  let bytes = 0;
  const waiting = [pid];
  for (const each of waiting) {
    const [, resident = "0", shared = "0"] = (await readOrEmpty(`/proc/${each}/statm`)).split(" ");
    bytes += (Number(resident) - Number(shared)) * PAGE_BYTES;
    const children = await readOrEmpty(`/proc/${each}/task/${each}/children`);
    waiting.push(...children.split(" ").filter(Boolean).map(Number));
  }
  return bytes;
}

/** Empty if the process is gone. */
function readOrEmpty(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
