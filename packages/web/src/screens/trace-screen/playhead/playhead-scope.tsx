import type { MomentList } from "@retinue/core/schema/api/inspect";
import type { StepView } from "@retinue/core/schema/api/session";
import type { Trace, TraceRun } from "@retinue/core/schema/inspect/trace";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { walkPages } from "../../../data/client.ts";
import { createThrottle, Signal, useSelected, useSignal } from "../../../live/signal.ts";
import { useRequired } from "../../../live/use-required.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useAddress } from "../../../ui/use-address.ts";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { findOrigin } from "../chart.tsx";
import { createTimeAxis, type TimeAxis } from "../time-axis.ts";
import { advance, choosePace, type PlayPace, type Speed } from "./advance.ts";
import { createCourse } from "./course.ts";
import { type CallMoment, foldedIn, idleUntil, readMomentList, upperBound } from "./moments.ts";
import { runAt, standingAt, standingNow, stepAt, takeRunCourse } from "./run-at.ts";

/** A replay of the trace: where the playhead stands, and what moves it. */
type Playhead = ReturnType<typeof useReplay>;

const NO_COURSE = createCourse({ roots: [], moments: [], endMs: 0 });
const Context = createContext<Playhead | null>(null);

type PlayheadScopeProps = { trace: Trace; timeline: TimeAxis; children: ReactNode };

/** Everything below it tells how things stood where the playhead is. */
export function PlayheadScope({ trace, timeline, children }: PlayheadScopeProps) {
  return <Context value={useReplay(trace, timeline)}>{children}</Context>;
}

function useReplay(trace: Trace, whole: TimeAxis) {
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
    return gaps.length > 0 ? createTimeAxis({ gaps }, endMs) : whole;
  }, [idle, endMs, whole]);
  usePlay(at, isPlaying, {
    pace: choosePace(speed, idle, endMs),
    times: course.times,
  });
  return useMemo(() => {
    /** Turns and calls come after the runs. */
    const calls: "loading" | "ready" | "failed" = moments ? "ready" : isError ? "failed" : "loading";
    const goTo = (atMs: number) => {
      isPlaying.set(false);
      at.set(Math.round(Math.min(endMs, Math.max(0, atMs))));
    };
    return {
      /** Milliseconds from the start of the trace; null is now. */
      at,
      isPlaying,
      course,
      /** The axis; where idle stretches are skipped they are drawn short. */
      timeline,
      /** The last moment there is. */
      endMs,
      calls,
      speed,
      skipsIdle,
      loadAgain: () => void refetch(),
      begin: () => show(0),
      leave() {
        isPlaying.set(false);
        show(null);
      },
      goTo,
      /** Next event, or before. */
      step: (by: 1 | -1) => goTo(stepFrom(course.times, at.value ?? 0, by) ?? (by > 0 ? endMs : 0)),
      toggle() {
        if (!isPlaying.value && (at.value ?? 0) >= endMs) at.set(0);
        isPlaying.set(!isPlaying.value);
      },
      setSpeed,
      skipIdle,
    };
  }, [at, isPlaying, course, timeline, endMs, moments, isError, speed, skipsIdle, refetch, show]);
}

/** The replay of the trace around this part of the page. */
export function usePlayhead(): Playhead {
  return useRequired(Context, "trace");
}

/** Whether the page tells of an earlier moment. */
export function useIsPast(): boolean {
  return useSelected(usePlayhead().at, (atMs) => atMs !== null);
}

/**
 * The moment of the last change that the playhead has passed: between two of them nothing needs to be drawn anew. The last
 * moment there is if it stands there, and null for now.
 */
export function useThen(): number | null {
  const { at, course, endMs } = usePlayhead();
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

const LEAST_WAIT_MS = 2_000;
const WAIT_PER_LOAD = 8;

/** When the calls of a trace began and ended; asked for once they are wanted, and again while something is at work. */
function useMoments(trace: Trace, isWanted: boolean) {
  const { id, state } = trace.session;
  const tookMs = useRef(0);
  return useQuery({
    queryKey: ["moments", id, state],
    queryFn: async () => {
      const beganMs = performance.now();
      const moments = await loadMoments(id, findOrigin(trace));
      tookMs.current = performance.now() - beganMs;
      return moments;
    },
    enabled: isWanted,
    staleTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: () => state === "running" && Math.max(LEAST_WAIT_MS, tookMs.current * WAIT_PER_LOAD),
  });
}

async function loadMoments(sessionId: string, originMs: number): Promise<CallMoment[]> {
  const pages = await Array.fromAsync(walkPages<MomentList>(`/api/sessions/${sessionId}/moments`));
  return pages.flatMap((page) => readMomentList(page, originMs));
}

/** While the playhead moves the address follows so often: browsers take only so many changes of it. */
const WRITE_MS = 300;

/**
 * Where the playhead stands, which the address says as well; null is now. To enter a replay is a step back can undo, also
 * while it plays: any other change of the address stops it.
 */
function useAddressAt(isPlaying: Signal<boolean>) {
  const { params, change } = useAddress();
  const said = params.get("at") ?? "";
  const asked = /^\d{1,12}$/.test(said) ? Number(said) : null;
  const [at] = useState(() => new Signal<number | null>(asked));
  const written = useRef(asked);
  // Layout effects, because a page that is left is only hidden until the next one is loaded.
  useLayoutEffect(() => {
    if (asked === written.current) return;
    written.current = asked;
    isPlaying.set(false);
    at.set(asked);
  }, [asked, at, isPlaying]);
  useLayoutEffect(() => {
    const write = () => {
      const { value } = at;
      if (value === null || value === written.current) return;
      written.current = value;
      change({ at: String(value) });
    };
    const throttle = createThrottle(write, () => WRITE_MS);
    const stop = at.subscribe(throttle.soon);
    return () => {
      throttle.stop();
      stop();
    };
  }, [at, change]);
  const show = useCallback(
    (atMs: number | null) => {
      written.current = atMs;
      at.set(atMs);
      change({ at: atMs === null ? null : String(atMs) }, { replace: atMs === null });
    },
    [at, change],
  );
  return { at, show };
}

/** A page that was hidden continues where it was. */
const MOST_FRAME_MS = 250;
/** Without motion the playhead goes from one thing that happened to a later one, no more often than can be read. */
const STEP_MS = 700;

function usePlay(
  at: Signal<number | null>,
  isPlaying: Signal<boolean>,
  course: { pace: PlayPace; times: Float64Array },
): void {
  const latest = useRef(course);
  latest.current = course;
  const isStepwise = useNarrow("(prefers-reduced-motion: reduce)");
  const isOn = useSignal(isPlaying);
  useEffect(() => {
    if (!isOn) return;
    let clockMs = at.value ?? 0;
    let beforeMs = performance.now();
    let shownMs = beforeMs;
    const show = (nowMs: number) => {
      if (!isStepwise) return at.set(Math.round(clockMs));
      if (nowMs - shownMs < STEP_MS) return;
      shownMs = nowMs;
      const { times } = latest.current;
      at.set(Math.max(at.value ?? 0, times[upperBound(times, clockMs) - 1] ?? 0));
    };
    const tick = (nowMs: number) => {
      const { pace } = latest.current;
      clockMs = advance(clockMs, Math.min(MOST_FRAME_MS, Math.max(0, nowMs - beforeMs)), pace);
      beforeMs = nowMs;
      if (clockMs < pace.endMs) {
        show(nowMs);
        frame = requestAnimationFrame(tick);
        return;
      }
      at.set(Math.round(pace.endMs));
      isPlaying.set(false);
    };
    let frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isOn, isStepwise, at, isPlaying]);
}

/** The moment up to which a run is drawn: its end, now, or the playhead. Drawn anew only while the playhead is inside of it. */
export function useUntil(run: TraceRun, nowMs: number): number {
  const lastMs = run.endMs ?? nowMs;
  return useSelected(usePlayhead().at, (atMs) =>
    atMs === null ? lastMs : Math.max(run.startMs, Math.min(lastMs, atMs)),
  );
}

/** The run as it was where the playhead is. */
export function useRunThen(run: TraceRun): TraceRun {
  const { course, endMs } = usePlayhead();
  const thenMs = useThen();
  const isReplayed = thenMs !== null;
  const own = useMemo(() => (isReplayed ? takeRunCourse(course, run) : null), [isReplayed, course, run]);
  return useMemo(
    () => (own === null || thenMs === null ? run : runAt(run, thenMs, { ...own, endMs })),
    [own, run, thenMs, endMs],
  );
}

/** Turns and calls of a run as they were where the playhead is. */
export function useStepsThen(steps: readonly StepView[], run: TraceRun): readonly StepView[] {
  const { endMs } = usePlayhead();
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

/** How a run stands in one word: now, or where the playhead is. */
export function useStandingThen(run: TraceRun): string {
  const session = useSignal(useSession().session);
  const { at, endMs } = usePlayhead();
  const state = session?.state ?? "running";
  return useSelected(at, (atMs) =>
    atMs === null ? standingNow(run, state) : standingAt(run, atMs, { endMs, state }),
  );
}
