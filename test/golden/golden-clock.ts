import { mock } from "node:test";
import type { Clock } from "./retinue.ts";

/** Monday, 16 November 2026, 9:00 in Berlin. */
export const STARTED_AT_MS = Date.parse("2026-11-16T08:00:00Z");

/** Shorter delays are waits between attempts, longer ones limits. */
const SHORT_MS = 1_000;

/** A clock that stands still, except that short waits pass at once and that a scenario can move it. */
export type GoldenClock = Clock & {
  advance(ms: number): void;
  [Symbol.dispose](): void;
};

/** Stops the time of the whole process, `Date` included, until the clock is disposed of. */
export function stopTime(): GoldenClock {
  let passedMs = 0;
  let timers: { atMs: number; fire: () => void }[] = [];
  mock.timers.enable({ apis: ["Date"], now: STARTED_AT_MS });
  const pass = (ms: number) => {
    passedMs += ms;
    mock.timers.setTime(STARTED_AT_MS + passedMs);
  };
  return {
    monotonicMs: () => passedMs,
    wallMs: () => STARTED_AT_MS + passedMs,
    timer(delayMs, fire) {
      if (delayMs < SHORT_MS) {
        const handle = setImmediate(() => {
          pass(Math.max(0, delayMs));
          fire();
        });
        return () => clearImmediate(handle);
      }
      const timer = { atMs: passedMs + delayMs, fire };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance(ms) {
      pass(ms);
      const due = timers.filter(({ atMs }) => atMs <= passedMs).sort((one, other) => one.atMs - other.atMs);
      timers = timers.filter((timer) => !due.includes(timer));
      for (const { fire } of due) fire();
    },
    [Symbol.dispose]: () => mock.timers.reset(),
  };
}
