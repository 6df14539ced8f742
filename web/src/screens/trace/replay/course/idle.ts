import { type Moment, onlyWaits } from "./moment.ts";

/** A stretch of time in which neither a model nor a tool was at work, such as the wait for a person's answer. */
export type Idle = { startMs: number; endMs: number };

/** Shorter ones are part of the work. */
const LEAST_MS = 2_000;
/** One that is short against all work is drawn as long as it was. */
const LEAST_SHARE = 0.2;

/** The long idle stretches between the start and the end, in their order. Calls that wait for other runs are no work. */
export function idleIn(moments: readonly Moment[], endMs: number): Idle[] {
  const work = moments.filter(({ tool }) => tool === null || !onlyWaits(tool));
  const idle: Idle[] = [];
  let workedMs = 0;
  const rest = (untilMs: number) => {
    if (untilMs - workedMs > LEAST_MS) idle.push({ startMs: workedMs, endMs: untilMs });
  };
  for (const moment of work.toSorted((one, other) => one.startMs - other.startMs)) {
    rest(moment.startMs);
    workedMs = Math.max(workedMs, moment.endMs ?? endMs);
  }
  // Without any call nothing is known, and not everything is idle.
  if (work.length > 0) rest(endMs);
  return idle;
}

/** The idle stretches that a drawing leaves out. */
export function foldedIn(idle: readonly Idle[], endMs: number): Idle[] {
  const lengthOf = (stretch: Idle) => stretch.endMs - stretch.startMs;
  const workMs = idle.reduce((left, stretch) => left - lengthOf(stretch), endMs);
  return idle.filter((stretch) => lengthOf(stretch) > workMs * LEAST_SHARE);
}

/** The same when time has gone on since: what was idle at the end still is. */
export function idleUntil(idle: readonly Idle[], thenMs: number, nowMs: number): readonly Idle[] {
  const last = idle.at(-1);
  if (!last || last.endMs < thenMs || nowMs <= thenMs) return idle;
  return [...idle.slice(0, -1), { ...last, endMs: nowMs }];
}
