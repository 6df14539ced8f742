/** The keyboard while lines are redrawn: what is typed is not shown, because it would push them out of place. */
export type Keyboard = {
  hold(): void;
  release(): void;
};

const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";
const CTRL_BACKSLASH = "\u001c";

/** The part of a terminal's input that holding it needs. */
export type Keys = {
  readonly isTTY?: boolean;
  setRawMode(isRaw: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  off(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  pause(): unknown;
  resume(): unknown;
};

/** Creates the keyboard. The terminal no longer sends signals while it is held, so the keys for them are passed on. */
export function createKeyboard(
  stdin: Keys,
  onKey: (signal: "SIGINT" | "SIGTSTP" | "SIGQUIT") => void,
): Keyboard {
  let isHeld = false;
  const typed = (bytes: Buffer | string): void => {
    for (const key of String(bytes)) {
      if (key === CTRL_C) onKey("SIGINT");
      if (key === CTRL_Z) onKey("SIGTSTP");
      if (key === CTRL_BACKSLASH) onKey("SIGQUIT");
    }
  };
  return {
    hold() {
      if (isHeld || !stdin.isTTY) return;
      isHeld = true;
      stdin.setRawMode(true);
      stdin.on("data", typed);
      stdin.resume();
    },
    release() {
      if (!isHeld) return;
      isHeld = false;
      stdin.off("data", typed);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
