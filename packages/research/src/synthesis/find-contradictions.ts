import { linksBetween } from "@retinue/core/text/rank-texts";
import { isStopWord, listTerms, stemWord } from "@retinue/core/text/terms";
import type { Contradiction } from "../report/report.ts";
import { type Figure, findFigures } from "./figures.ts";
import type { RankedSentence } from "./rank-sentences.ts";

/** Two sentences of different sources that are alike. */
type AlikePair = { a: RankedSentence; b: RankedSentence; score: number };
type Pair = AlikePair & { topic: string; unit: string };

const ALIKE_FIGURES = 0.4;
const LEAST_SHARED = 3;
const MOST_PAIRS = 2_000;
/** Figures that differ by less are taken for the same, rounded. */
const SAME_WITHIN = 0.05;
const MOST_GROUPS = 6;
const MOST_CLAIMS = 4;
/** A sentence with more figures of one unit lists them, and which of them is meant cannot be told. */
const MOST_OF_UNIT = 2;
/** Words of numbers, which name nothing. */
const SCALES = new Set(["thousand", "million", "billion", "trillion", "percent", "cent"]);
/** Sentences of different sources on the same thing whose numbers differ. */
export function findContradictions(sentences: readonly RankedSentence[]): Contradiction[] {
  return groupPairs(findDiffering(findAlike(sentences)))
    .map(makeContradiction)
    .slice(0, MOST_GROUPS);
}

/** Sentences of different sources that are alike, each pair once, the most alike first. */
function findAlike(sentences: readonly RankedSentence[]): AlikePair[] {
  const pairs: AlikePair[] = [];
  for (const [at, { others, strengths }] of linksBetween(sentences.map(({ vector }) => vector)).entries()) {
    const a = sentences[at];
    for (const [index, other] of others.entries()) {
      const b = sentences[other];
      const score = strengths[index] ?? 0;
      if (!a || !b || other < at || score < ALIKE_FIGURES) continue;
      if (!b.sources.some((source) => a.sources.includes(source))) pairs.push({ a, b, score });
    }
  }
  return pairs.sort((x, y) => y.score - x.score).slice(0, MOST_PAIRS);
}

/** Of pairs that are alike, those whose numbers differ, with the unit in which they do. */
function findDiffering(alike: readonly AlikePair[]): Pair[] {
  return alike.flatMap((pair) => {
    const { a, b } = pair;
    const unit = compareNumbers(a.text, b.text);
    const topic = unit === null ? null : findSharedWords(a.text, b.text);
    return unit !== null && topic?.includes(" ") ? [{ ...pair, topic, unit }] : [];
  });
}

/** The unit of which both have a number, too far apart to be the same rounded. */
function compareNumbers(a: string, b: string): string | null {
  const [ours, theirs] = [findFigures(a), findFigures(b)];
  for (const { unit } of ours) {
    const [mine, other] = [ours, theirs].map((figures) => figures.filter((each) => each.unit === unit));
    if (!mine || !other?.length || mine.length > MOST_OF_UNIT || other.length > MOST_OF_UNIT) continue;
    if (mine.every((one) => other.every((each) => areFarApart(one, each)))) return unit;
  }
  return null;
}

function areFarApart(a: Figure, b: Figure): boolean {
  return Math.abs(a.amount - b.amount) > SAME_WITHIN * Math.max(a.amount, b.amount);
}

/** The longest run of words of the first text that are all in the second; null if they share too little. */
function findSharedWords(a: string, b: string): string | null {
  const theirs = new Set(listTerms(b));
  const shared = new Set(listTerms(a).filter((term) => theirs.has(term)));
  if (shared.size < LEAST_SHARED) return null;
  let [best, most]: [string[], number] = [[], 0];
  let [run, length]: [string[], number] = [[], 0];
  for (const word of a.match(/[\p{L}][\p{L}\p{N}'’-]*|[^\s]/gu) ?? []) {
    const parts = word.toLowerCase().split("-");
    const common = parts.some((part) => shared.has(stemWord(part)) && !isStopWord(part) && !SCALES.has(part));
    if (!common && !(run.length > 0 && /^(?:of|in|for|a|an|the|to)$/i.test(word))) {
      [run, length] = [[], 0];
      continue;
    }
    run.push(word);
    if (common && ++length > most) [best, most] = [[...run], length];
  }
  return best.join(" ") || [...shared].join(" ");
}

type Group = { members: RankedSentence[]; topic: string; unit: string };

/** Pairs on one thing become a group, in which every statement differs from every other. */
function groupPairs(pairs: readonly Pair[]): Group[] {
  const groups: Group[] = [];
  for (const { a, b, topic, unit } of pairs) {
    const goesWith = (sentence: RankedSentence, { members }: Group) =>
      members.every(
        (member) =>
          member === sentence ||
          pairs.some(
            (pair) =>
              pair.unit === unit && [pair.a, pair.b].every((each) => each === sentence || each === member),
          ),
      );
    const known = groups.find(
      ({ members, unit: its }) => its === unit && (members.includes(a) || members.includes(b)),
    );
    if (!known) groups.push({ members: [a, b], topic, unit });
    else if (known.members.length < MOST_CLAIMS && [a, b].every((sentence) => goesWith(sentence, known)))
      known.members = [...new Set([...known.members, a, b])];
  }
  return groups;
}

function makeContradiction({ members, topic, unit }: Group): Contradiction {
  const values = members.flatMap(
    ({ text }) => findFigures(text).find((each) => each.unit === unit)?.text ?? [],
  );
  const name = topic.charAt(0).toUpperCase() + topic.slice(1);
  return {
    topic: values.length > 1 ? `${name}: ${values.join(" or ")}` : name,
    note: describeFigures(members.map(({ text }) => text)),
    claims: members.map(({ text, sources }) => ({ text, cites: sources })),
  };
}

function describeFigures(texts: readonly string[]): string {
  const years = texts.map((text) => text.match(/\b(?:19|20)\d\d\b/g) ?? []);
  const named = [...new Set(years.flat())];
  const differ = named.length > 1 && years.every((each) => each.length > 0);
  return differ
    ? `The figures differ, and they speak of different years (${named.sort().join(", ")}); this may be a change and no conflict.`
    : "The figures differ. They may be measured differently or at different times; read both before relying on either.";
}
