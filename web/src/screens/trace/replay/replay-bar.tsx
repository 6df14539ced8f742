import { FastForward, Pause, Play, SkipBack, SkipForward, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { useFace } from "../../../api/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import { Button } from "../../../ui/button.tsx";
import { Segmented } from "../../../ui/controls/segmented.tsx";
import { Tooltip } from "../../../ui/tooltip.tsx";
import { type Happening, wordsOf } from "./course/happenings.ts";
import { upperBound } from "./course/upper-bound.ts";
import { useReplay, useThen } from "./replay-scope.tsx";
import { ReplaySlider } from "./replay-slider.tsx";
import { PRESSED, REPLAY_ID } from "./replay-toggle.tsx";
import { showAt } from "./show-at.ts";

const SPEED_CHOICES = [
  { value: "1", name: "1×" },
  { value: "4", name: "4×" },
  { value: "16", name: "16×" },
  { value: "fit", name: "20 s" },
] as const;

/** What moves through the session: the playhead, play and pause, steps, speed, and the way back to now. */
export function ReplayBar({ isLive }: { isLive: boolean }) {
  const { step, toggle, speed, setSpeed } = useReplay();
  const slider = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever came by the button goes on with the playhead.
    if (document.activeElement?.id === REPLAY_ID) slider.current?.focus({ preventScroll: true });
  }, []);
  useShortcuts([
    { keys: "p", does: "Play or pause the replay", act: toggle },
    { keys: ",", does: "To what happened before", act: () => step(-1) },
    { keys: ".", does: "To what happened next", act: () => step(1) },
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
      <ReplaySlider ref={slider} />
    </section>
  );
}

function Transport() {
  const { step, toggle, isPlaying } = useReplay();
  const isOn = useSignal(isPlaying);
  const Icon = isOn ? Pause : Play;
  return (
    <div className="flex items-center gap-0.5">
      <Tooltip words="What happened before (,)">
        <Button kind="quiet" aria-label="What happened before" onClick={() => step(-1)}>
          <SkipBack aria-hidden className="size-4" />
        </Button>
      </Tooltip>
      <Tooltip words={isOn ? "Pause (p)" : "Play (p)"}>
        <Button kind="primary" aria-label={isOn ? "Pause" : "Play"} onClick={toggle}>
          <Icon aria-hidden className="size-4" />
        </Button>
      </Tooltip>
      <Tooltip words="What happened next (.)">
        <Button kind="quiet" aria-label="What happened next" onClick={() => step(1)}>
          <SkipForward aria-hidden className="size-4" />
        </Button>
      </Tooltip>
    </div>
  );
}

function Clock() {
  const { at, endMs } = useReplay();
  const atMs = Math.min(endMs, useSignal(at) ?? endMs);
  return (
    <p className="figures mr-1 text-sm font-medium whitespace-nowrap">
      {showAt(atMs, endMs)} <span className="font-normal text-ink-3">of {showAt(endMs, endMs)}</span>
    </p>
  );
}

/** What happened last before the playhead; told to screen readers when a person moved it, not while it plays. */
function Happened() {
  const { course, isPlaying, calls, loadAgain } = useReplay();
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
      <span className="font-medium text-ink">{displayName}</span> {wordsOf(last)}
      {isSame && <span className="text-ink-3">, and more at the same moment</span>}
    </>
  );
}

function SkipIdle() {
  const { course, skipsIdle, skipIdle } = useReplay();
  if (course.idle.length === 0) return null;
  return (
    <Tooltip words="Draw stretches of more than 2 s in which nothing was at work short, and hurry through them">
      <Button aria-pressed={skipsIdle} onClick={() => skipIdle(!skipsIdle)} className={PRESSED}>
        <FastForward aria-hidden className="size-3.5" /> <span className="max-md:sr-only">Skip idle</span>
      </Button>
    </Tooltip>
  );
}

function Leave({ isLive }: { isLive: boolean }) {
  const { leave } = useReplay();
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
  return (
    <Tooltip words="Leave the replay (r)">
      <Button kind="quiet" aria-label="Leave the replay" onClick={onClick}>
        <X aria-hidden className="size-4" />
      </Button>
    </Tooltip>
  );
}
