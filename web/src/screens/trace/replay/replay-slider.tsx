import { type KeyboardEvent, type Ref, useMemo } from "react";
import { useSignal } from "../../../live/signal.ts";
import { useThrottled } from "../../../live/use-throttled.ts";
import { countOf } from "../../../ui/measures.ts";
import type { Timeline } from "../drawing/timeline.ts";
import type { Course } from "./course/course.ts";
import { stateAt } from "./course/state-at.ts";
import { upperBound } from "./course/upper-bound.ts";
import { useReplay } from "./replay-scope.tsx";
import { showAt } from "./show-at.ts";
import { useDrag } from "./use-drag.ts";

/** Keys move by such shares of what is drawn, so that an idle hour is as short for them as it is for the eye. */
const STEP = 0.01;
const PAGE = 0.1;
/** While it plays, the moment is told this often. */
const TELL_MS = 2_000;

const itself = (atMs: number | null) => atMs;

/** The playhead over the whole session, with how many runs were live below it. */
export function ReplaySlider({ ref }: { ref?: Ref<HTMLDivElement> }) {
  const { at, isPlaying, course, timeline, endMs, goTo, toggle } = useReplay();
  const atMs = Math.min(endMs, useSignal(at) ?? endMs);
  const told = useThrottled(at, itself, TELL_MS);
  const toldMs = useSignal(isPlaying) ? Math.min(endMs, told ?? endMs) : atMs;
  const place = timeline.at(atMs);
  const onPointerDown = useDrag(timeline);
  const by = (share: number) => goTo(timeline.momentAt(timeline.at(at.value ?? endMs) + share));
  const acts = new Map<string, () => void>([
    ["ArrowRight", () => by(STEP)],
    ["ArrowUp", () => by(STEP)],
    ["ArrowLeft", () => by(-STEP)],
    ["ArrowDown", () => by(-STEP)],
    ["PageUp", () => by(PAGE)],
    ["PageDown", () => by(-PAGE)],
    ["Home", () => goTo(0)],
    ["End", () => goTo(endMs)],
    [" ", toggle],
    ["Enter", toggle],
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const act = acts.get(event.key);
    if (!act || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  return (
    <div
      ref={ref}
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={0}
      aria-valuemax={Math.round(endMs)}
      aria-valuenow={Math.round(toldMs)}
      aria-valuetext={wordsAt(course, toldMs, endMs)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.focus({ preventScroll: true });
        onPointerDown(event);
      }}
      className="group relative h-9 min-w-0 cursor-ew-resize touch-none rounded"
    >
      <Density timeline={timeline} course={course} />
      <span aria-hidden className="absolute inset-x-0 bottom-1 h-1 rounded-full bg-line" />
      <span
        aria-hidden
        className="absolute bottom-1 left-0 h-1 rounded-full bg-accent"
        style={{ width: `${place * 100}%` }}
      />
      <span
        aria-hidden
        className="absolute top-0 bottom-1.5 w-px bg-accent/60"
        style={{ left: `${place * 100}%` }}
      />
      <span
        aria-hidden
        className="absolute bottom-0 -ml-1.5 size-3 rounded-full border-2 border-panel bg-accent shadow-float group-hover:scale-115"
        style={{ left: `${place * 100}%` }}
      />
    </div>
  );
}

function wordsAt(course: Course, atMs: number, endMs: number): string {
  const { live, waiting } = stateAt(course, atMs);
  const needed = waiting > 0 ? ", needs you" : "";
  return `${showAt(atMs, endMs)}, ${live.toLocaleString("en-US")} of ${countOf(course.runs, "run")} live${needed}`;
}

const SAMPLES = 240;
const HEIGHT = 24;

/** How many runs were live all along, and where some failed; it changes only with the trace. */
function Density({ timeline, course }: { timeline: Timeline; course: Course }) {
  const { path, failures } = useMemo(() => drawn(timeline, course), [timeline, course]);
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${SAMPLES} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="pointer-events-none absolute inset-x-0 top-0.5 h-6 w-full"
    >
      <path d={path} className="fill-accent/15" />
      {failures.map((at) => (
        <rect key={at} x={at} y={0} width={0.5} height={HEIGHT} className="fill-bad/60" />
      ))}
    </svg>
  );
}

function drawn(timeline: Timeline, { began, ended, failed }: Course) {
  const live = Array.from({ length: SAMPLES }, (_, index) => {
    const atMs = timeline.momentAt((index + 0.5) / SAMPLES);
    return upperBound(began, atMs) - upperBound(ended, atMs);
  });
  const most = Math.max(1, ...live);
  const points = live.map((count, index) => {
    const y = HEIGHT - (count / most) * (HEIGHT - 2);
    return `L${index} ${y.toFixed(1)}L${index + 1} ${y.toFixed(1)}`;
  });
  const failures = new Set(Array.from(failed, (atMs) => Math.floor(timeline.at(atMs) * (SAMPLES - 1))));
  return { path: `M0 ${HEIGHT}${points.join("")}L${SAMPLES} ${HEIGHT}Z`, failures: [...failures] };
}
