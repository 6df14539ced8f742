import stringWidth from "string-width";

/** Signs that are one column wide each, whatever stands beside them. */
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
  let cut = "";
  let used = 0;
  for (const { segment, columns } of splitClusters(text)) {
    used += columns;
    if (used > room) break;
    cut += segment;
  }
  return `${cut.trimEnd()}${mark}`;
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
