import { stripVTControlCharacters } from "node:util";

/** Text that cannot steer a terminal: no escape codes, no controls but line ends and tabs, no turned-around order. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "");
}

/** Text that cannot steer a terminal either but hides nothing, for what a person answers for: controls are written as escapes. */
export function exactText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escaped);
}

/** Plain text on one line of at most `limit` characters. */
export function plainLine(text: string, limit: number): string {
  const line = plainText(text).replaceAll(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join("")}…`;
}

/** JSON that cannot steer a terminal and reads back as the same value: what could is written as an escape. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    escaped,
  );
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Rows of cells, padded so that columns line up; the last column is left as it is. */
export function table(rows: readonly (readonly string[])[]): string[] {
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
