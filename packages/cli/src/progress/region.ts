import { stripVTControlCharacters } from "node:util";
import type { Screen } from "../terminal.ts";
import { measureWidth } from "../text-layout.ts";

const ESC = "\u001b[";
/** The frame appears at once, lines that are too long for a moment do not wrap, and no cursor runs about. */
const BEGIN = `${ESC}?2026h${ESC}?7l${ESC}?25l`;
const END = `${ESC}?7h${ESC}?2026l`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;
const WRAP = { on: `${ESC}?7h`, off: `${ESC}?7l` };
const SHOW_CURSOR = `${ESC}?25h`;

/** Lines at the bottom of a terminal that are replaced in place, none at first; what is written above them stays. */
export function createRegion(screen: Screen) {
  let drawn: readonly string[] = [];
  let columns = screen.size().columns;
  let isTouched = false;

  /** Rows the lines take now; a terminal that became narrower has wrapped them by itself. */
  function rowsDrawn(): number {
    const now = screen.size().columns;
    return drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(measureDrawn(line) / now)), 0);
  }
  function toTop(): string {
    const rows = rowsDrawn();
    return rows > 1 ? `\r${ESC}${rows - 1}A` : "\r";
  }
  /** From the second line on: clearing all from the first row on makes some terminals keep it as history. */
  function erase(): string {
    const below = rowsDrawn() > 1 ? `\r\n${CLEAR_BELOW}${ESC}A` : "";
    return `${toTop()}${CLEAR_LINE}${below}`;
  }
  function whole(lines: readonly string[]): string {
    return lines.map((line) => `${line}${CLEAR_LINE}`).join("\r\n");
  }
  /** Lines that are as they were are passed over, but for the last if what is below it has to go. */
  function changed(lines: readonly string[]): string {
    const isShorter = lines.length < drawn.length;
    const isKept = (line: string, at: number) =>
      line === drawn[at] && !(isShorter && at === lines.length - 1);
    const text = lines.map((line, at) => (isKept(line, at) ? "" : `${line}${CLEAR_LINE}`)).join("\r\n");
    return isShorter ? `${text}${CLEAR_BELOW}` : text;
  }
  function frame(text: string): void {
    isTouched = true;
    screen.write(`${BEGIN}${text}${END}`);
  }
  return {
    /** Shows these lines, none of which may be as wide as the terminal. */
    draw(lines: readonly string[]): void {
      const before = columns;
      columns = screen.size().columns;
      const isResized = columns !== before;
      if (!isResized && lines.length === drawn.length && lines.every((line, at) => line === drawn[at]))
        return;
      if (lines.length === 0 || drawn.length === 0 || isResized) frame(`${erase()}${whole(lines)}`);
      else frame(`${toTop()}${changed(lines)}`);
      drawn = [...lines];
    },
    /** Writes for good, above the lines. */
    above(text: string): void {
      const kept = text.replaceAll(/\r?\n/g, "\r\n");
      frame(`${erase()}${WRAP.on}${kept}\r\n${WRAP.off}${whole(drawn)}`);
    },
    /** Takes the lines away and gives the cursor back. */
    clear(): void {
      if (isTouched) screen.write(`${BEGIN}${erase()}${SHOW_CURSOR}${END}`);
      isTouched = false;
      drawn = [];
    },
    /** Gives the cursor back and leaves the lines: the program ends at once. */
    abandon(): void {
      if (isTouched) screen.write(`${drawn.length > 0 ? "\r\n" : ""}${SHOW_CURSOR}${END}`);
      isTouched = false;
      drawn = [];
    },
  };
}

function measureDrawn(line: string): number {
  return measureWidth(stripVTControlCharacters(line));
}
