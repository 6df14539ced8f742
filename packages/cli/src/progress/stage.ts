import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const LOOK_AGAIN_MS = 1_000;

/** What is done when the terminal is left, taken again, or lost because the program ends at once. */
type StageActs = { stdin: NodeJS.ReadStream; leave(): void; enter(): void; abandon(): void };

/**
 * Whose the terminal is: ours to draw on, somebody's who asks a question, or the shell's. It is given back however the program
 * ends.
 */
export function createStage({ stdin, leave, enter, abandon }: StageActs) {
  let guests = 0;
  let isStopped = false;
  let state: "new" | "open" | "closed" = "new";
  const isOurs = (): boolean => guests === 0 && !isStopped && state === "open";
  const keyboard = createKeyboard(stdin, (signal) => {
    if (signal === "SIGINT") interrupt();
    else {
      stepBack();
      process.kill(signal === "SIGTSTP" ? 0 : process.pid, signal);
    }
  });

  function stepBack(): void {
    isStopped = true;
    keyboard.release();
    leave();
  }
  /** After a stop the shell decides whether we may have the terminal. */
  async function comeBack(): Promise<void> {
    if (!isStopped) stepBack();
    if (state === "closed") return;
    if (!(await isInForeground())) setTimeout(comeBack, LOOK_AGAIN_MS).unref();
    else {
      isStopped = false;
      take();
    }
  }
  function take(): void {
    if (!isOurs()) return;
    keyboard.hold();
    enter();
  }
  const lost = (): void => {
    keyboard.release();
    abandon();
  };
  return {
    get isOurs(): boolean {
      return isOurs();
    },
    /** Takes the terminal for the first time. */
    open(): void {
      if (state !== "new") return;
      state = "open";
      process.on("exit", lost).on("uncaughtExceptionMonitor", lost).on("SIGCONT", comeBack);
      take();
    },
    /** Leaves the terminal to `work`; several may have it one after the other or at once. */
    async aside<Value>(work: () => Promise<Value>): Promise<Value> {
      if (guests++ === 0 && !isStopped) {
        keyboard.release();
        leave();
      }
      try {
        return await work();
      } finally {
        guests--;
        take();
      }
    },
    close(): void {
      if (state !== "open") return;
      state = "closed";
      process.off("exit", lost).off("uncaughtExceptionMonitor", lost).off("SIGCONT", comeBack);
      keyboard.release();
      leave();
    },
  };
}

/** As if the terminal had sent it, but at once: two keys are two signals, however fast they come. */
function interrupt(): void {
  if (!process.emit("SIGINT", "SIGINT")) process.kill(process.pid, "SIGINT");
}

const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";
const CTRL_BACKSLASH = "\u001c";

/** The part of a terminal's input that holding it needs. */
export type KeyInput = {
  readonly isTTY?: boolean;
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  off(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  pause(): unknown;
  resume(): unknown;
};

/**
 * The keyboard while lines are redrawn: what is typed is not shown, because it would push them out of place. The terminal no
 * longer sends signals while it is held, so the keys for them are passed on.
 */
export function createKeyboard(stdin: KeyInput, onKey: (signal: "SIGINT" | "SIGTSTP" | "SIGQUIT") => void) {
  let isHeld = false;
  const typed = (bytes: Buffer | string): void => {
    for (const key of String(bytes)) {
      if (key === CTRL_C) onKey("SIGINT");
      if (key === CTRL_Z) onKey("SIGTSTP");
      if (key === CTRL_BACKSLASH) onKey("SIGQUIT");
    }
  };
  return {
    hold(): void {
      if (isHeld || !stdin.isTTY) return;
      isHeld = true;
      stdin.setRawMode(true);
      stdin.on("data", typed);
      stdin.resume();
    },
    release(): void {
      if (!isHeld) return;
      isHeld = false;
      stdin.off("data", typed);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

/**
 * Whether the terminal is this program's: a job in the background must neither draw on it nor touch its modes, or the
 * system stops it. Where that cannot be found out, it is not.
 */
export async function isInForeground(): Promise<boolean> {
  if (process.platform === "win32") return true;
  try {
    return process.platform === "linux" ? await askKernel() : await askPs();
  } catch {
    return false;
  }
}

async function askKernel(): Promise<boolean> {
  const text = await readFile("/proc/self/stat", "utf8");
  // The second field is a name in brackets that may hold blanks and brackets itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, , group, , , foreground] = fields;
  return group === foreground;
}

async function askPs(): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)]);
  const [group, foreground] = stdout.trim().split(/\s+/);
  return group !== undefined && group === foreground;
}
