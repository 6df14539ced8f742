import type { Clock } from "@retinue/core/budget/clock";

/** So many at once, and so many a second in the long run. */
export type Rate = { readonly burst: number; readonly perSecond: number };

/** What limits how often each of several may do something. */
type RateLimit = {
  /** Takes one; 0 if there was one, otherwise the seconds after which there will be. */
  take(name: string): number;
};

const MAX_NAMES = 1_000;

/** Creates a limit with a bucket of its own for each name. */
export function createRateLimit({ burst, perSecond }: Rate, clock: Pick<Clock, "monotonicMs">): RateLimit {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    take(name) {
      const nowMs = clock.monotonicMs();
      const before = buckets.get(name) ?? { left: burst, atMs: nowMs };
      const left = Math.min(burst, before.left + ((nowMs - before.atMs) / 1_000) * perSecond);
      buckets.delete(name);
      const isFree = left >= 1;
      buckets.set(name, { left: isFree ? left - 1 : left, atMs: nowMs });
      for (const oldest of buckets.keys()) {
        if (buckets.size <= MAX_NAMES) break;
        buckets.delete(oldest);
      }
      return isFree ? 0 : Math.ceil((1 - left) / perSecond);
    },
  };
}

/** Counts the event streams that each client has open. */
type StreamCount = {
  /** What to call when the stream is over, however often; null if there are too many. */
  open(client: string): (() => void) | null;
};

/** Creates a count that allows each client so many at once. */
export function createStreamCount(most: number): StreamCount {
  const streams = new Map<string, Set<object>>();
  return {
    open(client) {
      const open = streams.get(client) ?? new Set();
      if (open.size >= most) return null;
      const stream = {};
      streams.set(client, open.add(stream));
      return () => {
        open.delete(stream);
        if (open.size === 0 && streams.get(client) === open) streams.delete(client);
      };
    },
  };
}
