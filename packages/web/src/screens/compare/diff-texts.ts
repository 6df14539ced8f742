import { diffLines, diffWordsWithSpace } from "diff";

/** A piece of two texts: of both, or of one of them. */
export type TextPart = { text: string; of: "both" | "A" | "B" };

/** Texts that differ in more than this share nothing worth looking for. */
const MOST_EDITS = 1_500;

/** What two texts have in common and what only one of them has, by words or by lines; null if that is next to nothing. */
export function diffTexts(a: string, b: string, by: "words" | "lines"): TextPart[] | null {
  const options = { maxEditLength: MOST_EDITS };
  const changes = by === "words" ? diffWordsWithSpace(a, b, options) : diffLines(a, b, options);
  if (!changes) return null;
  return changes.map(({ value, added, removed }) => ({
    text: value,
    of: added ? "B" : removed ? "A" : "both",
  }));
}

/** The same line by line, the last line end left out. */
export function linesOfParts(parts: readonly TextPart[]): TextPart[] {
  return parts.flatMap(({ text, of }) =>
    text
      .replace(/\r?\n$/, "")
      .split(/\r?\n/)
      .map((line) => ({ text: line, of })),
  );
}
