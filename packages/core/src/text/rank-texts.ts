import { likeness, linksBetween, type Vector } from "./term-vectors.ts";

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
