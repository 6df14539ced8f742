import type { RunStats, Share } from "../../../../src/schema/stats.ts";

/** A share of one as a whole percentage. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}`;
}

/** A success rate with its interval: `83 % (44–97, n=6)`. */
export function showShare({ rate, low, high, n }: Share): string {
  return `${percent(rate)} % (${percent(low)}–${percent(high)}, n=${n.toLocaleString("en-US")})`;
}

/** How many of the runs have ended of themselves; those that were cancelled are neither successes nor failures. */
export function endedOf({ runs, open, cancelled }: Pick<RunStats, "runs" | "open" | "cancelled">): number {
  return runs - open - cancelled;
}

/** Counts by reason in words: `max iterations 2, timeout 1`. */
export function showCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`)
    .join(", ");
}

/** All of the counts together. */
export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
