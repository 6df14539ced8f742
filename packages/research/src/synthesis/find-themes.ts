import { type KeyPhrase, keyPhrases } from "@retinue/core/text/key-phrases";
import { clusterTexts, computeCentroid, likeness, type Vector } from "@retinue/core/text/rank-texts";
import { listTerms } from "@retinue/core/text/terms";
import type { Passage, Theme } from "../report/report.ts";
import { citeSentence, pickSentences, type RankedSentence, type Sentence } from "./rank-sentences.ts";

/** Sentences on one thing. */
export type ThemeCluster = {
  readonly heading: string;
  readonly members: readonly RankedSentence[];
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
  sentences: readonly RankedSentence[],
  headings: readonly string[],
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
    sentences.map(({ vector }) => vector),
    seeds.map((seed) => seed.sentences),
    ALIKE,
  );
  const used = new Set<string>();
  return groups.flatMap((group, at): ThemeCluster[] => {
    const seed = seeds[at];
    if (!seed || group.length < LEAST_SENTENCES) return [];
    const heading = nameTheme(seed, phrases, { inside: new Set(group), used });
    const members = group.flatMap((index) => sentences[index] ?? []);
    return [{ heading, members, middle: computeCentroid(members.map(({ vector }) => vector)) }];
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
  const all = countVoices(sentences);
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
  { inside, used }: { inside: ReadonlySet<number>; used: Set<string> },
): string {
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
export function weaveTheme(
  { heading, members, middle }: ThemeCluster,
  all: readonly RankedSentence[],
  used: Set<RankedSentence>,
): Theme | null {
  const candidates = members
    .filter((sentence) => !used.has(sentence))
    .map((sentence) => ({ sentence, worth: sentence.weight * (0.3 + likeness(middle, sentence.vector)) }));
  const picked = pickSentences(candidates, {
    count: MOST_SENTENCES,
    perSource: PER_SOURCE,
    novelty: 0.6,
    fits: ({ dangling }) => !dangling,
  }).map(({ sentence }) => sentence);
  if (picked.length < LEAST_WOVEN || countVoices(picked) < Math.min(LEAST_VOICES, countVoices(all)))
    return null;
  for (const sentence of picked) used.add(sentence);
  const passages = chainSentences(picked).map((sentence) => citeSentence(sentence, all));
  return { heading, paragraphs: splitParagraphs(passages) };
}

function countVoices(sentences: readonly Sentence[]): number {
  return new Set(sentences.flatMap(({ sources }) => sources)).size;
}

/** Begins with the best and continues with what is closest to the last, sooner from another source. */
function chainSentences([first, ...others]: readonly RankedSentence[]): RankedSentence[] {
  if (!first) return [];
  const chain = [first];
  const left = new Set(others);
  for (let last = first; left.size > 0; ) {
    const { vector, sources } = last;
    const worth = (other: RankedSentence) =>
      likeness(vector, other.vector) + (other.sources[0] === sources[0] ? 0 : OTHER_VOICE);
    last = [...left].reduce((a, b) => (worth(b) > worth(a) ? b : a));
    chain.push(last);
    left.delete(last);
  }
  return chain;
}

/** Paragraphs of about equal length. */
function splitParagraphs(passages: readonly Passage[]): Passage[][] {
  const count = Math.ceil(passages.length / PER_PARAGRAPH);
  const size = Math.ceil(passages.length / count);
  return Array.from({ length: count }, (_, at) => passages.slice(at * size, (at + 1) * size)).filter(
    (paragraph) => paragraph.length > 0,
  );
}
