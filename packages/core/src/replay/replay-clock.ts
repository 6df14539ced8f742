import type { Clock } from "../budget/clock.ts";

/** The clock of a replay: it shows when the session began, no time passes, and nothing has to be waited for. */
export function replayClock(startedAt: string): Clock {
  const startedMs = Date.parse(startedAt);
  return {
    monotonicMs: () => 0,
    wallMs: () => startedMs,
    timer(_, fire) {
      const handle = setImmediate(fire);
      return () => clearImmediate(handle);
    },
  };
}
