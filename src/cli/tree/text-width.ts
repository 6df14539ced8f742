import stringWidth from "string-width";

const PLAIN = /^[\x20-\x7e]*$/;
const segmenter = new Intl.Segmenter();

/**
 * Columns that a text takes at most. Where terminals disagree, as about emoji that are joined out of several, it is the
 * larger number: a line that is too short does no harm, one that is too long breaks the screen.
 */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += widthOfCluster(segment);
  return width;
}

/**
 * The text without what terminals give different widths: emoji joined out of several come apart, and those that are also
 * signs of text lose their selector.
 */
export function steady(text: string): string {
  return text.replaceAll(/\ufe0f|[\u{1f3fb}-\u{1f3ff}]|\u200d(?=\p{Extended_Pictographic})/gu, "");
}

/** The text in at most `width` columns; what is cut ends with the mark. */
export function cutTo(text: string, width: number, mark = "…"): string {
  if (width <= 0) return "";
  if (widthOf(text) <= width) return text;
  const room = width - widthOf(mark);
  if (room < 0) return "";
  let cut = "";
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += widthOfCluster(segment);
    if (used > room) break;
    cut += segment;
  }
  return `${cut.trimEnd()}${mark}`;
}

/** The text with blanks up to `width` columns. */
export function padTo(text: string, width: number, side: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return side === "left" ? text + blanks : blanks + text;
}

/** The first sign of a text as a person sees it. */
export function firstSign(text: string): string {
  for (const { segment } of segmenter.segment(text.trim())) return segment;
  return "";
}

function widthOfCluster(cluster: string): number {
  const whole = stringWidth(cluster);
  if (cluster.length <= 2) return whole;
  let parts = 0;
  for (const character of cluster) parts += stringWidth(character);
  return Math.max(whole, parts);
}
