// A record that keeps nothing, to measure what recording costs. Seqs and commits behave as in the real one.
export function createNullRecord() {
  let id = 1;
  let seq = 0;
  return {
    async reserveRowIds(count) {
      const first = id;
      id += count;
      return first;
    },
    append({ onCommit }) {
      if (onCommit) setImmediate(onCommit, ++seq);
    },
    committed: () => Promise.resolve(),
    written: () => Promise.resolve(),
    takeLease: async () => async () => {},
    startSession: async () => {},
    hasUntrusted: async () => false,
    listApprovals: async () => [],
    listStops: async () => [],
    forgetStops: async () => {},
    close: async () => {},
  };
}
