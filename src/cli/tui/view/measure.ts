import { widthOf as exactWidth } from "../../tree/text-width.ts";

/** Signs that are one column wide each, whatever stands beside them. */
const SIMPLE = /^[\u0020-\u007e\u00a1-\u02ff\u2010-\u2027]*$/;
const MOST_KEPT = 10_000;
const segmenter = new Intl.Segmenter();
const kept = new Map<string, number>();

/** A character as people see it, and how many columns it takes. */
export type Cluster = { readonly segment: string; readonly columns: number };

/** How many columns a text takes at most. */
export function widthOf(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let width = 0;
  for (const { columns } of clustersOf(text)) width += columns;
  return width;
}

/** The characters of a text one by one. */
export function* clustersOf(text: string): Generator<Cluster> {
  if (SIMPLE.test(text)) {
    for (const segment of text) yield { segment, columns: 1 };
    return;
  }
  for (const { segment } of segmenter.segment(text)) yield { segment, columns: columnsOf(segment) };
}

/** Measuring is slow, and texts are made of few characters. */
function columnsOf(segment: string): number {
  if (SIMPLE.test(segment)) return segment.length;
  const known = kept.get(segment);
  if (known !== undefined) return known;
  const columns = exactWidth(segment);
  if (kept.size >= MOST_KEPT) kept.clear();
  if (segment.length <= 20) kept.set(segment, columns);
  return columns;
}
