import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import type { Trace } from "../../../../../src/schema/inspect/trace.ts";
import { Signal } from "../../../live/signal.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { createTimeline, type Timeline } from "../drawing/timeline.ts";
import { paceOf, type Speed } from "./course/advance.ts";
import { type Course, createCourse } from "./course/course.ts";
import { foldedIn, idleUntil } from "./course/idle.ts";
import { upperBound } from "./course/upper-bound.ts";
import { useAddressAt } from "./use-address-at.ts";
import { useMoments } from "./use-moments.ts";
import { usePlay } from "./use-play.ts";

/** A replay of the trace: where the playhead stands, and what moves it. */
export type Replay = {
  /** Milliseconds from the start of the trace; null is now. */
  readonly at: Signal<number | null>;
  readonly isPlaying: Signal<boolean>;
  readonly course: Course;
  /** The axis; where idle stretches are skipped they are drawn short. */
  readonly timeline: Timeline;
  /** The last moment there is. */
  readonly endMs: number;
  /** Turns and calls come after the runs. */
  readonly calls: "loading" | "ready" | "failed";
  readonly speed: Speed;
  readonly skipsIdle: boolean;
  loadAgain(): void;
  begin(): void;
  leave(): void;
  goTo(atMs: number): void;
  /** To what happened next, or before. */
  step(by: 1 | -1): void;
  toggle(): void;
  setSpeed(speed: Speed): void;
  skipIdle(isSkipped: boolean): void;
};

const NO_COURSE = createCourse({ roots: [], moments: [], endMs: 0 });
const nothing = () => {};
const PRESENT: Replay = {
  at: new Signal<number | null>(null),
  isPlaying: new Signal(false),
  course: NO_COURSE,
  timeline: createTimeline({ gaps: [] }, 0),
  endMs: 0,
  calls: "loading",
  speed: "fit",
  skipsIdle: true,
  loadAgain: nothing,
  begin: nothing,
  leave: nothing,
  goTo: nothing,
  step: nothing,
  toggle: nothing,
  setSpeed: nothing,
  skipIdle: nothing,
};
const Context = createContext<Replay>(PRESENT);

/** Everything below it tells how things stood where the playhead is. */
export function ReplayScope({
  trace,
  timeline: whole,
  children,
}: {
  trace: Trace;
  timeline: Timeline;
  children: ReactNode;
}) {
  const { endMs } = whole;
  const [isPlaying] = useState(() => new Signal(false));
  const { at, show } = useAddressAt(isPlaying);
  const [speed, setSpeed] = useState<Speed>("fit");
  const [skipsIdle, skipIdle] = useState(true);
  const isOn = useSelected(at, (atMs) => atMs !== null);
  const { data: moments, isError, refetch } = useMoments(trace, isOn);
  const course = useMemo(
    () =>
      isOn ? createCourse({ roots: trace.runs, moments: moments ?? [], endMs: trace.endMs }) : NO_COURSE,
    [isOn, trace, moments],
  );
  const idle = useMemo(
    () => (skipsIdle ? idleUntil(course.idle, trace.endMs, endMs) : []),
    [skipsIdle, course, trace, endMs],
  );
  const timeline = useMemo(() => {
    const gaps = foldedIn(idle, endMs);
    return gaps.length > 0 ? createTimeline({ gaps }, endMs) : whole;
  }, [idle, endMs, whole]);
  usePlay(at, isPlaying, {
    pace: paceOf(speed, idle, endMs),
    times: course.times,
  });
  const replay = useMemo((): Replay => {
    const goTo = (atMs: number) => {
      isPlaying.set(false);
      at.set(Math.round(Math.min(endMs, Math.max(0, atMs))));
    };
    return {
      at,
      isPlaying,
      course,
      timeline,
      endMs,
      calls: moments ? "ready" : isError ? "failed" : "loading",
      speed,
      skipsIdle,
      loadAgain: () => void refetch(),
      begin: () => show(0),
      leave() {
        isPlaying.set(false);
        show(null);
      },
      goTo,
      step: (by) => goTo(stepFrom(course.times, at.value ?? 0, by) ?? (by > 0 ? endMs : 0)),
      toggle() {
        if (!isPlaying.value && (at.value ?? 0) >= endMs) at.set(0);
        isPlaying.set(!isPlaying.value);
      },
      setSpeed,
      skipIdle,
    };
  }, [at, isPlaying, course, timeline, endMs, moments, isError, speed, skipsIdle, refetch, show]);
  return <Context.Provider value={replay}>{children}</Context.Provider>;
}

/** The replay around this part of the page; without one everything is as it is now. */
export function useReplay(): Replay {
  return useContext(Context);
}

/** Whether the page tells of an earlier moment. */
export function useIsReplayed(): boolean {
  return useSelected(useReplay().at, (atMs) => atMs !== null);
}

/**
 * The moment of the last change that the playhead has passed: between two of them nothing needs to be drawn anew. The last
 * moment there is if it stands there, and null for now.
 */
export function useThen(): number | null {
  const { at, course, endMs } = useReplay();
  return useSelected(at, (atMs) => {
    if (atMs === null) return null;
    return atMs >= endMs ? endMs : (course.changes[upperBound(course.changes, atMs) - 1] ?? 0);
  });
}

/** The moment of the next or previous thing that happened at another time. */
function stepFrom(times: Float64Array, atMs: number, by: 1 | -1): number | undefined {
  if (by > 0) return times[upperBound(times, atMs)];
  // Nothing happens between two milliseconds.
  return times[upperBound(times, atMs - 0.5) - 1];
}
