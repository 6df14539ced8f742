import { spawn } from "node:child_process";
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { RetinueError } from "../../../schema/error.ts";
import { findProgram } from "./find-bubblewrap.ts";
import { PATTERNS } from "./protected-paths.ts";

/** Something with a protected name. `identity` differs for whatever takes its place, even under the same name. */
export type ProtectedEntry = { readonly path: string; readonly identity: string; readonly isLink: boolean };

/** What is special below some folders. Everything was looked at: there is no limit on number or depth. */
export type FolderScan = {
  readonly protected: readonly ProtectedEntry[];
  /** Protected too, but no mount can name them: not UTF-8, or too long. */
  readonly unspelled: readonly Buffer[];
  /** Folders that cannot be looked into. */
  readonly closed: readonly string[];
  /** Files with several names (hard links). */
  readonly linked: readonly LinkedNames[];
};

/** The names of a file that were found, and how many it has. */
export type LinkedNames = { readonly paths: readonly string[]; readonly links: number };

const SCAN_MS = 60_000;
const MOST_ERROR_CHARS = 100_000;
/** Something was removed while find looked at it. */
const GONE = /^\S*find: '.*': (No such file or directory|Not a directory)$/;
/** Linux takes 4,096 bytes; a mount also needs room for where it is put together. */
const MOST_PATH_BYTES = 4_000;
/** One record: its device and number on the disk, how many names it has, its path. */
const RECORD = "%D:%i\\t%n\\t%p\\0";
const NAMES = PATTERNS.flatMap(({ text, name }) => [
  "-o",
  ...(name.includes("/") ? ["-path", text.replace(/^\*\*/, "*")] : ["-name", name]),
]).slice(1);

/**
 * Looks through whole folders with GNU find, which takes a fraction of a second for a few hundred thousand files and
 * does it outside this process. Throws if something could not be looked at.
 */
export async function scanFolders(
  folders: readonly string[],
  { linked }: { linked: boolean },
): Promise<FolderScan> {
  if (folders.length === 0) return { protected: [], unspelled: [], closed: [], linked: [] };
  const records = await runFind([
    ...folders,
    ...["-ignore_readdir_race", "-mindepth", "1"],
    ...["(", ...NAMES, ")", "-printf", `P\\t${RECORD}`, "-prune", "-o"],
    ...["-type", "d", "(", "!", "-readable", "-o", "!", "-executable", ")"],
    ...["-printf", `C\\t${RECORD}`, "-prune"],
    ...(linked ? ["-o", "-type", "f", "-links", "+1", "-printf", `S\\t${RECORD}`] : []),
  ]);
  const names = new Set<string>();
  const unspelled: Buffer[] = [];
  const closed = new Set<string>();
  const inodes = new Map<string, { links: number; paths: Set<string> }>();
  for (const bytes of records) {
    const text = bytes.toString();
    const [kind, inode = "", links, ...rest] = text.split("\t");
    const path = rest.join("\t");
    const isSpelled =
      bytes.length < MOST_PATH_BYTES && (!text.includes("\uFFFD") || Buffer.from(text).equals(bytes));
    if (!isSpelled) unspelled.push(bytes.subarray(bytes.indexOf("/")));
    else if (kind === "P") names.add(path);
    else if (kind === "C") closed.add(path);
    else {
      const file = inodes.get(inode) ?? { links: Number(links), paths: new Set() };
      file.paths.add(path);
      inodes.set(inode, file);
    }
  }
  return {
    protected: [...names].flatMap(identify),
    unspelled,
    closed: [...closed],
    linked: [...inodes.values()].map(({ links, paths }) => ({ links, paths: [...paths] })),
  };
}

function identify(path: string): ProtectedEntry[] {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return [];
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  return [{ path, identity, isLink: !stats.isDirectory() && !stats.isFile() }];
}

/** The nearest folder around a path that a mount can name. */
export function findSpelledFolder(path: Buffer): string {
  let folder = dirname(path.toString());
  while (folder.includes("\uFFFD") || Buffer.byteLength(folder) > MOST_PATH_BYTES) folder = dirname(folder);
  return folder;
}

function runFind(args: readonly string[]): Promise<Buffer[]> {
  const program = findProgram("find");
  return new Promise((resolve, reject) => {
    const refuse = (why: string) =>
      reject(new RetinueError("failed", `the folders could not be looked through for agent files: ${why}`));
    if (!program) return refuse("there is no find (apt install findutils)");
    const child = spawn(program, args, {
      env: { LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: SCAN_MS,
      killSignal: "SIGKILL",
    });
    const output: Buffer[] = [];
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      if (errors.length < MOST_ERROR_CHARS) errors += String(chunk);
    });
    child.once("error", (thrown) => refuse(thrown.message));
    child.once("close", (code) => {
      const faults = errors.split("\n").filter((line) => line !== "" && !GONE.test(line));
      if (code === null) refuse(`it took longer than ${SCAN_MS / 1_000} s`);
      else if (faults.length > 0 || code > 1) refuse(faults[0] ?? `exit code ${code}`);
      else resolve(splitRecords(Buffer.concat(output)));
    });
  });
}

function splitRecords(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    records.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return records;
}
