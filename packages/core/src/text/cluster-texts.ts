import { centroidOf, likeness, type Vector } from "./term-vectors.ts";

const ROUNDS = 4;

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
  for (let round = 0; round < ROUNDS; round++) {
    const middles = groups.map((group) => centroidOf(group.map((at) => vectors[at] ?? new Map())));
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
