import { listTerms } from "./terms.ts";

const DAMPING = 0.85;
const ROUNDS = 40;

/** Changes of all weights together that count as none. */
const SETTLED = 1e-9;

/**
 * TextRank: a text weighs as much as the texts like it. `start` says how much each begins with; the weights that come
 * out add up to 1 at most.
 */
export function rankTexts(vectors: readonly Vector[], start: readonly number[]): number[] {
  const links = linksBetween(vectors);
  const sums = links.map(({ strengths }) => strengths.reduce((sum, link) => sum + link, 0) || 1);
  const total = start.reduce((sum, each) => sum + each, 0) || 1;
  const own = start.map((each) => each / total);
  let weights = own;
  for (let round = 0; round < ROUNDS; round++) {
    const given = weights.map((weight, at) => weight / (sums[at] ?? 1));
    const next = links.map(({ others, strengths }, at) => {
      let inflow = 0;
      for (let index = 0; index < others.length; index++)
        inflow += (strengths[index] ?? 0) * (given[others[index] ?? 0] ?? 0);
      return (1 - DAMPING) * (own[at] ?? 0) + DAMPING * inflow;
    });
    const changed = next.reduce((sum, weight, at) => sum + Math.abs(weight - (weights[at] ?? 0)), 0);
    weights = next;
    if (changed < SETTLED) break;
  }
  return weights;
}

/**
 * Takes the texts that weigh most without saying the same thing twice (MMR), the best first. `novelty` is how much a
 * text's own weight counts against its likeness to those already taken; `allowed` may pass over a text for good.
 */
export function pickDiverse(
  vectors: readonly Vector[],
  weights: readonly number[],
  options: { count: number; novelty?: number; allowed?: (at: number, taken: readonly number[]) => boolean },
): number[] {
  const { count, novelty = 0.5, allowed = () => true } = options;
  const highest = weights.reduce((most, each) => Math.max(most, each), 0) || 1;
  const taken: number[] = [];
  const repeated = vectors.map(() => 0);
  const left = new Set(vectors.keys());
  while (taken.length < count && left.size > 0) {
    let best = -1;
    let bestGain = Number.NEGATIVE_INFINITY;
    for (const at of left) {
      const gain = (novelty * (weights[at] ?? 0)) / highest - (1 - novelty) * (repeated[at] ?? 0);
      if (gain > bestGain) [best, bestGain] = [at, gain];
    }
    left.delete(best);
    if (!allowed(best, taken)) continue;
    taken.push(best);
    const chosen = vectors[best] ?? new Map();
    for (const at of left)
      repeated[at] = Math.max(repeated[at] ?? 0, likeness(vectors[at] ?? new Map(), chosen));
  }
  return taken;
}

/** The terms of a text by weight, scaled to length 1. */
export type Vector = ReadonlyMap<string, number>;

/** Terms by how often they are in a text and how few of the texts they are in. */
export function termVectors(texts: readonly string[]): Vector[] {
  const bags = texts.map((text) => Map.groupBy(listTerms(text), (term) => term));
  const holders = new Map<string, number>();
  for (const bag of bags) for (const term of bag.keys()) holders.set(term, (holders.get(term) ?? 0) + 1);
  return bags.map((bag) => {
    const weights = new Map<string, number>();
    for (const [term, uses] of bag)
      weights.set(term, uses.length * Math.log(1 + texts.length / (holders.get(term) ?? 1)));
    return scaled(weights);
  });
}

/** The cosine of two vectors: 1 if they say the same, 0 if they share no term. */
export function likeness(a: Vector, b: Vector): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [term, weight] of small) sum += weight * (large.get(term) ?? 0);
  return sum;
}

/** The texts that one text is like, and how much. */
export type Links = { readonly others: Int32Array; readonly strengths: Float64Array };

/** For each vector all others that share a term with it. Only those are looked at, which for many texts are few. */
export function linksBetween(vectors: readonly Vector[]): Links[] {
  const holders = new Map<string, { at: number; weight: number }[]>();
  for (const [at, vector] of vectors.entries()) {
    for (const [term, weight] of vector) {
      const list = holders.get(term);
      if (list) list.push({ at, weight });
      else holders.set(term, [{ at, weight }]);
    }
  }
  const sums = new Float64Array(vectors.length);
  return vectors.map((vector, own) => {
    sums.fill(0);
    for (const [term, weight] of vector)
      for (const { at, weight: its } of holders.get(term) ?? []) sums[at] = (sums[at] ?? 0) + weight * its;
    sums[own] = 0;
    const others = Int32Array.from([...sums.keys()].filter((at) => (sums[at] ?? 0) > 0));
    return { others, strengths: Float64Array.from(others, (at) => sums[at] ?? 0) };
  });
}

/** What several vectors have in common. */
export function computeCentroid(vectors: readonly Vector[]): Vector {
  const sum = new Map<string, number>();
  for (const vector of vectors)
    for (const [term, weight] of vector) sum.set(term, (sum.get(term) ?? 0) + weight);
  return scaled(sum);
}

function scaled(weights: Map<string, number>): Vector {
  let squares = 0;
  for (const weight of weights.values()) squares += weight * weight;
  const length = Math.sqrt(squares) || 1;
  for (const [term, weight] of weights) weights.set(term, weight / length);
  return weights;
}

const GROUPING_ROUNDS = 4;

/**
 * Groups texts around seeds, which are groups to begin with: each text goes to the group it is most like, groups move to
 * what they hold, and again. A text that is like no group by `least` stays out. A text keeps at most one group.
 */
export function clusterTexts(
  vectors: readonly Vector[],
  seeds: readonly (readonly number[])[],
  least: number,
): number[][] {
  let groups: number[][] = seeds.map((seed) => [...seed]);
  for (let round = 0; round < GROUPING_ROUNDS; round++) {
    const middles = groups.map((group) => computeCentroid(group.map((at) => vectors[at] ?? new Map())));
    const next: number[][] = groups.map(() => []);
    for (const [at, vector] of vectors.entries()) {
      let [best, most] = [-1, least];
      for (const [group, middle] of middles.entries()) {
        const alike = likeness(vector, middle);
        if (alike > most) [best, most] = [group, alike];
      }
      next[best]?.push(at);
    }
    if (JSON.stringify(next) === JSON.stringify(groups)) break;
    groups = next;
  }
  return groups;
}
