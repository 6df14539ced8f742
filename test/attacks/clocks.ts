import type { Clock } from "@retinue/core/budget/clock";

/** A clock that only moves when told to; the wall clock can jump by itself. */
export type HandClock = Clock & { advance(ms: number): void; jumpWall(ms: number): void };

/** Creates a clock that stands still until it is advanced. */
export function handClock(): HandClock {
  let now = 0;
  let offset = Date.UTC(2030, 0, 1);
  let timers: { at: number; fire: () => void }[] = [];
  return {
    monotonicMs: () => now,
    wallMs: () => offset + now,
    timer(delayMs, fire) {
      const timer = { at: now + Math.max(0, delayMs), fire };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance(ms) {
      now += ms;
      const due = timers.filter((timer) => timer.at <= now).sort((a, b) => a.at - b.at);
      timers = timers.filter((timer) => timer.at > now);
      for (const timer of due) timer.fire();
    },
    jumpWall: (ms) => {
      offset += ms;
    },
  };
}

const IDLE_ROUNDS = 5;

/** A clock that leaps to the next timer as soon as nothing else happens; only for worlds without real I/O. */
export function leapingClock(): Clock {
  const clock = handClock();
  const due: number[] = [];
  let watching = false;
  const watch = (idle: number) => {
    setImmediate(() => {
      if (idle < IDLE_ROUNDS) return watch(idle + 1);
      const next = due.sort((a, b) => a - b).shift();
      watching = due.length > 0;
      if (next !== undefined) clock.advance(Math.max(0, next - clock.monotonicMs()));
      if (watching) watch(0);
    });
  };
  return {
    ...clock,
    timer(delayMs, fire) {
      const at = clock.monotonicMs() + Math.max(0, delayMs);
      due.push(at);
      const stop = clock.timer(delayMs, fire);
      if (!watching) {
        watching = true;
        watch(0);
      }
      return () => {
        const index = due.indexOf(at);
        if (index >= 0) due.splice(index, 1);
        stop();
      };
    },
  };
}

/** The machine's clock, so many times faster; for worlds with real I/O and long waits. */
export function fastClock(times: number): Clock {
  return {
    monotonicMs: () => performance.now() * times,
    wallMs: () => Date.now(),
    timer(delayMs, fire) {
      const handle = setTimeout(fire, delayMs / times);
      return () => clearTimeout(handle);
    },
  };
}
