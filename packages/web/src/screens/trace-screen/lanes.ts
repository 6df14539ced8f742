import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { hasFailed } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { LEAST_BAR_PX } from "./chart.tsx";
import type { TimeAxis } from "./time-axis.ts";

/** Runs lane by lane, each lane by start; the server has given every run a lane in which no other overlaps it. */
export function sortIntoLanes(roots: readonly TraceRun[]): TraceRun[][] {
  const lanes: TraceRun[][] = [];
  for (const run of walkRuns(roots)) {
    const lane = lanes[run.lane];
    if (lane) lane.push(run);
    else lanes[run.lane] = [run];
  }
  for (let lane = 0; lane < lanes.length; lane++)
    lanes[lane] = (lanes[lane] ?? []).sort((one, other) => one.startMs - other.startMs);
  return lanes;
}

/** A bar in pixels. */
export type PlacedRun = { run: TraceRun; left: number; width: number };

/** What bars are placed by: the axis, its width, and which part of it is in sight. */
type Window = { timeline: TimeAxis; widthPx: number; fromPx: number; toPx: number };

/**
 * The bars of a lane that are in sight. Of those too close to tell apart one is drawn: one that failed, or else the
 * first. The run that is looked at always is, wherever it stands: it has the focus.
 */
export function placeLane(lane: readonly TraceRun[], window: Window, cursorId: string | null): PlacedRun[] {
  const { timeline, widthPx, fromPx, toPx } = window;
  const placed: PlacedRun[] = [];
  for (const run of lane) {
    const left = timeline.at(run.startMs) * widthPx;
    const right = timeline.at(run.endMs ?? timeline.endMs) * widthPx;
    if ((left > toPx || right < fromPx) && run.runId !== cursorId) continue;
    const bar = { run, left, width: Math.max(LEAST_BAR_PX, right - left) };
    const last = placed.at(-1);
    const isHidden = last && bar.width === LEAST_BAR_PX && bar.left < last.left + last.width;
    if (!isHidden || run.runId === cursorId) placed.push(bar);
    else if (
      last.width === LEAST_BAR_PX &&
      hasFailed(run) &&
      !hasFailed(last.run) &&
      last.run.runId !== cursorId
    )
      placed[placed.length - 1] = bar;
  }
  return placed;
}

/** The run in another lane that is nearest in time. */
export function nearestIn(lane: readonly TraceRun[], run: TraceRun): TraceRun | undefined {
  let best: TraceRun | undefined;
  for (const one of lane) {
    if (!best || Math.abs(one.startMs - run.startMs) < Math.abs(best.startMs - run.startMs)) best = one;
  }
  return best;
}
