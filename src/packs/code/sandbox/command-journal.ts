import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Holder, isHolderGone } from "./hold-places.ts";
import { type CommandState, settleCommand } from "./settle-command.ts";

/** What is kept of a running command, so that its end is put right even if this process is killed before that. */
export type CommandJournal = {
  write(state: CommandState): void;
  /** The command is settled: there is nothing left to do. */
  close(): Promise<void>;
};

/**
 * Waits until this process is gone, or has closed the journal. A journal that is still there then is of a command that
 * nobody settled.
 */
const WAIT = 'while read -r _; do :; done; if [ -e "$1" ]; then exec "$2" "$3" "$1"; fi';
const PROGRAM = fileURLToPath(
  new URL(`./settle-left${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
);

/** Opens the journal of a command and starts the process that outlives this one. */
export function openJournal(dataDir: string, state: CommandState): CommandJournal {
  const folder = findFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${state.holder}.json`);
  const write = (now: CommandState) => {
    writeFileSync(`${file}.new`, JSON.stringify(now), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  write(state);
  const waiting = spawn("/bin/sh", ["-c", WAIT, "sh", file, process.execPath, PROGRAM], {
    cwd: "/",
    env: {},
    // Not in this process's group: what ends that must not end this.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((resolve) => {
    waiting.once("error", () => resolve());
    waiting.once("exit", () => resolve());
  });
  waiting.stdin.on("error", () => {});
  return {
    write,
    async close() {
      tryUnlink(file);
      waiting.stdin.end();
      await ended;
    },
  };
}

/** Settles commands whose process was killed, also together with what it had left to do so. */
export async function settleLeftCommands(dataDir: string): Promise<void> {
  const folder = findFolder(dataDir);
  for (const name of listJournals(folder)) {
    const holder: Holder = name.slice(0, -".json".length);
    if (isHolderGone(holder)) await settleJournal(join(folder, name));
  }
}

/** Settles the command of one journal and removes it. */
export async function settleJournal(file: string): Promise<void> {
  try {
    await settleCommand(JSON.parse(readFileSync(file, "utf8")) as CommandState);
  } finally {
    tryUnlink(file);
  }
}

function findFolder(dataDir: string): string {
  return join(dataDir, "commands");
}

function listJournals(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

function tryUnlink(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Somebody else has settled it.
  }
}
