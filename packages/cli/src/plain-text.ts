import type { Terminal } from "./terminal.ts";

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
