import { clusterTexts } from "../../../text/cluster-texts.ts";
import { type KeyPhrase, keyPhrases } from "../../../text/key-phrases.ts";
import { centroidOf, likeness, type Vector } from "../../../text/term-vectors.ts";
import { termsOf } from "../../../text/terms.ts";
import type { Reading, Sentence } from "./read-articles.ts";

/** Sentences on one thing. */
export type Cluster = {
  readonly heading: string;
  /** Indexes of its sentences. */
  readonly members: readonly number[];
  readonly middle: Vector;
};

const MOST_THEMES = 7;
const LEAST_THEMES = 2;
const LEAST_SENTENCES = 3;
const ALIKE = 0.12;
/** How often a longer phrase must stand in a theme to name it in place of its one word. */
const EXACT_SHARE = 0.3;
/** Two phrases whose sentences overlap by more are one theme. */
const OVERLAP = 0.34;
/** A phrase in more than this share of the sentences is the topic itself. */
const TOO_COMMON = 0.3;

/** Themes across the sources: sentences around the phrases that most of them share. */
export function findThemes(
  { sentences, headings }: Pick<Reading, "sentences" | "headings">,
  vectors: readonly Vector[],
  topic: string,
): Cluster[] {
  const asked = new Set(termsOf(topic));
  const named = new Set(headings.flatMap(termsOf));
  const phrases = keyPhrases(sentences.map(({ text }) => text)).filter(
    ({ stems, sentences: uses }) =>
      uses.length <= Math.max(LEAST_SENTENCES, TOO_COMMON * sentences.length) &&
      !stems.every((stem) => asked.has(stem)) &&
      (stems.length > 1 || named.has(stems[0] ?? "")),
  );
  const seeds = seedsOf(phrases, sentences, named);
  const groups = clusterTexts(
    vectors,
    seeds.map((seed) => seed.sentences),
    ALIKE,
  );
  const used = new Set<string>();
  return groups.flatMap((members, at): Cluster[] => {
    const seed = seeds[at];
    if (!seed || members.length < LEAST_SENTENCES) return [];
    const middle = centroidOf(members.map((member) => vectors[member] ?? new Map()));
    return [{ heading: headingOf(seed, phrases, { members, used }), members, middle }];
  });
}

/** The strongest phrases that are about different sentences; those of several sources and of headings come first. */
function seedsOf(
  phrases: readonly KeyPhrase[],
  sentences: readonly Sentence[],
  named: ReadonlySet<string>,
): KeyPhrase[] {
  const spread = (phrase: KeyPhrase) =>
    new Set(phrase.sentences.flatMap((at) => sentences[at]?.sources ?? [])).size;
  const all = new Set(sentences.flatMap(({ sources }) => sources)).size;
  const wanted = Math.min(MOST_THEMES, Math.max(LEAST_THEMES, Math.round(Math.sqrt(3.5 * all))));
  const ranked = phrases
    .filter(({ sentences: uses }) => uses.length >= LEAST_SENTENCES)
    .filter((phrase) => spread(phrase) >= Math.min(all, phrase.stems.length > 1 ? 2 : Math.max(2, all / 3)))
    .map((phrase) => {
      const inHeadings = phrase.stems.filter((stem) => named.has(stem)).length / phrase.stems.length;
      return { phrase, score: phrase.score * Math.sqrt(spread(phrase)) * (0.5 + inHeadings) };
    })
    .sort((a, b) => b.score - a.score);
  const seeds: KeyPhrase[] = [];
  for (const { phrase } of ranked) {
    if (seeds.length >= wanted) break;
    if (seeds.every((seed) => overlap(seed, phrase) < OVERLAP && !sharesStem(seed, phrase)))
      seeds.push(phrase);
  }
  return seeds;
}

function overlap(a: KeyPhrase, b: KeyPhrase): number {
  const both = a.sentences.filter((at) => b.sentences.includes(at)).length;
  return both / Math.min(a.sentences.length, b.sentences.length);
}

function sharesStem(a: KeyPhrase, b: KeyPhrase): boolean {
  return a.stems.some((stem) => b.stems.includes(stem));
}

/** The phrase a theme grew from and the strongest other one of its sentences, the more exact of them first. */
function headingOf(
  seed: KeyPhrase,
  phrases: readonly KeyPhrase[],
  { members, used }: { members: readonly number[]; used: Set<string> },
): string {
  const inside = new Set(members);
  const usesOf = (phrase: KeyPhrase) => phrase.sentences.filter((at) => inside.has(at)).length;
  const strongest = (least: number, fits: (phrase: KeyPhrase) => boolean) =>
    phrases
      .filter((phrase) => fits(phrase) && usesOf(phrase) >= least)
      .map((phrase) => ({
        phrase,
        score: (usesOf(phrase) ** 2 * phrase.stems.length) / phrase.sentences.length,
      }))
      .reduce<{ phrase?: KeyPhrase; score: number }>((a, b) => (b.score > a.score ? b : a), { score: 0 })
      .phrase;
  const [stem] = seed.stems;
  const first =
    (seed.stems.length === 1 &&
      strongest(
        Math.max(2, usesOf(seed) * EXACT_SHARE),
        ({ stems }) => stems.length > 1 && stems.some((each) => each === stem),
      )) ||
    seed;
  const second = strongest(
    LEAST_SENTENCES,
    (phrase) => !sharesStem(first, phrase) && phrase.stems.every((each) => !used.has(each)),
  );
  for (const each of [...first.stems, ...(second?.stems ?? [])]) used.add(each);
  const named = [first, ...(second ? [second] : [])].sort((a, b) => b.stems.length - a.stems.length);
  const text = named.map((phrase) => phrase.text).join(" and ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How close a sentence is to a theme. */
export function closeness(cluster: Cluster, vector: Vector | undefined): number {
  return vector ? likeness(cluster.middle, vector) : 0;
}
