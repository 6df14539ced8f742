import { showCount, showNumber } from "@retinue/core/show/measures";
import { FastForward, History, Pause, Play, SkipBack, SkipForward, X } from "lucide-react";
import { type Ref, useEffect, useMemo, useRef } from "react";
import { useFace } from "../../../data/queries.ts";
import { actOnKey, type KeyActs, useShortcuts } from "../../../frame/shortcuts.ts";
import { useSignal, useThrottled } from "../../../live/signal.ts";
import { Button, Segmented, TipButton, Tooltip } from "../../../ui/controls.tsx";
import type { TimeAxis } from "../time-axis.ts";
import { type Course, describeHappening, type Happening, stateAt } from "./course.ts";
import { upperBound } from "./moments.ts";
import { useDrag } from "./playhead.tsx";
import { useIsPast, usePlayhead, useThen } from "./playhead-scope.tsx";

const SPEED_CHOICES = [
  { value: "1", name: "1×" },
  { value: "4", name: "4×" },
  { value: "16", name: "16×" },
  { value: "fit", name: "20 s" },
] as const;

/** What moves through the session: the playhead, play and pause, steps, speed, and the way back to now. */
export function PlayheadBar({ isLive }: { isLive: boolean }) {
  const { step, toggle, speed, setSpeed } = usePlayhead();
  const slider = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // After the button was pressed the focus goes to the playhead.
    if (document.activeElement?.id === REPLAY_ID) slider.current?.focus({ preventScroll: true });
  }, []);
  useShortcuts([
    { keys: "p", does: "Play or pause the replay", act: toggle },
    { keys: ",", does: "Previous event", act: () => step(-1) },
    { keys: ".", does: "Next event", act: () => step(1) },
  ]);
  return (
    <section
      aria-label="Replay"
      className="grid shrink-0 gap-1 border-b border-line bg-panel px-4 pt-1.5 pb-1"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Transport />
        <Clock />
        <Happened />
        <div className="ml-auto flex items-center gap-1.5">
          <Segmented label="Speed" value={speed} choices={SPEED_CHOICES} onChange={setSpeed} />
          <SkipIdle />
          <Leave isLive={isLive} />
        </div>
      </div>
      <PlayheadSlider ref={slider} />
    </section>
  );
}

function Transport() {
  const { step, toggle, isPlaying } = usePlayhead();
  const isOn = useSignal(isPlaying);
  const name = isOn ? "Pause" : "Play";
  return (
    <div className="flex items-center gap-0.5">
      <TipButton
        icon={SkipBack}
        words="Previous event (,)"
        aria-label="Previous event"
        onClick={() => step(-1)}
      />
      <TipButton
        icon={isOn ? Pause : Play}
        kind="primary"
        words={`${name} (p)`}
        aria-label={name}
        onClick={toggle}
      />
      <TipButton icon={SkipForward} words="Next event (.)" aria-label="Next event" onClick={() => step(1)} />
    </div>
  );
}

function Clock() {
  const { at, endMs } = usePlayhead();
  const atMs = Math.min(endMs, useSignal(at) ?? endMs);
  return (
    <p className="figures mr-1 text-sm font-medium whitespace-nowrap">
      {showAt(atMs, endMs)} <span className="font-normal text-ink-3">of {showAt(endMs, endMs)}</span>
    </p>
  );
}

/** What happened last before the playhead; told to screen readers when a person moved it, not while it plays. */
function Happened() {
  const { course, isPlaying, calls, loadAgain } = usePlayhead();
  const isOn = useSignal(isPlaying);
  const thenMs = useThen() ?? 0;
  const last = course.happenings[upperBound(course.times, thenMs) - 1];
  const isSame =
    last !== undefined && course.happenings[upperBound(course.times, thenMs) - 2]?.atMs === last.atMs;
  if (calls === "failed")
    return (
      <p role="alert" className="flex items-center gap-1.5 text-xs text-bad">
        Turns and calls could not be loaded.
        <Button small onClick={loadAgain}>
          Try again
        </Button>
      </p>
    );
  return (
    <p
      aria-live={isOn ? "off" : "polite"}
      className="min-w-0 flex-1 basis-24 truncate text-xs text-ink-2 max-sm:order-last max-sm:basis-full"
    >
      {calls === "loading" ? "Loading turns and calls…" : last && <Words last={last} isSame={isSame} />}
    </p>
  );
}

function Words({ last, isSame }: { last: Happening; isSame: boolean }) {
  const { displayName } = useFace(last.run?.agent ?? "?");
  return (
    <>
      <span className="font-medium text-ink">{displayName}</span> {describeHappening(last)}
      {isSame && <span className="text-ink-3">, and more at the same time</span>}
    </>
  );
}

function SkipIdle() {
  const { course, skipsIdle, skipIdle } = usePlayhead();
  if (course.idle.length === 0) return null;
  return (
    <Tooltip words="Shorten stretches of more than 2 s in which nothing was running">
      <Button aria-pressed={skipsIdle} onClick={() => skipIdle(!skipsIdle)} className={PRESSED}>
        <FastForward aria-hidden className="size-3.5" /> <span className="max-md:sr-only">Skip idle</span>
      </Button>
    </Tooltip>
  );
}

function Leave({ isLive }: { isLive: boolean }) {
  const { leave } = usePlayhead();
  const onClick = () => {
    leave();
    document.getElementById(REPLAY_ID)?.focus({ preventScroll: true });
  };
  if (isLive)
    return (
      <Button onClick={onClick}>
        <span aria-hidden className="size-2 animate-breathe rounded-full bg-run" /> Live
        <span className="sr-only"> now, go back to it</span>
      </Button>
    );
  return <TipButton icon={X} words="Leave the replay (r)" aria-label="Leave the replay" onClick={onClick} />;
}

/** Keys move by such shares of what is drawn, so that an idle hour is as short for them as it is for the eye. */
const STEP = 0.01;
const PAGE = 0.1;
/** While it plays, the moment is told this often. */
const TELL_MS = 2_000;

const itself = (atMs: number | null) => atMs;

/** The playhead over the whole session, with how many runs were live below it. */
function PlayheadSlider({ ref }: { ref?: Ref<HTMLDivElement> }) {
  const { at, isPlaying, course, timeline, endMs, goTo, toggle } = usePlayhead();
  const atMs = Math.min(endMs, useSignal(at) ?? endMs);
  const told = useThrottled(at, itself, TELL_MS);
  const toldMs = useSignal(isPlaying) ? Math.min(endMs, told ?? endMs) : atMs;
  const place = timeline.at(atMs);
  const onPointerDown = useDrag(timeline);
  const by = (share: number) => goTo(timeline.momentAt(timeline.at(at.value ?? endMs) + share));
  const acts: KeyActs = [
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
  ];
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
      onKeyDown={(event) => actOnKey(event, acts)}
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
  return `${showAt(atMs, endMs)}, ${showNumber(live)} of ${showCount(course.runs, "run")} live${needed}`;
}

const SAMPLES = 240;
const HEIGHT = 24;

/** How many runs were live all along, and where some failed; it changes only with the trace. */
function Density({ timeline, course }: { timeline: TimeAxis; course: Course }) {
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

function drawn(timeline: TimeAxis, { began, ended, failed }: Course) {
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

/** A moment of a replay; `endMs` says how fine: `3.42 s`, `12.4 s`, `3 m 05 s`, `1 h 03 m 05 s`. */
function showAt(atMs: number, endMs: number): string {
  if (endMs < 10_000) return `${(atMs / 1_000).toFixed(2)} s`;
  if (atMs < 60_000) return `${(atMs / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(atMs / 1_000);
  const two = (part: number) => String(part).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m ${two(seconds % 60)} s`;
}

/** The id of the button: the focus goes from it to the playhead, and back. */
const REPLAY_ID = "replay";

/** How a button looks while what it names is on. */
const PRESSED = "aria-pressed:border-accent/50 aria-pressed:bg-accent-soft aria-pressed:text-accent";

/** Opens the replay, and leaves it. */
export function PlayheadToggle() {
  const { begin, leave } = usePlayhead();
  const isOn = useIsPast();
  const act = isOn ? leave : begin;
  useShortcuts([{ keys: "r", does: "Replay the session, and back to now", act }]);
  return (
    <Button id={REPLAY_ID} aria-pressed={isOn} onClick={act} title="Replay" className={PRESSED}>
      <History aria-hidden className="size-3.5" /> <span className="max-md:sr-only">Replay</span>
    </Button>
  );
}
