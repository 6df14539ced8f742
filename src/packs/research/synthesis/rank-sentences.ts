import { rankTexts } from "../../../text/rank-texts.ts";
import { likeness, termVectors, type Vector } from "../../../text/term-vectors.ts";
import type { Passage } from "../report/report.ts";
import type { Sentence } from "./read-articles.ts";

/** The sentences of all sources with what is known of them, at the same indexes. */
export type Ranked = {
  readonly sentences: readonly Sentence[];
  readonly vectors: readonly Vector[];
  readonly weights: readonly number[];
};

const EARLY_BONUS = 1;
const ASKED_BONUS = 3;
const DANGLING_SHARE = 0.3;
const OWN_VOICE_SHARE = 0.5;
/** Likeness from which another source says much the same. */
const SAYS_THE_SAME = 0.5;

/** A sentence as it is cited, with the other sources that say much the same. */
export function passageOf({ sentences, vectors }: Ranked, at: number): Passage {
  const { text = "", sources: cites = [] } = sentences[at] ?? {};
  const own = vectors[at] ?? new Map();
  const also = new Set<number>();
  for (const [other, vector] of vectors.entries()) {
    if (other === at || likeness(own, vector) < SAYS_THE_SAME) continue;
    for (const source of sentences[other]?.sources ?? []) if (!cites.includes(source)) also.add(source);
  }
  return { text, cites, ...(also.size > 0 && { also: [...also].sort((a, b) => a - b) }) };
}

/** Ranks sentences by how much they share with the others, how early they stand and how close they are to what was asked. */
export function rankSentences(sentences: readonly Sentence[], about: string): Ranked {
  const vectors = termVectors([...sentences.map(({ text }) => text), about]);
  const asked = vectors.pop() ?? new Map();
  const start = sentences.map(
    ({ place }, at) =>
      1 + EARLY_BONUS / (1 + place) + ASKED_BONUS * likeness(vectors[at] ?? new Map(), asked),
  );
  const weights = rankTexts(vectors, start).map(
    (weight, at) => weight * (0.3 + (start[at] ?? 0)) * shareOf(sentences[at]),
  );
  return { sentences, vectors, weights };
}

/** What is left of a sentence's weight when it stands alone. */
function shareOf(sentence: Sentence | undefined): number {
  return (sentence?.dangling ? DANGLING_SHARE : 1) * (sentence?.ownVoice ? OWN_VOICE_SHARE : 1);
}
