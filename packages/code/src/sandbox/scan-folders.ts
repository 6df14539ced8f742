import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { isBelow } from "@retinue/core/files/is-below";
import { RetinueError, tryTo } from "@retinue/core/schema/error";
import { findSystemProgram } from "./find-bubblewrap.ts";
import { PATTERNS } from "./protected-paths.ts";
import { identifyFile } from "./running-commands.ts";

/** What is special below some folders. */
export type FolderScan = {
  /** Identities of what has a protected name, by path: whatever takes its place has another. */
  readonly protected: ReadonlyMap<string, string>;
  /** Where protected links, and links inside protected folders, lead to; empty if nowhere. */
  readonly links: ReadonlyMap<string, string>;
  /** Protected too, but no mount can name them: not UTF-8, or too long. */
  readonly unspelled: readonly Buffer[];
  /** Folders that cannot be looked into. */
  readonly closed: readonly string[];
  /** Folders with something protected so deep down that nobody works there, and paths of any length would take any time. */
  readonly deep: readonly string[];
  /** Files with several names (hard links). */
  readonly linked: readonly LinkedNames[];
};

/** The names of a file that were found, and how many it has. */
export type LinkedNames = { readonly paths: readonly string[]; readonly links: number };

/** The end of a name that was given to what no command may make. */
const SET_ASIDE = /\.set-aside-[0-9a-f]{8}$/;
const SCAN_MS = 60_000;
const MOST_TRIES = 8;
const MOST_OUTPUT_BYTES = 256 * 1024 * 1024;
const MOST_ERROR_CHARS = 100_000;
/** Something was removed while find looked at it. */
const GONE = /^\S*find: '.*': (No such file or directory|Not a directory)$/;
/** Linux takes 4,096 bytes; a mount also needs room for where it is put together. */
const MOST_PATH_BYTES = 4_000;
/** So many folders from the top of the file system, not of the project. */
const MOST_LEVELS = 120;
/** One record: its type, device and number on the disk, how many names it has, its path. */
const RECORD = "%y\\t%D:%i\\t%n\\t%p\\0";
const NAMES = [...new Set(PATTERNS.map(({ last }) => last))]
  .flatMap((name) => ["-o", "-name", name])
  .slice(1);

/** One look: the records that find printed. */
export type Find = () => Promise<Buffer[]>;

/** GNU find, and what it looks for in some folders. */
export function findCommand(folders: readonly string[]): string[] {
  const outermost = folders.filter(
    (folder) => !folders.some((other) => other !== folder && isBelow(folder, other)),
  );
  const program = findSystemProgram("find");
  if (!program) throw refuse("there is no find (apt install findutils)");
  return [
    program,
    ...new Set(outermost),
    ...["-ignore_readdir_race", "-mindepth", "1"],
    ...["-name", "objects", "-path", "*/.git/objects", "-prune", "-o"],
    ...["-type", "d", "(", "!", "-readable", "-o", "!", "-executable", ")"],
    ...["-printf", `C\\t${RECORD}`, "-prune", "-o"],
    ...["(", ...NAMES, "-o", "-name", "HEAD", "-type", "f", ")", "-printf", `P\\t${RECORD}`, "-o"],
    ...["-type", "l", "-printf", `L\\t${RECORD}`, "-o"],
    ...["-type", "f", "-links", "+1", "-printf", `S\\t${RECORD}`],
  ];
}

/** What else is protected; it can ask for what is by its name, with identities. */
type NameMore = (findNamed: () => ReadonlyMap<string, string>) => readonly string[];

/**
 * Looks through whole folders with GNU find, which takes a second or two for a few hundred thousand files and does
 * it outside this process. Throws if anything could not be looked at.
 */
export async function scanFolders(
  folders: readonly string[],
  find: Find = () => runFind(findCommand(folders)),
  nameMore: NameMore = () => [],
): Promise<FolderScan> {
  const records = await retryFind(find);
  const names = new Set<string>();
  const links: string[] = [];
  const unspelled: Buffer[] = [];
  const closed: string[] = [];
  const deep = new Set<string>();
  const inodes = new Map<string, { links: number; paths: string[] }>();
  for (const bytes of records) {
    const deepEnd = findLevel(bytes, MOST_LEVELS);
    if (deepEnd !== -1) {
      deep.add(findSpelledFolder(bytes.subarray(bytes.indexOf("/"), deepEnd)));
      continue;
    }
    const text = bytes.toString();
    const [kind, type, inode = "", count, ...rest] = text.split("\t");
    const path = rest.join("\t");
    const isSpelled =
      bytes.length < MOST_PATH_BYTES && (!text.includes("\uFFFD") || Buffer.from(text).equals(bytes));
    const found = kind === "P" ? findProtectedPaths(path) : [];
    if (!isSpelled) {
      if (kind === "P" && found.length > 0) unspelled.push(bytes.subarray(bytes.indexOf("/")));
    } else if (found.length > 0) for (const each of found) names.add(each);
    else if (kind === "C") closed.push(path);
    else if (type === "l") links.push(path);
    else if (type === "f" && Number(count) > 1) {
      const file = inodes.get(inode) ?? { links: Number(count), paths: [] };
      file.paths.push(path);
      inodes.set(inode, file);
    }
  }
  for (const path of nameMore(() => new Map(identifyOutermost(names)))) names.add(path);
  const identities = identifyOutermost(names);
  const own = new Set(identities.map(([path]) => path));
  return {
    protected: new Map(identities),
    links: new Map(
      links
        .concat([...own].filter(isLink))
        .flatMap((path) => (isAtOrBelow(path, own) ? [[path, resolveLink(path)] as const] : [])),
    ),
    unspelled,
    closed,
    deep: [...deep],
    linked: [...inodes.values()],
  };
}

/**
 * What a candidate by name protects: itself, if its folder is the right one; or, for a HEAD among what else makes a bare
 * repository, what tells git to run programs there.
 */
function findProtectedPaths(path: string): string[] {
  const [name, folder] = [basename(path), dirname(path)];
  if (name === "HEAD") {
    if (SET_ASIDE.test(folder)) return [];
    const isBare = ["objects", "refs"].every((each) => isFolder(join(folder, each)));
    return isBare ? ["HEAD", "config", "hooks"].map((each) => join(folder, each)) : [];
  }
  const isOne = PATTERNS.some(({ text, matchesName }) => {
    const parent = text.split("/").at(-2);
    return matchesName(name) && (parent === "**" || parent === basename(folder));
  });
  return isOne ? [path] : [];
}

/** What lies in a protected folder is protected with it. */
function identifyOutermost(names: ReadonlySet<string>): [string, string][] {
  return [...names].flatMap((path) => {
    const identity = isAtOrBelow(dirname(path), names) ? undefined : identifyFile(path);
    return identity === undefined ? [] : [[path, identity]];
  });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function isAtOrBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path; at !== "/"; at = dirname(at)) if (folders.has(at)) return true;
  return false;
}

function resolveLink(path: string): string {
  return tryTo(() => realpathSync(path)) ?? "";
}

/** The nearest folder around a path that a mount can name. */
export function findSpelledFolder(path: Buffer): string {
  let folder = dirname(path.toString());
  while (folder.includes("\uFFFD") || Buffer.byteLength(folder) > MOST_PATH_BYTES) folder = dirname(folder);
  return folder;
}

/** Folders that another command moves while they are looked through are looked through again. */
async function retryFind(find: Find): Promise<Buffer[]> {
  for (let tries = 1; tries < MOST_TRIES; tries++) {
    const found = await find().catch((thrown: Error) => thrown);
    if (!(found instanceof Error)) return found;
    if (!found.message.includes("failed to read file names")) throw found;
  }
  return find();
}

/** Runs find in a process of its own. */
function runFind([program = "", ...args]: readonly string[]): Promise<Buffer[]> {
  const child = spawn(program, args, { env: { LC_ALL: "C" }, stdio: ["ignore", "pipe", "pipe"] });
  return collect(child, (done) => child.once("close", (code) => done(code)));
}

/** Asks a process that runs find for each line it is given, and ends each answer with its exit code. */
export function askFind(child: ChildProcessWithoutNullStreams): Promise<Buffer[]> {
  child.stdin.write("scan\n");
  return collect(child, (done) => child.once("close", () => done(null)), true);
}

function refuse(why: string): RetinueError {
  return new RetinueError("failed", `the folders could not be looked through for agent files: ${why}`);
}

/** The records of one look. It ends with the process, or with a last record `E<exit code>` and a last line `END`. */
function collect(
  child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable },
  onClose: (done: (code: number | null) => void) => void,
  goesOn = false,
): Promise<Buffer[]> {
  const output: Buffer[] = [];
  let size = 0;
  let errors = "";
  let code: number | null | undefined;
  return new Promise<Buffer[]>((resolve, reject) => {
    const settle = (exitCode: number | null) => {
      clearTimeout(timer);
      child.stdout.off("data", onOutput);
      child.stderr.off("data", onErrors);
      child.off("error", onError);
      const lines = errors.split("\n").filter((line) => line !== "" && line !== "END");
      const faults = lines.filter((line) => !GONE.test(line));
      if (exitCode === null) reject(refuse(`there is too much to look through in ${SCAN_MS / 1_000} s`));
      else if (faults.length > 0 || exitCode > 1) reject(refuse(faults[0] ?? `exit code ${exitCode}`));
      else resolve(splitRecords(Buffer.concat(output)));
    };
    const stop = () => {
      child.kill("SIGKILL");
      settle(null);
    };
    const timer = setTimeout(stop, SCAN_MS);
    /** Both outputs have come to their end. */
    const look = () => {
      if (goesOn && code !== undefined && /(^|\n)END\n$/.test(errors)) settle(code);
    };
    const onOutput = (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_OUTPUT_BYTES) return stop();
      output.push(chunk);
      const last = goesOn && chunk.at(-1) === 0 ? findLast(output) : undefined;
      if (last === undefined) return;
      code = last;
      look();
    };
    const onErrors = (chunk: Buffer) => {
      errors = errors.length < MOST_ERROR_CHARS ? errors + String(chunk) : errors + String(chunk).slice(-5);
      look();
    };
    const onError = (thrown: Error) => {
      clearTimeout(timer);
      reject(refuse(thrown.message));
    };
    child.stdout.on("data", onOutput);
    child.stderr.on("data", onErrors);
    child.once("error", onError);
    onClose(settle);
  });
}

/** The exit code in the last record, if it is one; other records begin with their kind and a tab. */
function findLast(output: readonly Buffer[]): number | undefined {
  const tail = Buffer.concat(output.slice(-2)).subarray(-8).toString("latin1");
  const [, code] = /(?:^|\0)E(\d+)\0$/.exec(tail) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Where the given number of folders of a path ends; -1 if it has fewer. */
function findLevel(bytes: Buffer, level: number): number {
  let end = bytes.indexOf("/");
  for (let count = 0; count < level && end !== -1; count++) end = bytes.indexOf("/", end + 1);
  return end;
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
