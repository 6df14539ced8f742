import { readFile, statfs } from "node:fs/promises";
import type { ShellSettings } from "../../../schema/settings.ts";

const EVERY_MS = 200;
const MEGABYTE = 1024 * 1024;
/** What stays free on the disk whatever a command does, so that the record can still be written. */
const RESERVE_MB = 256;
const PAGE_BYTES = 4_096;

/** What to watch: the disk under these folders, and the memory of a process with everything below it. */
export type Watched = {
  folders: readonly string[];
  pid: number;
  limits: Pick<ShellSettings, "memoryMb" | "diskMb">;
  /** The kernel does not already limit the memory of all together. */
  memory: boolean;
  /** Called once, with what was overstepped. */
  stop(reason: string): void;
};

/** Looks a few times a second whether a command uses more than it may; gives the end of the watch. */
export function watchResources(watched: Watched): () => void {
  const { limits } = watched;
  let isBusy = false;
  let isOver = false;
  const atStart = Promise.all(watched.folders.map(freeBytes));
  const look = async () => {
    if (isBusy || isOver) return;
    isBusy = true;
    const reason =
      (await diskFault(watched, await atStart)) ??
      (watched.memory && (await memoryOf(watched.pid)) > limits.memoryMb * MEGABYTE
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

async function diskFault(
  { folders, limits }: Watched,
  atStart: readonly number[],
): Promise<string | undefined> {
  for (const [index, folder] of folders.entries()) {
    const before = atStart[index] ?? 0;
    const free = await freeBytes(folder);
    if (before - free > limits.diskMb * MEGABYTE) return `it put more than ${limits.diskMb} MB on the disk`;
    if (free < Math.min(RESERVE_MB * MEGABYTE, before / 2)) return "the disk is almost full";
  }
  return undefined;
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Bytes that a process and all below it hold for themselves. */
async function memoryOf(pid: number): Promise<number> {
  let bytes = 0;
  const waiting = [pid];
  for (const each of waiting) {
    const [, resident = "0", shared = "0"] = (await text(`/proc/${each}/statm`)).split(" ");
    bytes += (Number(resident) - Number(shared)) * PAGE_BYTES;
    const children = await text(`/proc/${each}/task/${each}/children`);
    waiting.push(...children.split(" ").filter(Boolean).map(Number));
  }
  return bytes;
}

/** Empty if the process is gone. */
function text(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
