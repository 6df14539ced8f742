import { useEffect, useRef } from "react";
import { type Signal, useSignal } from "../../../live/signal.ts";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { advance, type Pace } from "./course/advance.ts";
import { upperBound } from "./course/upper-bound.ts";

/** A page that was hidden goes on where it was. */
const MOST_FRAME_MS = 250;
/** Without motion the playhead goes from one thing that happened to a later one, no more often than can be read. */
const STEP_MS = 700;

/** Moves the playhead while it plays, and stops at the end. */
export function usePlay(
  at: Signal<number | null>,
  isPlaying: Signal<boolean>,
  course: { pace: Pace; times: Float64Array },
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
