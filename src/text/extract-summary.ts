import { termsOf } from "./terms.ts";

/** What a summary is taken by. */
export type SummaryOptions = {
  /** At most this many sentences. */
  count: number;
  /** What the reader wants to know; sentences close to it weigh more. */
  about?: string;
};

type Vector = ReadonlyMap<string, number>;

const MAX_SENTENCES = 300;
const DAMPING = 0.85;
const ROUNDS = 40;
/** How much a sentence's own weight counts against its likeness to those already taken. */
const NOVELTY = 0.5;
/** The share of the start weight that falls with the place in the text. */
const EARLY_BONUS = 0.5;
/** How much more a sentence weighs that is all about what the reader asks. */
const ASKED_BONUS = 8;

/**
 * The sentences that say most of a text, in the order they stand (TextRank): a sentence weighs as much as the
 * sentences like it, likeness being the cosine of their rarer words; early ones and those close to `about` start with
 * more, and one that repeats what was taken is passed over for one that does not.
 */
export function extractSummary(
  sentences: readonly string[],
  { count, about = "" }: SummaryOptions,
): string[] {
  const shown = [...new Set(sentences)].slice(0, MAX_SENTENCES);
  if (shown.length <= count) return shown;
  const vectors = vectorsOf([...shown, about]);
  const question = vectors.pop() ?? new Map();
  const weights = rank(vectors, question);
  return pick(vectors, weights, count).map((index) => shown[index] ?? "");
}

/** Words by how often they stand in a text and how few texts they stand in, scaled to length 1. */
function vectorsOf(texts: readonly string[]): Vector[] {
  const bags = texts.map((text) => Map.groupBy(termsOf(text), (term) => term));
  const holders = new Map<string, number>();
  for (const bag of bags) for (const term of bag.keys()) holders.set(term, (holders.get(term) ?? 0) + 1);
  return bags.map((bag) => {
    const weights = new Map<string, number>();
    for (const [term, uses] of bag) {
      weights.set(term, uses.length * Math.log(1 + texts.length / (holders.get(term) ?? 1)));
    }
    const length = Math.hypot(...weights.values()) || 1;
    for (const [term, weight] of weights) weights.set(term, weight / length);
    return weights;
  });
}

function likeness(a: Vector, b: Vector): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [term, weight] of small) sum += weight * (large.get(term) ?? 0);
  return sum;
}

function rank(vectors: readonly Vector[], question: Vector): number[] {
  const links = vectors.map((one, i) => vectors.map((other, j) => (i === j ? 0 : likeness(one, other))));
  const sums = links.map((row) => row.reduce((sum, link) => sum + link, 0));
  const wanted = vectors.map(
    (vector, index) => 1 + EARLY_BONUS / (1 + index) + ASKED_BONUS * likeness(vector, question),
  );
  const total = wanted.reduce((sum, each) => sum + each, 0);
  const start = wanted.map((each) => each / total);
  let weights = start;
  for (let round = 0; round < ROUNDS; round++) {
    const before = weights;
    weights = start.map((own, i) => {
      let inflow = 0;
      for (const [j, sum] of sums.entries())
        if (sum > 0) inflow += ((links[j]?.[i] ?? 0) / sum) * (before[j] ?? 0);
      return (1 - DAMPING) * own + DAMPING * inflow;
    });
  }
  return weights.map((weight, index) => weight * (0.2 + (wanted[index] ?? 0)));
}

function pick(vectors: readonly Vector[], weights: readonly number[], count: number): number[] {
  const highest = Math.max(...weights) || 1;
  const taken: number[] = [];
  const left = new Set(vectors.keys());
  while (taken.length < count && left.size > 0) {
    let best = -1;
    let bestGain = Number.NEGATIVE_INFINITY;
    for (const index of left) {
      const own = vectors[index] ?? new Map();
      const repeated = Math.max(0, ...taken.map((each) => likeness(own, vectors[each] ?? new Map())));
      const gain = (NOVELTY * (weights[index] ?? 0)) / highest - (1 - NOVELTY) * repeated;
      if (gain > bestGain) [best, bestGain] = [index, gain];
    }
    taken.push(best);
    left.delete(best);
  }
  return taken.sort((a, b) => a - b);
}
