import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "./terminal.ts";

/** Text that cannot steer a terminal: no escape codes, no controls but line ends and tabs, no turned-around order. */
export function stripControls(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "");
}

/** The same, but nothing is hidden: controls are written as escapes. For what a person approves. */
export function escapeControls(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escaped);
}

/** Plain text on one line of at most `limit` characters. */
export function cutToLine(text: string, limit: number): string {
  const line = stripControls(text).replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join("")}…`;
}

/** JSON that cannot steer a terminal and parses to the same value: controls are written as escapes. */
export function writeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    escaped,
  );
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Rows of cells, padded so that columns line up; the last column is left as it is. */
export function drawTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, [...cell].length);
  }
  const pad = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length);
  return rows.map((row) =>
    row.map((cell, column) => (column < row.length - 1 ? pad(cell, column) : cell)).join("  "),
  );
}

const LEAST = 20;

/** Breaks a line at its blanks so that it fits a terminal, later lines indented; where there is no terminal it stays. */
export function wrapWords(line: string, { columns }: Pick<Terminal, "columns">, indent = 0): string {
  if (columns === null || columns - indent < LEAST) return line;
  const lines: string[] = [];
  let last = /^ */.exec(line)?.[0] ?? "";
  let isFresh = true;
  for (const word of line.trim().split(/ (?! )/)) {
    const longer = isFresh ? last + word : `${last} ${word}`;
    // A column is kept free: icons may be wider than they count.
    if (isFresh || [...longer].length < columns - 1) last = longer;
    else {
      lines.push(last);
      last = " ".repeat(indent) + word;
    }
    isFresh = false;
  }
  return [...lines, last].join("\n");
}
