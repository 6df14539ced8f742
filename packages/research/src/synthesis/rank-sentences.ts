import { setImmediate as pause } from "node:timers/promises";
import { likeness, pickDiverse, rankTexts, termVectors, type Vector } from "@retinue/core/text/rank-texts";
import { readMarkdown } from "@retinue/core/text/read-markdown";
import { splitSentences } from "@retinue/core/text/split-sentences";
import type { Article } from "../corpus.ts";
import type { Passage } from "../report/report.ts";

/** One sentence of the sources. */
export type Sentence = {
  readonly text: string;
  /** Numbers of the sources it is in, from 1. */
  readonly sources: number[];
  /** How many sentences stand before it in its first source. */
  readonly place: number;
  /** It points back to a sentence that a reader will not have seen. */
  readonly dangling: boolean;
  /** Its source speaks of itself. */
  readonly ownVoice: boolean;
};

/** A table of a source. */
export type SourceTable = {
  readonly rows: readonly (readonly string[])[];
  readonly section: string;
  readonly source: number;
};

/** What there is to make a report of. */
export type ArticleReading = {
  readonly sentences: readonly Sentence[];
  readonly tables: readonly SourceTable[];
  /** Titles and headings, in which authors say themselves what they write about. */
  readonly headings: readonly string[];
};

const MAX_CHARS = 200_000;
/** Sentences of all sources together that are compared with each other. */
const MAX_SENTENCES = 600;
const LEAST_PER_SOURCE = 20;
const MOST_PER_SOURCE = 120;
const SHORTEST = 40;
const LONGEST = 380;
const LEAST_WORDS = 6;
const LEAST_FRAGMENT = 20;
/** With fewer whole sentences than this, fragments such as a search engine's excerpts count as well. */
const TOO_FEW = 4;

const DANGLING =
  /^(?:and|but|or|so|yet|however|therefore|thus|hence|instead|moreover|furthermore|meanwhile|similarly|also|then|still|otherwise|nevertheless|consequently|it|its|they|their|he|she|his|her|both|neither|here|there|(?:one|two|three|another|none|most|some)\s(?:is|are|was|were|had|has|of them))\b/i;
/** Words that point to what was said before, if they are near the beginning. */
const POINTING =
  /^(?:\S+\s){0,4}(?:this|these|those|them|such|same|then|earlier|former|latter|first one|others?)\b/i;
/** A source that speaks of itself; out of its place nobody knows who speaks. */
const OWN_VOICE = /\b(?:I|[Ww]e|[Oo]urs?|us|[Mm]y|me|mine)\b/;
const WHOLLY_QUOTED = /^["“«][^"“”«»]*["”»]?[.!]?["”»]?$/;
const BOILERPLATE =
  /\b(?:cookies?|subscribe|newsletter|sign up|log ?in|all rights reserved|terms of (?:use|service)|privacy policy|click here|read more|advertisement|javascript|share this|related articles?|copyright|©)\b/i;

/** The sentences and tables of articles, which get their numbers by their order. */
export async function readArticles(articles: readonly Article[]): Promise<ArticleReading> {
  const most = Math.floor(MAX_SENTENCES / Math.max(1, articles.length));
  const perSource = Math.min(MOST_PER_SOURCE, Math.max(LEAST_PER_SOURCE, most));
  const known = new Map<string, Sentence>();
  const tables: SourceTable[] = [];
  const headings = new Set<string>();
  for (const [at, article] of articles.entries()) {
    await pause();
    const source = at + 1;
    const blocks = readMarkdown(article.content.slice(0, MAX_CHARS));
    const texts: string[] = [];
    for (const heading of [article.title, ...blocks.map(({ section }) => section)]) headings.add(heading);
    for (const block of blocks) {
      if (block.kind === "table") tables.push({ rows: block.rows, section: block.section, source });
      else texts.push(...splitSentences(block.text));
    }
    for (const [place, text] of keepProse(texts).slice(0, perSource).entries()) {
      const same = known.get(text);
      if (!same) known.set(text, { text, sources: [source], place, ...judgeStanding(text) });
      else if (!same.sources.includes(source)) same.sources.push(source);
    }
  }
  return { sentences: [...known.values()], tables, headings: [...headings] };
}

function judgeStanding(text: string): Pick<Sentence, "dangling" | "ownVoice"> {
  return { dangling: DANGLING.test(text) || POINTING.test(text), ownVoice: OWN_VOICE.test(text) };
}

function keepProse(texts: readonly string[]): string[] {
  const whole = texts.filter(isWholeSentence);
  if (whole.length >= TOO_FEW) return whole;
  return texts.filter(
    (text) => text.length >= LEAST_FRAGMENT && text.length <= LONGEST && !BOILERPLATE.test(text),
  );
}

function isWholeSentence(text: string): boolean {
  return (
    text.length >= SHORTEST &&
    text.length <= LONGEST &&
    /^["'“‘«(]?[\p{Lu}\d]/u.test(text) &&
    /[.!…]["'”’»)\]]*$/.test(text) &&
    text.split(" ").length >= LEAST_WORDS &&
    !/[|{}]|https?:/.test(text) &&
    !BOILERPLATE.test(text) &&
    !WHOLLY_QUOTED.test(text) &&
    hasPairedQuotes(text)
  );
}

/** A sentence cut out of a longer quotation would pass for its author's own words. */
function hasPairedQuotes(text: string): boolean {
  const opened = text.match(/[“«]/g)?.length ?? 0;
  const closed = text.match(/[”»]/g)?.length ?? 0;
  return opened === closed && (text.match(/"/g)?.length ?? 0) % 2 === 0;
}

/** A sentence with what it is about and how much it weighs. */
export type RankedSentence = Sentence & { readonly vector: Vector; readonly weight: number };

const EARLY_BONUS = 1;
const ASKED_BONUS = 3;
const DANGLING_SHARE = 0.3;
const OWN_VOICE_SHARE = 0.5;
/** Likeness from which another source says much the same. */
const SAYS_THE_SAME = 0.5;

/** A sentence as it is cited, with those of all sources that say much the same. */
export function citeSentence(sentence: RankedSentence, all: readonly RankedSentence[]): Passage {
  const { text, sources: cites, vector } = sentence;
  const similar = all.filter(
    (other) => other !== sentence && likeness(vector, other.vector) >= SAYS_THE_SAME,
  );
  const also = new Set(similar.flatMap(({ sources }) => sources).filter((source) => !cites.includes(source)));
  return { text, cites, ...(also.size > 0 && { also: [...also].sort((a, b) => a - b) }) };
}

/** Ranks sentences by how much they share with the others, how early they are and how close they are to what was asked. */
export function rankSentences(sentences: readonly Sentence[], about: string): RankedSentence[] {
  const vectors = termVectors([...sentences.map(({ text }) => text), about]);
  const asked = vectors.pop() ?? new Map();
  const start = sentences.map(
    ({ place }, at) =>
      1 + EARLY_BONUS / (1 + place) + ASKED_BONUS * likeness(vectors[at] ?? new Map(), asked),
  );
  const ranks = rankTexts(vectors, start);
  return sentences.map((sentence, at) => ({
    ...sentence,
    vector: vectors[at] ?? new Map(),
    weight: (ranks[at] ?? 0) * (0.3 + (start[at] ?? 0)) * weighSentence(sentence),
  }));
}

/** The part of a sentence's weight that it keeps when it is alone. */
function weighSentence({ dangling, ownVoice }: Sentence): number {
  return (dangling ? DANGLING_SHARE : 1) * (ownVoice ? OWN_VOICE_SHARE : 1);
}

/** A sentence that may be picked, and what that would be worth. */
type Candidate = { readonly sentence: RankedSentence; readonly worth: number };

/** How sentences are picked; `fits` may pass over one for good. */
type PickOptions = {
  count: number;
  perSource: number;
  novelty?: number;
  fits?: (sentence: RankedSentence) => boolean;
};

/** The sentences that are worth most without saying the same thing twice, the best first, and at most so many of one source. */
export function pickSentences<Type extends Candidate>(
  candidates: readonly Type[],
  { count, perSource, novelty = 0.5, fits = () => true }: PickOptions,
): Type[] {
  const taken = new Map<number | undefined, number>();
  const allowed = (at: number) => {
    const { sentence } = candidates[at] ?? {};
    if (!sentence || !fits(sentence)) return false;
    const [source] = sentence.sources;
    const own = (taken.get(source) ?? 0) + 1;
    taken.set(source, own);
    return own <= perSource;
  };
  const vectors = candidates.map(({ sentence }) => sentence.vector);
  const worths = candidates.map(({ worth }) => worth);
  return pickDiverse(vectors, worths, { count, novelty, allowed }).flatMap((at) => candidates[at] ?? []);
}
