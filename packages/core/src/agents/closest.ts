import { measureDistance } from "../text/edit-distance.ts";

/** Longest name worth comparing; longer ones are never a slip of the pen. */
const MAX_LENGTH = 64;

/** The candidate a person most likely meant, or undefined when nothing is near enough. */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  const limit = wanted.length <= 3 ? 1 : wanted.length <= 7 ? 2 : 3;
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (candidate === name || Math.abs(candidate.length - name.length) > limit) continue;
    const distance = measureDistance(wanted, candidate.toLowerCase(), limit);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** ` did you mean 'x'?` with its leading punctuation, or nothing. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const best = closest(name, candidates);
  return best === undefined ? "" : `; did you mean '${best}'?`;
}
