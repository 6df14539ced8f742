import { type Idle, upperBound } from "./moments.ts";

/** How fast a replay goes: so many times as fast as it was, or so that all of it takes twenty seconds. */
const SPEEDS = ["1", "4", "16", "fit"] as const;
export type Speed = (typeof SPEEDS)[number];

/** What moves the playhead: milliseconds of the session for one of the clock, and the stretches to hurry through. */
export type PlayPace = { rate: number; idle: readonly Idle[]; endMs: number };

const FIT_MS = 20_000;
/** An idle stretch takes so long at most: enough to see that something waits. */
const IDLE_MS = 400;
/** Of what has to fit this much is for the work itself, however many idle stretches there are. */
const LEAST_WORK_MS = 8_000;

/** The pace of a speed; `idle` is empty if nothing is skipped. It never goes slower than it was. */
export function choosePace(speed: Speed, idle: readonly Idle[], endMs: number): PlayPace {
  if (speed !== "fit") return { rate: Number(speed), idle, endMs };
  const workMs = idle.reduce((sum, stretch) => sum - (stretch.endMs - stretch.startMs), endMs);
  const forWork = Math.max(LEAST_WORK_MS, FIT_MS - idle.length * IDLE_MS);
  return { rate: Math.max(1, workMs / forWork), idle, endMs };
}

/** Where the playhead is after so many milliseconds of the clock. */
export function advance(fromMs: number, elapsedMs: number, { rate, idle, endMs }: PlayPace): number {
  const starts = idle.map(({ startMs }) => startMs);
  let at = fromMs;
  let left = elapsedMs;
  while (left > 0 && at < endMs) {
    const next = upperBound(starts, at);
    const last = idle[next - 1];
    const inside = last && at < last.endMs ? last : undefined;
    const untilMs = Math.min(endMs, inside ? inside.endMs : (idle[next]?.startMs ?? endMs));
    const speed = inside ? Math.max(rate, (inside.endMs - inside.startMs) / IDLE_MS) : rate;
    const takes = (untilMs - at) / speed;
    if (takes > left) return at + left * speed;
    at = untilMs;
    left -= takes;
  }
  return Math.min(at, endMs);
}
