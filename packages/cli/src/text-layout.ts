import stringWidth from "string-width";
import type { Terminal } from "./terminal.ts";

/** Signs that are one column wide each, whatever is beside them. */
const SIMPLE = /^[\u0020-\u007e\u00a1-\u02ff\u2010-\u2027]*$/;
const MOST_KEPT = 10_000;
const segmenter = new Intl.Segmenter();
const kept = new Map<string, number>();

/** A character as people see it, and how many columns it takes. */
type Cluster = { readonly segment: string; readonly columns: number };

/**
 * Columns that a text takes at most. Where terminals disagree, as about emoji that are joined out of several, it is the
 * larger number: a line that is too short does no harm, one that is too long breaks the screen.
 */
export function measureWidth(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let width = 0;
  for (const { columns } of splitClusters(text)) width += columns;
  return width;
}

/** The characters of a text one by one. */
export function* splitClusters(text: string): Generator<Cluster> {
  if (SIMPLE.test(text)) {
    for (const segment of text) yield { segment, columns: 1 };
    return;
  }
  for (const { segment } of segmenter.segment(text)) yield { segment, columns: measureCluster(segment) };
}

/**
 * The text without what terminals give different widths: emoji joined out of several come apart, and those that are also
 * signs of text lose their selector.
 */
export function dropSelectors(text: string): string {
  return text.replaceAll(/\ufe0f|[\u{1f3fb}-\u{1f3ff}]|\u200d(?=\p{Extended_Pictographic})/gu, "");
}

/** The text in at most `width` columns; what is cut ends with the mark. */
export function cutTo(text: string, width: number, mark = "…"): string {
  if (width <= 0) return "";
  if (measureWidth(text) <= width) return text;
  const room = width - measureWidth(mark);
  if (room < 0) return "";
  return `${splitAt(text, room)[0].trimEnd()}${mark}`;
}

/** A text as far as it fits into `width` columns, and the rest. */
export function splitAt(text: string, width: number): [head: string, tail: string] {
  let used = 0;
  let end = 0;
  for (const { segment, columns } of splitClusters(text)) {
    used += columns;
    if (used > width) break;
    end += segment.length;
  }
  return [text.slice(0, end), text.slice(end)];
}

/** The text with blanks up to `width` columns. */
export function padTo(text: string, width: number, side: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - measureWidth(text)));
  return side === "left" ? text + blanks : blanks + text;
}

/** The first sign of a text as a person sees it. */
export function findFirstSign(text: string): string {
  for (const { segment } of segmenter.segment(text.trim())) return segment;
  return "";
}

/** Cached: measuring is slow, and texts are made of few characters. */
function measureCluster(cluster: string): number {
  if (SIMPLE.test(cluster)) return cluster.length;
  const known = kept.get(cluster);
  if (known !== undefined) return known;
  let columns = stringWidth(cluster);
  if (cluster.length > 2) {
    let parts = 0;
    for (const character of cluster) parts += stringWidth(character);
    columns = Math.max(columns, parts);
  }
  if (kept.size >= MOST_KEPT) kept.clear();
  if (cluster.length <= 20) kept.set(cluster, columns);
  return columns;
}

/** Rows of cells in columns, the last left as it is; `right` names those of numbers, by the words of the first row. */
export function drawTable(rows: readonly (readonly string[])[], right: readonly string[] = []): string[] {
  const widths = measureColumns(rows);
  const isRight = rows[0]?.map((name) => right.includes(name)) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => {
        if (isRight[column]) return padTo(cell, widths[column] ?? 0, "right");
        return column < row.length - 1 ? padTo(cell, widths[column] ?? 0) : cell;
      })
      .join("  "),
  );
}

/** The table without the columns that give way, in their order, until it fits; a column of `cut` counts with no more than that. */
export function fitTable(
  rows: readonly (readonly string[])[],
  {
    width,
    gives,
    cut = {},
  }: { width: number; gives: readonly string[]; cut?: Readonly<Record<string, number>> },
): { rows: readonly (readonly string[])[]; left: string[] } {
  const left: string[] = [];
  let kept = rows;
  const needed = () =>
    measureColumns(kept).reduce((sum, wide, column) => {
      return sum + Math.min(wide, cut[kept[0]?.[column] ?? ""] ?? wide) + (column > 0 ? 2 : 0);
    }, 0);
  for (const name of gives) {
    if (needed() <= width) break;
    const at = kept[0]?.indexOf(name) ?? -1;
    kept = kept.map((row) => row.toSpliced(at, 1));
    left.push(name);
  }
  return { rows: kept, left };
}

function measureColumns(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, measureWidth(cell));
  return widths;
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
