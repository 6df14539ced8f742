import { type PointerEvent, type RefObject, useLayoutEffect } from "react";
import { bringIntoSight, type TimeChart } from "../chart.tsx";
import { followPointer } from "../splitter.tsx";
import type { TimeAxis } from "../time-axis.ts";
import { useIsPast, usePlayhead } from "./playhead-scope.tsx";

const NAME = "--playhead";
const PLACE = { left: `var(${NAME})` };

/** Keeps the place of the playhead beside the drawing, so that what stands there need not be drawn anew. Whenever it moves it is in sight. */
export function usePlayheadPlace(scroller: RefObject<HTMLElement | null>, chart: TimeChart): void {
  const { at } = usePlayhead();
  useLayoutEffect(() => {
    const place = () => {
      const block = scroller.current;
      if (!block || at.value === null) return;
      block.style.setProperty(NAME, `${chart.timeline.at(at.value) * chart.widthPx}px`);
    };
    place();
    return at.subscribe(() => {
      place();
      const block = scroller.current;
      // Under the person's own hand it is, and nothing may move away from there.
      if (block && at.value !== null && !block.matches(":active")) bringIntoSight(block, chart, at.value);
    });
  }, [scroller, chart, at]);
}

/** The line of the moment, through everything that is drawn along time. */
export function PlayheadLine() {
  if (!useIsPast()) return null;
  return (
    <span
      aria-hidden
      data-testid="playhead"
      className="pointer-events-none absolute inset-y-0 w-px bg-accent"
      style={PLACE}
    />
  );
}

/** Over the names of moments: the playhead can be taken hold of, or put anywhere. Keys move the one in the bar. */
export function AxisHandle({ chart }: { chart: TimeChart }) {
  const onPointerDown = useDrag(chart.timeline);
  if (!useIsPast()) return null;
  return (
    <div
      aria-hidden
      data-testid="axis-handle"
      onPointerDown={onPointerDown}
      className="absolute inset-y-0 left-0 cursor-ew-resize touch-none"
      style={{ width: chart.widthPx }}
    >
      <span className="absolute bottom-0 -ml-[5px] h-3 w-[11px] rounded-t-[3px] bg-accent" style={PLACE} />
      <span className="absolute inset-y-0 w-px bg-accent" style={PLACE} />
    </div>
  );
}

/** Takes the playhead along with the pointer, over a block that is as long as the axis. */
export function useDrag(timeline: TimeAxis): (event: PointerEvent<HTMLElement>) => void {
  const { goTo } = usePlayhead();
  return (event) => {
    if (event.button !== 0) return;
    const { currentTarget: block } = event;
    const follow = ({ clientX }: { clientX: number }) => {
      const { left, width } = block.getBoundingClientRect();
      goTo(timeline.momentAt((clientX - left) / Math.max(1, width)));
    };
    followPointer(event, follow);
    follow(event);
  };
}
