import type { TraceRun } from "../../../../../../src/schema/inspect/trace.ts";
import { everyRun } from "../../trace-index.ts";
import { type Happening, happeningsOf } from "./happenings.ts";
import { type Idle, idleIn } from "./idle.ts";
import type { Moment } from "./moment.ts";
import { createSpending, type Spending } from "./spending.ts";
import { sortedTimes } from "./upper-bound.ts";

/** How a session went: everything that happened, sorted once, so that any moment is found at once. */
export type Course = {
  readonly runs: number;
  /** Moments at which runs began and ended, and those at which some failed. */
  readonly began: Float64Array;
  readonly ended: Float64Array;
  readonly failed: Float64Array;
  readonly turns: Float64Array;
  readonly calls: Float64Array;
  /** Moments at which a person was asked, and at which a run waited no longer for the answer. */
  readonly asked: Float64Array;
  readonly settled: Float64Array;
  readonly spending: Spending;
  /** What one steps through, and when each was. */
  readonly happenings: readonly Happening[];
  readonly times: Float64Array;
  /** Every moment at which anything is another than before. */
  readonly changes: Float64Array;
  /** Long stretches in which neither a model nor a tool was at work. */
  readonly idle: readonly Idle[];
  momentsOf(runId: string): readonly Moment[];
};

/** What a course is made from: the runs, their calls, and the last moment there is. */
export type CourseSource = { roots: readonly TraceRun[]; moments: readonly Moment[]; endMs: number };

const NONE: readonly Moment[] = [];

/** Sorts what happened. */
export function createCourse({ roots, moments, endMs }: CourseSource): Course {
  const runs = [...everyRun(roots)];
  const byRun = Map.groupBy(moments, ({ runId }) => runId);
  const momentsOf = (runId: string) => byRun.get(runId) ?? NONE;
  const ended = runs.filter(({ endMs: end }) => end !== null);
  const asks = runs.flatMap(asksOf);
  const happenings = happeningsOf(runs, moments, asks);
  const times = Float64Array.from(happenings, ({ atMs }) => atMs);
  const ends = moments.flatMap(({ endMs: end }) => (end === null ? [] : [end]));
  return {
    runs: runs.length,
    began: sortedTimes(runs.map(({ startMs }) => startMs)),
    ended: sortedTimes(ended.map(endOf)),
    failed: sortedTimes(ended.filter(hasFailed).map(endOf)),
    turns: sortedTimes(moments.filter(({ tool }) => tool === null).map(({ startMs }) => startMs)),
    calls: sortedTimes(moments.filter(({ tool }) => tool !== null).map(({ startMs }) => startMs)),
    asked: sortedTimes(asks.map(({ askedMs }) => askedMs)),
    settled: sortedTimes(asks.map(({ settledMs }) => settledMs).filter(Number.isFinite)),
    spending: createSpending(runs, momentsOf),
    happenings,
    times,
    changes: sortedTimes([...times, ...ends]),
    idle: idleIn(moments, endMs),
    momentsOf,
  };
}

/** Something that a person was asked: when, when it was answered, and when the run waited no longer. */
export type Ask = { run: TraceRun; tool: string; askedMs: number; answeredMs: number; settledMs: number };

/** What a run asked; what has no answer is answered at no time. */
export function asksOf(run: TraceRun): Ask[] {
  const originMs = Date.parse(run.startedAt) - run.startMs;
  return run.approvals.map(({ tool, askedAt, answeredAt }) => {
    const askedMs = Math.max(run.startMs, Date.parse(askedAt) - originMs);
    const answeredMs =
      answeredAt === null ? Number.POSITIVE_INFINITY : Math.max(askedMs, Date.parse(answeredAt) - originMs);
    const endMs = Math.max(askedMs, run.endMs ?? Number.POSITIVE_INFINITY);
    return { run, tool, askedMs, answeredMs, settledMs: Math.min(answeredMs, endMs) };
  });
}

function hasFailed({ status }: TraceRun): boolean {
  return status === "failed" || status === "timeout";
}

function endOf({ endMs }: TraceRun): number {
  return endMs ?? Number.POSITIVE_INFINITY;
}
