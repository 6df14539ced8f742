// A record that keeps nothing, to measure what recording costs. Seqs and commits behave as in the real one.
export function nullStore() {
  let id = 0;
  let seq = 0;
  const later = (onCommit) => onCommit && setImmediate(onCommit, ++seq);
  return {
    open(_row, onCommit) {
      later(onCommit);
      return ++id;
    },
    close(_id, _session, _closing, onCommit) {
      later(onCommit);
    },
    committed: () => Promise.resolve(),
    savePrompt: () => "none",
    takeLease: () => () => {},
    startSession() {},
    updateSession() {},
    hasUntrusted: () => false,
    endSession() {},
    stopsAsked: () => [],
    forgetStops() {},
    approvalOf() {},
    shutdown: () => Promise.resolve(),
  };
}
