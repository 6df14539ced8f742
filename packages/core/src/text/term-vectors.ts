import { termsOf } from "./terms.ts";

/** The terms of a text by weight, scaled to length 1. */
export type Vector = ReadonlyMap<string, number>;

/** Terms by how often they stand in a text and how few of the texts they stand in. */
export function termVectors(texts: readonly string[]): Vector[] {
  const bags = texts.map((text) => Map.groupBy(termsOf(text), (term) => term));
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
export function centroidOf(vectors: readonly Vector[]): Vector {
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
