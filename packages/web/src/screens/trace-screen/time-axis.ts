import type { Trace } from "@retinue/core/schema/inspect/trace";
import { showSpacedDuration } from "@retinue/core/show/measures";
import { createTimeline } from "@retinue/core/show/timeline";

/** The axis of a drawing: moments of the trace in, shares of its length out; idle stretches are drawn short. */
export type TimeAxis = ReturnType<typeof createTimeAxis>;

/** Creates the axis of a trace up to a moment. */
export function createTimeAxis({ gaps }: Pick<Trace, "gaps">, endMs: number) {
  const end = Math.max(endMs, 1);
  const inside = gaps.filter((gap) => gap.endMs <= end);
  const drawn = createTimeline({ gaps: inside, endMs: end });
  const at = (ms: number) => drawn.at(ms) / drawn.lengthMs;
  /** Between two edges of work and idle stretches both run evenly. */
  function momentAt(place: number): number {
    const next = edges.findIndex((edge, index) => index > 0 && at(edge) >= place);
    if (next < 0) return place <= 0 ? 0 : end;
    const [fromMs = 0, toMs = 0] = [edges[next - 1], edges[next]];
    const share = at(toMs) - at(fromMs);
    return share <= 0 ? toMs : fromMs + ((Math.max(0, place) - at(fromMs)) / share) * (toMs - fromMs);
  }
  const edges = [0, ...inside.flatMap((gap) => [gap.startMs, gap.endMs]), end];
  const parts = inside.concat({ startMs: end, endMs: end }).map((gap, index) => ({
    startMs: edges[index * 2] ?? 0,
    endMs: gap.startMs,
  }));
  return {
    endMs: end,
    /** Where a moment is, from 0 to 1. */
    at,
    /** The moment at such a place. */
    momentAt,
    /** Stretches of work between the gaps, in milliseconds. */
    parts,
    /** Idle stretches, as shares of the length. */
    gaps: drawn.gaps.map(({ startMs, endMs: untilMs, leftOutMs }) => ({
      from: startMs / drawn.lengthMs,
      to: untilMs / drawn.lengthMs,
      leftOutMs,
    })),
  };
}

/** A moment that the axis names, as a share of its length. */
type Tick = { at: number; text: string };

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];
const LEAST_PX = 84;
const MOST_TICKS = 2_000;

/** Moments at round distances, as close as there is room for; behind an idle stretch they count from its end. */
export function placeTicks(timeline: TimeAxis, widthPx: number): Tick[] {
  const drawn = timeline.parts.reduce((sum, part) => sum + part.endMs - part.startMs, 0);
  const perTick = (LEAST_PX / Math.max(1, widthPx)) * Math.max(1, drawn);
  const step = STEPS_MS.find((ms) => ms >= perTick) ?? perTick;
  const ticks: Tick[] = [];
  for (const [index, { startMs, endMs }] of timeline.parts.entries()) {
    for (let ms = 0; ms <= endMs - startMs && ticks.length < MOST_TICKS; ms += step)
      ticks.push({ at: timeline.at(startMs + ms), text: nameTick(ms, step, index > 0) });
  }
  return ticks;
}

function nameTick(ms: number, step: number, isLater: boolean): string {
  if (ms === 0) return isLater ? "" : "0";
  const text =
    step < 1_000 ? `${(ms / 1_000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} s` : showSpacedDuration(ms);
  return isLater ? `+${text}` : text;
}

/** A length of time in a trace, where milliseconds matter: `12 ms`, `3 s`, `2 m 10 s`. */
export function showSpan(ms: number): string {
  return ms < 950 ? `${Math.max(0, Math.round(ms))} ms` : showSpacedDuration(ms);
}
