import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBelow } from "../shell/below.ts";
import { type Holder, isHolderGone } from "./hold-places.ts";
import { askFind, type Find, findCommand } from "./scan-folders.ts";
import { type CommandState, type Surroundings, settleCommand } from "./settle-command.ts";

/** What is kept of a running command, so that its end is put right even if this process is killed before that. */
export type CommandJournal = {
  write(state: CommandState): void;
  /** Looks through folders, in the process that waits: it starts programs far more cheaply than this one. */
  scan: Find;
  /** The command is settled, and there is nothing left to do; or it could not be, and is tried again before the next one. */
  close(left?: CommandState): Promise<void>;
};

/**
 * Looks through folders whenever it is asked to, until this process is gone or has closed the journal. A journal that is still
 * there then is of a command that nobody settled; one that was half written is of no use. Nobody may read its answer any more,
 * which must not end it.
 */
const WAIT =
  'trap "" PIPE; journal=$1 node=$2 program=$3; shift 3; while read -r _; do "$@"; printf "E%d\\0" $?; echo END >&2; done; ' +
  'rm -f "$journal.new"; if [ -e "$journal" ]; then exec "$node" "$program" "$journal"; fi';
const PROGRAM = fileURLToPath(
  new URL(`./settle-left${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** Starts the process that outlives this one, and then opens the journal of a command: there is none that nobody waits for. */
export function openJournal(dataDir: string, state: CommandState): CommandJournal {
  const folder = findFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  register(folder);
  const file = join(folder, `${state.holder}.json`);
  const write = (now: CommandState) => {
    writeFileSync(`${file}.new`, JSON.stringify(now), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const waiting = spawn(
    "/bin/sh",
    ["-c", WAIT, "sh", file, process.execPath, PROGRAM, ...findCommand(state.roots)],
    {
      cwd: "/",
      env: { LC_ALL: "C" },
      // Not in this process's group: what ends that must not end this.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  const ended = new Promise<void>((resolve) => {
    waiting.once("error", () => resolve());
    waiting.once("exit", () => resolve());
  });
  waiting.stdin.on("error", () => {});
  try {
    write(state);
  } catch (thrown) {
    waiting.stdin.end();
    throw thrown;
  }
  return {
    write,
    scan: () => askFind(waiting),
    async close(left) {
      if (left) write({ ...left, isLeft: true });
      else tryUnlink(file);
      waiting.stdin.end();
      await ended;
    },
  };
}

/** What other commands, of any process of this user, found before they began: only that is the project's own. */
export function readOthersBefore(dataDir: string, own: Holder, roots: readonly string[]): Surroundings[] {
  const states = listFolders(dataDir).flatMap((folder) =>
    listJournals(folder)
      .filter((name) => name !== `${own}.json`)
      .flatMap((name) => readState(join(folder, name))),
  );
  const meets = (other: string) => roots.some((root) => isBelow(root, other) || isBelow(other, root));
  return states.flatMap(({ roots: theirs, before }) => (before && theirs.some(meets) ? [before] : []));
}

/**
 * Settles commands whose process was killed, also together with what it had left to do so, and those that could not be
 * settled before. Throws if they cannot be settled now: until then no other command may run.
 */
export async function settleLeftCommands(dataDir: string): Promise<void> {
  const folder = findFolder(dataDir);
  for (const name of listJournals(folder)) {
    const file = join(folder, name);
    const isLeft =
      isHolderGone(name.slice(0, -".json".length)) || readState(file).some((state) => state.isLeft);
    if (isLeft) await settleJournal(file);
  }
}

/** Settles the command of one journal and removes it. */
export async function settleJournal(file: string): Promise<void> {
  for (const state of readState(file)) await settleCommand(state);
  tryUnlink(file);
}

function findFolder(dataDir: string): string {
  return join(dataDir, "commands");
}

/** A list, for all processes of this user, of the data folders in which there are journals. */
const REGISTRY = `/tmp/retinue-${process.getuid?.() ?? 0}`;

function register(folder: string): void {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 32);
  try {
    mkdirSync(REGISTRY, { mode: 0o700, recursive: true });
    if (isOwnRegistry()) symlinkSync(folder, join(REGISTRY, name));
  } catch {
    // It is there already, or cannot be made: then only commands of the same data folder know of each other.
  }
}

/** Folders that are gone leave the list. */
function listFolders(dataDir: string): string[] {
  const folders = new Set([findFolder(dataDir)]);
  for (const name of isOwnRegistry() ? listNames(REGISTRY) : []) {
    const link = join(REGISTRY, name);
    const folder = tryReadlink(link);
    if (isAbsolute(folder) && existsSync(folder)) folders.add(folder);
    else tryUnlink(link);
  }
  return [...folders];
}

/** Others could have made a folder of this name first. */
function isOwnRegistry(): boolean {
  const stats = lstatSync(REGISTRY, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
}

function readState(file: string): CommandState[] {
  try {
    return [JSON.parse(readFileSync(file, "utf8")) as CommandState];
  } catch {
    // Somebody has settled it meanwhile.
    return [];
  }
}

function listJournals(folder: string): string[] {
  return listNames(folder).filter((name) => name.endsWith(".json"));
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function tryReadlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function tryUnlink(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Somebody else was faster.
  }
}
