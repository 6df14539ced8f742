import { type KeyPhrase, keyPhrases } from "@retinue/core/text/key-phrases";
import {
  clusterTexts,
  computeCentroid,
  likeness,
  pickDiverse,
  type Vector,
} from "@retinue/core/text/rank-texts";
import { listTerms } from "@retinue/core/text/terms";
import type { Passage, Theme } from "../report/report.ts";
import {
  type ArticleReading,
  citeSentence,
  limitPerSource,
  type RankedSentences,
  type Sentence,
} from "./rank-sentences.ts";

/** Sentences on one thing. */
type ThemeCluster = {
  readonly heading: string;
  /** Indexes of its sentences. */
  readonly members: readonly number[];
  readonly middle: Vector;
};

const MOST_THEMES = 7;
const LEAST_THEMES = 2;
const LEAST_SENTENCES = 3;
const ALIKE = 0.12;
/** How often a longer phrase must be in a theme to name it in place of its one word. */
const EXACT_SHARE = 0.3;
/** Two phrases whose sentences overlap by more are one theme. */
const OVERLAP = 0.34;
/** A phrase in more than this share of the sentences is the topic itself. */
const TOO_COMMON = 0.3;

/** Themes across the sources: sentences around the phrases that most of them share. */
export function findThemes(
  { sentences, headings }: Pick<ArticleReading, "sentences" | "headings">,
  vectors: readonly Vector[],
  topic: string,
): ThemeCluster[] {
  const asked = new Set(listTerms(topic));
  const named = new Set(headings.flatMap(listTerms));
  const phrases = keyPhrases(sentences.map(({ text }) => text)).filter(
    ({ stems, sentences: uses }) =>
      uses.length <= Math.max(LEAST_SENTENCES, TOO_COMMON * sentences.length) &&
      !stems.every((stem) => asked.has(stem)) &&
      (stems.length > 1 || named.has(stems[0] ?? "")),
  );
  const seeds = pickSeeds(phrases, sentences, named);
  const groups = clusterTexts(
    vectors,
    seeds.map((seed) => seed.sentences),
    ALIKE,
  );
  const used = new Set<string>();
  return groups.flatMap((members, at): ThemeCluster[] => {
    const seed = seeds[at];
    if (!seed || members.length < LEAST_SENTENCES) return [];
    const middle = computeCentroid(members.map((member) => vectors[member] ?? new Map()));
    return [{ heading: nameTheme(seed, phrases, { members, used }), members, middle }];
  });
}

/** The strongest phrases that are about different sentences; those of several sources and of headings come first. */
function pickSeeds(
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
function nameTheme(
  seed: KeyPhrase,
  phrases: readonly KeyPhrase[],
  { members, used }: { members: readonly number[]; used: Set<string> },
): string {
  const inside = new Set(members);
  const countUses = (phrase: KeyPhrase) => phrase.sentences.filter((at) => inside.has(at)).length;
  const strongest = (least: number, fits: (phrase: KeyPhrase) => boolean) =>
    phrases
      .filter((phrase) => fits(phrase) && countUses(phrase) >= least)
      .map((phrase) => ({
        phrase,
        score: (countUses(phrase) ** 2 * phrase.stems.length) / phrase.sentences.length,
      }))
      .reduce<{ phrase?: KeyPhrase; score: number }>((a, b) => (b.score > a.score ? b : a), { score: 0 })
      .phrase;
  const [stem] = seed.stems;
  const first =
    (seed.stems.length === 1 &&
      strongest(
        Math.max(2, countUses(seed) * EXACT_SHARE),
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

const MOST_SENTENCES = 9;
const LEAST_WOVEN = 2;
const LEAST_VOICES = 2;
const PER_SOURCE = 3;
const PER_PARAGRAPH = 3;
/** How much a sentence of another source is preferred to continue with. */
const OTHER_VOICE = 0.15;

/** A theme's best sentences, put so that each follows from the one before it; null if too few are left, or all of one source. */
export function weaveTheme(ranked: RankedSentences, cluster: ThemeCluster, used: Set<number>): Theme | null {
  const free = cluster.members.filter((at) => !used.has(at));
  const find = (index: number) => ranked.sentences[free[index] ?? -1];
  const mayTake = limitPerSource(PER_SOURCE, (index) => find(index)?.sources[0]);
  const vectors = free.map((at) => ranked.vectors[at] ?? new Map());
  const picked = pickDiverse(
    vectors,
    free.map(
      (at, index) =>
        (ranked.weights[at] ?? 0) * (0.3 + likeness(cluster.middle, vectors[index] ?? new Map())),
    ),
    {
      count: MOST_SENTENCES,
      novelty: 0.6,
      allowed: (index) => find(index)?.dangling === false && mayTake(index),
    },
  ).flatMap((index) => free[index] ?? []);
  const voices = new Set(picked.flatMap((at) => ranked.sentences[at]?.sources ?? [])).size;
  const all = new Set(ranked.sentences.flatMap(({ sources }) => sources)).size;
  if (picked.length < LEAST_WOVEN || voices < Math.min(LEAST_VOICES, all)) return null;
  for (const at of picked) used.add(at);
  return { heading: cluster.heading, paragraphs: splitParagraphs(chainSentences(picked, ranked), ranked) };
}

/** Begins with the best and continues with what is closest to the last, sooner from another source. */
function chainSentences(picked: readonly number[], { sentences, vectors }: RankedSentences): number[] {
  const [first, ...others] = picked;
  if (first === undefined) return [];
  const chain = [first];
  const left = new Set(others);
  while (left.size > 0) {
    const last = chain.at(-1) ?? first;
    const worth = (at: number) =>
      likeness(vectors[last] ?? new Map(), vectors[at] ?? new Map()) +
      (sentences[at]?.sources[0] === sentences[last]?.sources[0] ? 0 : OTHER_VOICE);
    const next = [...left].reduce((a, b) => (worth(b) > worth(a) ? b : a));
    chain.push(next);
    left.delete(next);
  }
  return chain;
}

/** Paragraphs of about equal length. */
function splitParagraphs(chain: readonly number[], ranked: RankedSentences): Passage[][] {
  const count = Math.ceil(chain.length / PER_PARAGRAPH);
  const size = Math.ceil(chain.length / count);
  return Array.from({ length: count }, (_, at) =>
    chain.slice(at * size, (at + 1) * size).map((index) => citeSentence(ranked, index)),
  ).filter((paragraph) => paragraph.length > 0);
}
