import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import type { FindOwnFiles } from "@retinue/core/schema/agent";
import { tryTo } from "@retinue/core/schema/error";
import type { Holder } from "./hold-places.ts";
import type { FirstProcess } from "./sandbox-end.ts";

/** What a command found when it began: enough to put things right after it, in this process or another. */
export type CommandState = {
  readonly holder: Holder;
  /** The project and the workspace. */
  readonly roots: readonly string[];
  /** Places that it holds, or was about to hold. */
  readonly held: readonly string[];
  /** What was there before its sandbox was put together; absent until then. */
  readonly before?: CommandSurroundings;
  /** The first process of its sandbox, and the control groups it is in. */
  readonly first?: FirstProcess;
  readonly groups?: readonly string[];
  /** Settling failed: nobody else is at it. */
  readonly isLeft?: boolean;
};

/** What had a protected name before a command began. */
export type CommandSurroundings = {
  /** Identities by path. */
  readonly existing: Readonly<Record<string, string>>;
  /** Where links led to, by path. */
  readonly links: Readonly<Record<string, string>>;
  readonly closed: readonly string[];
  /** Paths as base64. */
  readonly unspelled: readonly string[];
  /** Permissions of the roots. */
  readonly modes: Readonly<Record<string, number>>;
  /** Places that git's settings named, whether or not there was something; only these settings count to the end. */
  readonly namedByGit?: readonly string[];
};

/** Where the journals of commands are, in a data folder. */
export function findJournalFolder(dataDir: string): string {
  return join(dataDir, "commands");
}

/** A list, for all processes of this user, of the data folders in which there are journals. */
const REGISTRY = `/tmp/retinue-${process.getuid?.() ?? 0}`;

/** Lets all processes of this user know of a folder of journals. */
export function registerJournals(folder: string): void {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 32);
  // If it is not there already and cannot be made, only commands of the same data folder know of each other.
  tryTo(() => {
    mkdirSync(REGISTRY, { mode: 0o700, recursive: true });
    if (isOwnRegistry()) symlinkSync(folder, join(REGISTRY, name));
  });
}

/** Every folder of journals of this user. Those that are gone leave the list. */
export function listJournalFolders(dataDir: string): string[] {
  const folders = new Set([findJournalFolder(dataDir)]);
  for (const name of isOwnRegistry() ? listNames(REGISTRY) : []) {
    const link = join(REGISTRY, name);
    const folder = tryTo(() => readlinkSync(link)) ?? "";
    if (isAbsolute(folder) && existsSync(folder)) folders.add(folder);
    else tryTo(() => unlinkSync(link));
  }
  return [...folders];
}

/** Others could have made a folder of this name first. */
function isOwnRegistry(): boolean {
  const stats = lstatSync(REGISTRY, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

/** The names of the journals in a folder. */
export function listJournals(folder: string): string[] {
  return listNames(folder).filter((name) => name.endsWith(".json"));
}

/** What a journal says; nothing if somebody has settled its command meanwhile. */
export function readJournal(file: string): CommandState[] {
  const state = tryTo(() => JSON.parse(readFileSync(file, "utf8")) as CommandState);
  return state ? [state] : [];
}

/** What all journals of this user say, but for that of one holder. */
export function readAllJournals(dataDir: string, except?: Holder): CommandState[] {
  return listJournalFolders(dataDir).flatMap((folder) =>
    listJournals(folder)
      .filter((name) => except === undefined || name !== `${except}.json`)
      .flatMap((name) => readJournal(join(folder, name))),
  );
}

/**
 * Tells, of some files, those that are there and that no running command made, of whatever process of this user: what a
 * command puts under a protected name stays only until its end, and is no agent file or setting in the meantime. What
 * is not among them must not be read. What is can be read at any later time: commands cannot change it.
 */
export function createFindOwn(dataDir: string): FindOwnFiles {
  return async (paths) => {
    const before = paths.map(identifyFile);
    const states = readAllJournals(dataDir);
    // What was there before and after is not of a command that ended in between.
    const standing = paths.filter((path, index) => {
      const identity = before[index];
      return identity !== undefined && identifyFile(path) === identity;
    });
    if (states.length === 0) return standing;
    const { isProtected } = await import("./protected-paths.ts");
    return standing.filter((path) =>
      states.every(({ roots, before }) => !before || isKnown(path, { roots, before, isProtected })),
    );
  };
}

type Known = {
  readonly roots: readonly string[];
  readonly before: CommandSurroundings;
  isProtected(path: string, root: string): boolean;
};

/** Whether everything protected on the way to a file was there before a command began, and led to the same place. */
function isKnown(path: string, { roots, before, isProtected }: Known): boolean {
  let at = "/";
  let inside: string | undefined;
  for (const name of path.split(sep).filter(Boolean)) {
    const next = join(at, name);
    const root = roots.find((each) => next !== each && isBelow(next, each));
    if (inside === undefined || !isBelow(next, inside)) {
      inside = root !== undefined && isProtected(next, root) ? next : undefined;
      if (inside !== undefined && !isSame(before.existing, next, identifyFile(next))) return false;
    }
    if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink()) {
      const target = tryTo(() => realpathSync(next)) ?? "";
      if (inside !== undefined && !isSame(before.links, next, target)) return false;
      at = target;
    } else at = next;
  }
  return true;
}

function isSame(table: Readonly<Record<string, string>>, path: string, value: string | undefined): boolean {
  return value !== undefined && Object.hasOwn(table, path) && table[path] === value;
}

/** What something is, whatever its path: what takes its place is another. Undefined if nothing is there. */
export function identifyFile(path: string | Buffer): string | undefined {
  try {
    const stats = lstatSync(path, { bigint: true });
    return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw thrown;
  }
}

function listNames(folder: string): string[] {
  return tryTo(() => readdirSync(folder)) ?? [];
}
