import { inForeground } from "./in-foreground.ts";
import { createKeyboard } from "./keyboard.ts";

const LOOK_AGAIN_MS = 1_000;

/** Whose the terminal is: ours to draw on, somebody's who asks a question, or the shell's. */
export type Stage = {
  readonly isOurs: boolean;
  /** Takes the terminal for the first time. */
  open(): void;
  /** Leaves the terminal to `work`; several may have it one after the other or at once. */
  aside<Value>(work: () => Promise<Value>): Promise<Value>;
  close(): void;
};

/** What is done when the terminal is left, taken again, or lost because the program ends at once. */
export type StageActs = { stdin: NodeJS.ReadStream; leave(): void; enter(): void; abandon(): void };

/** Creates the stage, which sees to it that the terminal is given back however the program ends. */
export function createStage({ stdin, leave, enter, abandon }: StageActs): Stage {
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
    if (!(await inForeground())) setTimeout(comeBack, LOOK_AGAIN_MS).unref();
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
    get isOurs() {
      return isOurs();
    },
    open() {
      if (state !== "new") return;
      state = "open";
      process.on("exit", lost).on("uncaughtExceptionMonitor", lost).on("SIGCONT", comeBack);
      take();
    },
    async aside(work) {
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
    close() {
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
