import type { Clock } from "@retinue/core/budget/clock";

/** A clock that stands until it is moved; timers fire in their order as it passes them. */
export type StepClock = Clock & { advance(ms: number): void; readonly pending: number };

export function stepClock(startMs = 1_800_000_000_000): StepClock {
  let nowMs = startMs;
  let count = 0;
  const timers = new Map<number, { atMs: number; fire: () => void }>();
  const next = (untilMs: number) =>
    [...timers]
      .filter(([, { atMs }]) => atMs <= untilMs)
      .sort((a, b) => a[1].atMs - b[1].atMs || a[0] - b[0])[0];
  return {
    monotonicMs: () => nowMs - startMs,
    wallMs: () => nowMs,
    timer(delayMs, fire) {
      const id = count++;
      timers.set(id, { atMs: nowMs + delayMs, fire });
      return () => timers.delete(id);
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let due = next(untilMs); due; due = next(untilMs)) {
        const [id, { atMs, fire }] = due;
        timers.delete(id);
        nowMs = Math.max(nowMs, atMs);
        fire();
      }
      nowMs = untilMs;
    },
    get pending() {
      return timers.size;
    },
  };
}
