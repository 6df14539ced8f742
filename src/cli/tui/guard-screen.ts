import { writeSync } from "node:fs";

/** Leaves the terminal as it was found: no bracketed paste, cursor shown, styles off, the first screen. */
const RESTORE = "\u001b[?2004l\u001b[?25h\u001b[0m\u001b[?1049l";
const BLANK = "\u001b[2J\u001b[H";
const ENTER = `\u001b[?1049h${BLANK}`;

/** The second screen of the terminal while it is ours. */
export type GuardedScreen = {
  /** Shows lines before anything else is loaded. */
  paint(lines: readonly string[], cursor: { x: number; y: number } | null): void;
  /** Shows the lines anew over whatever others wrote, and takes the keys again if a stop gave them back. */
  repaint(lines: readonly string[], cursor: { x: number; y: number } | null): void;
  /** What has to end before the terminal is given back, or it would draw on it afterwards. */
  drawnBy(stop: () => void): void;
  /** Gives the terminal back; harmless if called again. */
  restore(): void;
};

/** Takes the second screen, and gives it back whatever ends the process. */
export function guardScreen(stdin: NodeJS.ReadStream, fd = 1): GuardedScreen {
  let isOurs = true;
  let stopDrawing = () => {};
  const restore = () => {
    if (!isOurs) return;
    isOurs = false;
    process.off("exit", restore).off("uncaughtExceptionMonitor", restore);
    try {
      stopDrawing();
      if (stdin.isTTY) stdin.setRawMode(false);
      writeSync(fd, RESTORE);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
  };
  process.on("exit", restore).on("uncaughtExceptionMonitor", restore);
  stdin.setRawMode(true);
  return {
    paint(lines, cursor) {
      const place = cursor ? `\u001b[${cursor.y + 1};${cursor.x + 1}H` : "";
      writeSync(fd, ENTER + lines.join("\r\n") + place);
    },
    repaint(lines, cursor) {
      if (!isOurs) return;
      // Without a place of its own the cursor waits in the last row, where the next frame looks for it.
      const { x, y } = cursor ?? { x: 0, y: lines.length - 1 };
      try {
        stdin.setRawMode(false);
        stdin.setRawMode(true);
        writeSync(fd, `${BLANK}${lines.join("\r\n")}\u001b[${y + 1};${x + 1}H`);
      } catch {
        // The terminal is gone, which ends the program in its own way.
      }
    },
    drawnBy(stop) {
      stopDrawing = stop;
    },
    restore,
  };
}
