import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { hasFailed, nameStatus } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { findLook } from "../../../ui/status.tsx";
import { type CallMoment, createSpending, idleIn, sortedTimes, spentAt, upperBound } from "./moments.ts";

/** How a session went: everything that happened, sorted once, so that any moment is found at once. */
export type Course = ReturnType<typeof createCourse>;

type CourseSource = { roots: readonly TraceRun[]; moments: readonly CallMoment[]; endMs: number };

const NONE: readonly CallMoment[] = [];

/** Sorts what happened. */
export function createCourse({ roots, moments, endMs }: CourseSource) {
  const runs = [...walkRuns(roots)];
  const byRun = Map.groupBy(moments, ({ runId }) => runId);
  const findMoments = (runId: string): readonly CallMoment[] => byRun.get(runId) ?? NONE;
  const ended = runs.filter(({ endMs: end }) => end !== null);
  const asks = runs.flatMap(listAsks);
  const happenings = listHappenings(runs, moments, asks);
  const times = Float64Array.from(happenings, ({ atMs }) => atMs);
  const ends = moments.flatMap(({ endMs: end }) => (end === null ? [] : [end]));
  return {
    runs: runs.length,
    /** Moments at which runs began and ended, and those at which some failed. */
    began: sortedTimes(runs.map(({ startMs }) => startMs)),
    ended: sortedTimes(ended.map(findEnd)),
    failed: sortedTimes(ended.filter(hasFailed).map(findEnd)),
    turns: sortedTimes(moments.filter(({ tool }) => tool === null).map(({ startMs }) => startMs)),
    calls: sortedTimes(moments.filter(({ tool }) => tool !== null).map(({ startMs }) => startMs)),
    /** Moments at which a person was asked, and at which a run waited no longer for the answer. */
    asked: sortedTimes(asks.map(({ askedMs }) => askedMs)),
    settled: sortedTimes(asks.map(({ settledMs }) => settledMs).filter(Number.isFinite)),
    spending: createSpending(runs, findMoments),
    /** What one steps through, and when each was. */
    happenings,
    times,
    /** Every time at which any value changes. */
    changes: sortedTimes([...times, ...ends]),
    /** Long stretches in which neither a model nor a tool was at work. */
    idle: idleIn(moments, endMs),
    findMoments,
  };
}

/** Something that a person was asked: when, when it was answered, and when the run waited no longer. */
type Ask = { run: TraceRun; tool: string; askedMs: number; answeredMs: number; settledMs: number };

/** What a run asked; what has no answer is answered at no time. */
export function listAsks(run: TraceRun): Ask[] {
  const originMs = Date.parse(run.startedAt) - run.startMs;
  return run.approvals.map(({ tool, askedAt, answeredAt }) => {
    const askedMs = Math.max(run.startMs, Date.parse(askedAt) - originMs);
    const answeredMs =
      answeredAt === null ? Number.POSITIVE_INFINITY : Math.max(askedMs, Date.parse(answeredAt) - originMs);
    const endMs = Math.max(askedMs, run.endMs ?? Number.POSITIVE_INFINITY);
    return { run, tool, askedMs, answeredMs, settledMs: Math.min(answeredMs, endMs) };
  });
}

function findEnd({ endMs }: TraceRun): number {
  return endMs ?? Number.POSITIVE_INFINITY;
}

/** Something that one can step to: a run began or ended, a turn or call began, a person was asked or answered. */
export type Happening = {
  atMs: number;
  what: "began" | "ended" | "turn" | "call" | "asked" | "answered";
  /** Whose it was; undefined if the trace does not know the run. */
  run: TraceRun | undefined;
  tool: string;
};

/** Of what happened in the same millisecond the last is what one is told of. */
const BY_WEIGHT: readonly Happening["what"][] = ["turn", "call", "answered", "began", "asked", "ended"];

function weigh({ what }: Happening): number {
  return BY_WEIGHT.indexOf(what);
}

function listHappenings(
  runs: readonly TraceRun[],
  moments: readonly CallMoment[],
  asks: readonly Ask[],
): Happening[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const all: Happening[] = [];
  for (const run of runs) {
    all.push({ atMs: run.startMs, what: "began", run, tool: "" });
    if (run.endMs !== null) all.push({ atMs: run.endMs, what: "ended", run, tool: "" });
  }
  for (const { runId, tool, startMs } of moments)
    all.push({
      atMs: startMs,
      what: tool === null ? "turn" : "call",
      run: byId.get(runId),
      tool: tool ?? "",
    });
  for (const { run, tool, askedMs, answeredMs } of asks) {
    all.push({ atMs: askedMs, what: "asked", run, tool });
    if (Number.isFinite(answeredMs)) all.push({ atMs: answeredMs, what: "answered", run, tool });
  }
  return all.sort((one, other) => one.atMs - other.atMs || weigh(one) - weigh(other));
}

/** What happened, in words that follow the agent's name. */
export function describeHappening({ what, run, tool }: Happening): string {
  if (what === "began") return "began";
  if (what === "turn") return "takes a turn";
  if (what === "call") return `calls ${tool}`;
  if (what === "asked") return `asks to use ${tool}`;
  if (what === "answered") return `has an answer about ${tool}`;
  return run ? `ended: ${findLook(nameStatus(run)).word}` : "ended";
}

/** How a session stood at a moment. */
export type State = ReturnType<typeof stateAt>;

/** How the session stood at a moment: what began or ended exactly then has. */
export function stateAt(course: Course, atMs: number) {
  const until = (times: Float64Array) => upperBound(times, atMs);
  const begun = until(course.began);
  return {
    begun,
    live: begun - until(course.ended),
    failed: until(course.failed),
    /** Questions that waited for a person's answer. */
    waiting: until(course.asked) - until(course.settled),
    turns: until(course.turns),
    calls: until(course.calls),
    ...spentAt(course.spending, atMs),
  };
}
