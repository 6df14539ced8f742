/** Time as the runtime sees it. Deadlines and durations use the monotonic reading, records the wall clock. */
export type Clock = {
  /** Milliseconds that never jump. */
  monotonicMs(): number;
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Calls back after a delay; returns how to call it off. */
  timer(delayMs: number, fire: () => void): () => void;
};

/** The longest delay that a timer takes; of a longer one it makes none at all. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's own clock. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  timer(delayMs, fire) {
    const handle = setTimeout(fire, Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS));
    return () => clearTimeout(handle);
  },
};

/** Waits, or ends early without an error when the signal fires. */
export function delay(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || delayMs <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = clock.timer(delayMs, done);
    signal.addEventListener("abort", done);
  });
}
