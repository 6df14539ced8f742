import { type RefObject, useLayoutEffect } from "react";
import type { Chart } from "../drawing/axis.tsx";
import { bringIntoSight } from "../drawing/bring-into-sight.ts";
import { useIsReplayed, useReplay } from "./replay-scope.tsx";
import { useDrag } from "./use-drag.ts";

const NAME = "--playhead";
const PLACE = { left: `var(${NAME})` };

/** Keeps the place of the playhead beside the drawing, so that what stands there need not be drawn anew. Whenever it moves it is in sight. */
export function usePlayheadPlace(scroller: RefObject<HTMLElement | null>, chart: Chart): void {
  const { at } = useReplay();
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
  if (!useIsReplayed()) return null;
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
export function AxisHandle({ chart }: { chart: Chart }) {
  const onPointerDown = useDrag(chart.timeline);
  if (!useIsReplayed()) return null;
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
