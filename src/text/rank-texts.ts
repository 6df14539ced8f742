import { likeness, type Vector } from "./term-vectors.ts";

const DAMPING = 0.85;
const ROUNDS = 40;

/** One text's likeness to each of the others it shares a term with. */
type Links = ReadonlyMap<number, number>;

/**
 * TextRank: a text weighs as much as the texts like it. `start` says how much each begins with; the weights that come
 * out add up to 1 at most.
 */
export function rankTexts(vectors: readonly Vector[], start: readonly number[]): number[] {
  const links = linksOf(vectors);
  const sums = links.map((row) => [...row.values()].reduce((sum, link) => sum + link, 0));
  const total = start.reduce((sum, each) => sum + each, 0) || 1;
  const own = start.map((each) => each / total);
  let weights = own;
  for (let round = 0; round < ROUNDS; round++) {
    const before = weights;
    weights = links.map((row, at) => {
      let inflow = 0;
      for (const [other, link] of row) inflow += (link / (sums[other] || 1)) * (before[other] ?? 0);
      return (1 - DAMPING) * (own[at] ?? 0) + DAMPING * inflow;
    });
  }
  return weights;
}

/** Only texts that share a term are compared, which for many texts is a small part of all pairs. */
function linksOf(vectors: readonly Vector[]): Links[] {
  const holders = new Map<string, [at: number, weight: number][]>();
  for (const [at, vector] of vectors.entries()) {
    for (const [term, weight] of vector) {
      const list = holders.get(term);
      if (list) list.push([at, weight]);
      else holders.set(term, [[at, weight]]);
    }
  }
  return vectors.map((vector, at) => {
    const row = new Map<number, number>();
    for (const [term, weight] of vector) {
      for (const [other, its] of holders.get(term) ?? [])
        if (other !== at) row.set(other, (row.get(other) ?? 0) + weight * its);
    }
    return row;
  });
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
