import { isatty } from "node:tty";

/**
 * Whether the input was a terminal that is gone, as when its window is closed. The end of such an input says nothing: nobody
 * pressed Ctrl-D, and SIGHUP comes only after it.
 */
export function isTerminalGone({ isTTY, fd }: { isTTY?: boolean; fd?: number }): boolean {
  return isTTY === true && fd !== undefined && !isatty(fd);
}
