/** Waits for work, but no longer than until the signal fires; then it rejects, and what comes later is dropped. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("the run was stopped"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const leave = () => signal.removeEventListener("abort", stop);
    return work.then(
      (value) => {
        leave();
        resolve(value);
      },
      (thrown) => {
        leave();
        reject(thrown);
      },
    );
  });
}
