/** Counts the event streams that each client has open. */
export type StreamCount = {
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
