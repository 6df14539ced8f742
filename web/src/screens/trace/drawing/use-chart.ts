import { type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import type { Chart } from "./axis.tsx";
import type { Timeline } from "./timeline.ts";
import type { Viewport } from "./use-viewport.ts";

/** Room right of the last bar. */
const RIGHT_PX = 24;
const LEAST_PX = 120;
/** Wider blocks are more than browsers place well. */
const MOST_PX = 4_000_000;

/** What a drawing is made for. */
export type ChartOptions = {
  timeline: Timeline;
  zoom: number;
  leftPx: number;
  viewport: Viewport;
  /** The moment that stays where it is when the zoom changes. */
  anchorMs: number;
};

/** Fits the axis into a block that scrolls, times the zoom. */
export function useChart(
  scroller: RefObject<HTMLElement | null>,
  { timeline, zoom, leftPx, viewport, anchorMs }: ChartOptions,
): Chart {
  const room = Math.max(LEAST_PX, viewport.width - leftPx - RIGHT_PX);
  const widthPx = Math.min(MOST_PX, room * zoom);
  const before = useRef(widthPx);
  useLayoutEffect(() => {
    const block = scroller.current;
    if (block && before.current !== widthPx) {
      const at = timeline.at(anchorMs);
      const seenAt = at * before.current - block.scrollLeft;
      block.scrollLeft = at * widthPx - (seenAt >= 0 && seenAt <= room ? seenAt : room / 4);
    }
    before.current = widthPx;
  });
  return useMemo(() => ({ timeline, widthPx, leftPx }), [timeline, widthPx, leftPx]);
}
