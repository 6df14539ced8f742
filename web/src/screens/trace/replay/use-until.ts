import { useMemo } from "react";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { courseOfRun, runAt, stepAt } from "./course/run-at.ts";
import { useReplay, useThen } from "./replay-scope.tsx";

/** The moment up to which a run is drawn: its end, now, or the playhead. Drawn anew only while the playhead is inside of it. */
export function useUntil(run: TraceRun, nowMs: number): number {
  const lastMs = run.endMs ?? nowMs;
  return useSelected(useReplay().at, (atMs) =>
    atMs === null ? lastMs : Math.max(run.startMs, Math.min(lastMs, atMs)),
  );
}

/** The run as it was where the playhead is. */
export function useRunThen(run: TraceRun): TraceRun {
  const { course, endMs } = useReplay();
  const thenMs = useThen();
  const isReplayed = thenMs !== null;
  const own = useMemo(() => (isReplayed ? courseOfRun(course, run) : null), [isReplayed, course, run]);
  return useMemo(
    () => (own === null || thenMs === null ? run : runAt(run, thenMs, { ...own, endMs })),
    [own, run, thenMs, endMs],
  );
}

/** Turns and calls of a run as they were where the playhead is. */
export function useStepsThen(steps: readonly StepView[], run: TraceRun): readonly StepView[] {
  const { endMs } = useReplay();
  const thenMs = useThen();
  const originMs = Date.parse(run.startedAt) - run.startMs;
  return useMemo(
    () =>
      thenMs === null || thenMs >= endMs
        ? steps
        : steps.flatMap((step) => stepAt(step, originMs + thenMs) ?? []),
    [steps, thenMs, endMs, originMs],
  );
}
