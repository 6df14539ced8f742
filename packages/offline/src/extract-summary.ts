import { likeness, pickDiverse, rankTexts, termVectors } from "@retinue/core/text/rank-texts";

const MAX_SENTENCES = 300;
/** The share of the start weight that falls with the place in the text. */
const EARLY_BONUS = 0.5;
/** How much more a sentence weighs that is all about what the reader asks. */
const ASKED_BONUS = 8;

/**
 * The sentences that say most of a text, in their order (TextRank): a sentence weighs as much as the
 * sentences like it, likeness being the cosine of their rarer words; early ones and those close to `about` start with
 * more, and one that repeats what was taken is passed over for one that does not.
 */
export function extractSummary(
  sentences: readonly string[],
  { count, about = "" }: { count: number; about?: string },
): string[] {
  const shown = [...new Set(sentences)].slice(0, MAX_SENTENCES);
  if (shown.length <= count) return shown;
  const vectors = termVectors([...shown, about]);
  const question = vectors.pop() ?? new Map();
  const start = vectors.map(
    (vector, at) => 1 + EARLY_BONUS / (1 + at) + ASKED_BONUS * likeness(vector, question),
  );
  const weights = rankTexts(vectors, start).map((weight, at) => weight * (0.2 + (start[at] ?? 0)));
  return pickDiverse(vectors, weights, { count })
    .sort((a, b) => a - b)
    .map((at) => shown[at] ?? "");
}
