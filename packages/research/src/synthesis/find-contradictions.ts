import { linksBetween, type Vector } from "@retinue/core/text/rank-texts";
import { isStopWord, listTerms, stemWord } from "@retinue/core/text/terms";
import type { Contradiction } from "../report/report.ts";
import { type Figure, findFigures } from "./figures.ts";
import type { Sentence } from "./rank-sentences.ts";

/** Sentences with their vectors, at the same indexes. */
type Compared = { readonly sentences: readonly Sentence[]; readonly vectors: readonly Vector[] };
type Pair = { a: number; b: number; score: number; topic: string; unit: string };

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
export function findContradictions(compared: Compared): Contradiction[] {
  return groupPairs(findDiffering(findAlike(compared), compared.sentences))
    .map((group) => makeContradiction(compared, group))
    .slice(0, MOST_GROUPS);
}

/** Sentences of different sources that are alike, each pair once, the most alike first. */
function findAlike({ sentences, vectors }: Compared): { a: number; b: number; score: number }[] {
  const pairs: { a: number; b: number; score: number }[] = [];
  for (const [a, { others, strengths }] of linksBetween(vectors).entries()) {
    const own = sentences[a]?.sources ?? [];
    for (const [index, b] of others.entries()) {
      const score = strengths[index] ?? 0;
      if (b < a || score < ALIKE_FIGURES) continue;
      if (!sentences[b]?.sources.some((source) => own.includes(source))) pairs.push({ a, b, score });
    }
  }
  return pairs.sort((x, y) => y.score - x.score).slice(0, MOST_PAIRS);
}

/** Of pairs that are alike, those whose numbers differ, with the unit in which they do. */
function findDiffering(alike: ReturnType<typeof findAlike>, sentences: readonly Sentence[]): Pair[] {
  return alike.flatMap(({ a, b, score }) => {
    const [one = "", other = ""] = [sentences[a]?.text, sentences[b]?.text];
    const unit = compareNumbers(one, other);
    const topic = unit === null ? null : findSharedWords(one, other);
    return unit !== null && topic?.includes(" ") ? [{ a, b, score, topic, unit }] : [];
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

type Group = { members: number[]; topic: string; unit: string };

/** Pairs on one thing become a group, in which every statement differs from every other. */
function groupPairs(pairs: readonly Pair[]): Group[] {
  const groups: Group[] = [];
  for (const { a, b, topic, unit } of pairs) {
    const goesWith = (at: number, { members }: Group) =>
      members.every(
        (member) =>
          member === at ||
          pairs.some(
            (pair) => pair.unit === unit && [pair.a, pair.b].every((each) => each === at || each === member),
          ),
      );
    const known = groups.find(
      ({ members, unit: its }) => its === unit && (members.includes(a) || members.includes(b)),
    );
    if (!known) groups.push({ members: [a, b], topic, unit });
    else if (known.members.length < MOST_CLAIMS && [a, b].every((at) => goesWith(at, known)))
      known.members = [...new Set([...known.members, a, b])];
  }
  return groups;
}

function makeContradiction({ sentences }: Compared, { members, topic, unit }: Group): Contradiction {
  const claims = members.flatMap((at) => sentences[at] ?? []);
  const values = claims.flatMap(
    ({ text }) => findFigures(text).find((each) => each.unit === unit)?.text ?? [],
  );
  const name = topic.charAt(0).toUpperCase() + topic.slice(1);
  return {
    topic: values.length > 1 ? `${name}: ${values.join(" or ")}` : name,
    note: describeFigures(claims.map(({ text }) => text)),
    claims: claims.map(({ text, sources }) => ({ text, cites: sources })),
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
