import { spawn } from "node:child_process";
import { mkdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBelow } from "@retinue/core/files/is-below";
import { locateProgram } from "@retinue/core/files/locate-program";
import { messageOf, RetinueError, tryTo } from "@retinue/core/schema/error";
import { type Holder, isHolderGone } from "./hold-places.ts";
import {
  type CommandState,
  type CommandSurroundings,
  findJournalFolder,
  listJournalFolders,
  listJournals,
  readAllJournals,
  readJournal,
  registerJournals,
} from "./running-commands.ts";
import { askFind, type Find, findCommand } from "./scan-folders.ts";
import { settleCommand } from "./settle-command.ts";

/** What is kept of a running command, so that its end is put right even if this process is killed before that. */
type CommandJournal = {
  /** Adds to what is kept. Throws if the command is settled already, and must not begin any more. */
  note(more: Partial<CommandState>): void;
  /** Looks through folders, in the process that waits: it starts programs far more cheaply than this one. */
  scan: Find;
  /**
   * Settles the command, once, and gives what a reader of its result should know. If it cannot be settled, it is tried again
   * before the next one.
   */
  settle(): Promise<string[]>;
};

/**
 * Looks through folders whenever it is asked to, until this process is gone or has closed the journal. A journal that is still
 * there then is of a command that nobody settled; one that was half written is of no use. Nobody may read its answer any more,
 * which must not end it.
 */
const WAIT =
  'trap "" PIPE; journal=$1 node=$2 program=$3; shift 3; while read -r _; do "$@"; printf "E%d\\0" $?; echo END >&2; done; ' +
  'rm -f "$journal.new"; if [ -e "$journal" ]; then exec "$node" "$program" "$journal"; fi';
const PROGRAM = locateProgram("settle-left", import.meta.url);

/** Starts the process that outlives this one, and then opens the journal of a command: there is none that nobody waits for. */
export function openJournal(dataDir: string, begun: CommandState): CommandJournal {
  let state = begun;
  let settling: Promise<string[]> | undefined;
  const folder = findJournalFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  registerJournals(folder);
  const file = join(folder, `${state.holder}.json`);
  const write = (more: Partial<CommandState>) => {
    state = { ...state, ...more };
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const waiting = spawn(
    "/bin/sh",
    ["-c", WAIT, "sh", file, process.execPath, fileURLToPath(PROGRAM.url), ...findCommand(state.roots)],
    {
      cwd: "/",
      env: { LC_ALL: "C", NODE_OPTIONS: PROGRAM.nodeArgs.join(" ") },
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
    write({});
  } catch (thrown) {
    waiting.stdin.end();
    throw thrown;
  }
  const scan = () => askFind(waiting);
  const settle = async () => {
    try {
      const notes = await settleCommand(state, scan);
      removeJournal(file);
      return notes;
    } catch (thrown) {
      write({ isLeft: true });
      return [`no other command runs here until this is put right: ${messageOf(thrown)}`];
    } finally {
      waiting.stdin.end();
      await ended;
    }
  };
  return {
    note(more) {
      if (settling) throw new RetinueError("failed", "the command was stopped before it began");
      write(more);
    },
    scan,
    settle() {
      settling ??= settle();
      return settling;
    },
  };
}

/** What other commands, of any process of this user, found before they began: only that is the project's own. */
export function readOthersBefore(
  dataDir: string,
  own: Holder,
  roots: readonly string[],
): CommandSurroundings[] {
  const meets = (other: string) => roots.some((root) => isBelow(root, other) || isBelow(other, root));
  return readAllJournals(dataDir, own).flatMap(({ roots: theirs, before }) =>
    before && theirs.some(meets) ? [before] : [],
  );
}

/**
 * Settles commands whose process was killed, also together with what it had left to do so, and those that could not be
 * settled before. Throws if they cannot be settled now: until then no other command may run.
 */
export async function settleLeftCommands(dataDir: string): Promise<void> {
  await settleLeftIn(findJournalFolder(dataDir));
}

/** The same for all data folders of this user, as far as it can be done. */
export async function settleAllLeftCommands(dataDir: string): Promise<void> {
  for (const folder of listJournalFolders(dataDir)) {
    if (folder === findJournalFolder(dataDir)) await settleLeftIn(folder);
    else await settleLeftIn(folder).catch(() => {});
  }
}

async function settleLeftIn(folder: string): Promise<void> {
  for (const name of listJournals(folder)) {
    const file = join(folder, name);
    const isLeft =
      isHolderGone(name.slice(0, -".json".length)) || readJournal(file).some((state) => state.isLeft);
    if (isLeft) await settleJournal(file);
  }
}

/** Settles the command of one journal and removes it. */
export async function settleJournal(file: string): Promise<void> {
  for (const state of readJournal(file)) await settleCommand(state);
  removeJournal(file);
}

/** Unless somebody else was faster. */
function removeJournal(file: string): void {
  tryTo(() => unlinkSync(file));
}
