import type { Trace, TraceGap, TraceRun, TraceSpan } from "../schema/inspect/trace.ts";
import { walkRuns } from "./walk-runs.ts";

/** A stretch of time in milliseconds from the start of the first run. */
export type Stretch = { startMs: number; endMs: number };

/** An idle stretch is left out of drawings if it is longer than this, and than this share of all work. */
const LEAST_GAP_MS = 2_000;
const LEAST_GAP_SHARE = 0.2;
/** What a gap takes in a drawing, as a share of all work. */
const GAP_SHARE = 0.03;

/** When a span was at work. One that goes on after a crash has worked at its end, so it is measured from there. */
export function findWork(span: TraceSpan, nowMs: number): Stretch {
  if (span.endMs === null || span.durationMs === null)
    return { startMs: span.startMs, endMs: Math.max(span.startMs, nowMs) };
  return { startMs: Math.max(span.startMs, span.endMs - span.durationMs), endMs: span.endMs };
}

/** Stretches in the order of time, those that touch joined. */
export function joinStretches(stretches: Iterable<Stretch>): Stretch[] {
  const joined: Stretch[] = [];
  for (const { startMs, endMs } of [...stretches].sort((one, other) => one.startMs - other.startMs)) {
    const last = joined.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else joined.push({ startMs, endMs });
  }
  return joined;
}

/** The idle stretches between others that are worth leaving out. */
export function findGaps(work: readonly Stretch[]): TraceGap[] {
  const worked = work.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const least = Math.max(LEAST_GAP_MS, worked * LEAST_GAP_SHARE);
  return work.flatMap(({ endMs }, index): TraceGap[] => {
    const next = work[index + 1];
    return next && next.startMs - endMs > least ? [{ startMs: endMs, endMs: next.startMs }] : [];
  });
}

/** A drawing's axis: real milliseconds in, drawn milliseconds out, with gaps shortened. */
export type Timeline = {
  readonly lengthMs: number;
  /** Gaps, as they are drawn. */
  readonly gaps: readonly (Stretch & { leftOutMs: number })[];
  at(ms: number): number;
};

/** Creates the axis of a trace, or of some of its runs. */
export function createTimeline({ gaps, endMs }: Pick<Trace, "gaps" | "endMs">, within?: Stretch): Timeline {
  const from = within?.startMs ?? 0;
  const to = Math.max(within?.endMs ?? endMs, from + 1);
  const inside = gaps.filter((gap) => gap.startMs >= from && gap.endMs <= to);
  const leftOut = inside.reduce((sum, gap) => sum + gap.endMs - gap.startMs, 0);
  const gapMs = Math.max(1, (to - from - leftOut) * GAP_SHARE);
  function at(ms: number): number {
    const moment = Math.min(to, Math.max(from, ms));
    let drawn = moment - from;
    for (const gap of inside) {
      if (moment <= gap.startMs) break;
      const passed = Math.min(moment, gap.endMs) - gap.startMs;
      drawn -= passed - (gapMs * passed) / (gap.endMs - gap.startMs);
    }
    return drawn;
  }
  return {
    at,
    lengthMs: Math.max(1, at(to)),
    gaps: inside.map((gap) => ({
      startMs: at(gap.startMs),
      endMs: at(gap.endMs),
      leftOutMs: gap.endMs - gap.startMs,
    })),
  };
}

/** The stretch that some runs take up. */
export function spanRuns(roots: readonly TraceRun[], nowMs: number): Stretch {
  let stretch: Stretch | undefined;
  for (const { startMs, endMs } of walkRuns(roots)) {
    const end = Math.max(startMs, endMs ?? nowMs);
    stretch = {
      startMs: Math.min(stretch?.startMs ?? startMs, startMs),
      endMs: Math.max(stretch?.endMs ?? end, end),
    };
  }
  return stretch ?? { startMs: 0, endMs: nowMs };
}
