import type { Trace } from "@retinue/core/schema/inspect/trace";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { TimeAxis } from "./time-axis.ts";
import type { TraceIndex } from "./trace-index.ts";

/** What both drawings of a trace are given. */
export type DrawingProps = {
  trace: Trace;
  index: TraceIndex;
  timeline: TimeAxis;
  nowMs: number;
  /** 1 fits everything into the block. */
  zoom: number;
  filter: string;
  /** The run that the keys act on; the pane shows `openId`. */
  cursorId: string | null;
  openId: string | null;
  onCursor: (runId: string) => void;
  onOpen: (runId: string) => void;
};

/** The moment that a trace counts from, by the clock. */
export function findOrigin({ runs: [first] }: Trace): number {
  return first ? Date.parse(first.startedAt) - first.startMs : 0;
}

/** Room right of the last bar. */
const RIGHT_PX = 24;
const LEAST_PX = 120;
/** Wider blocks are more than browsers place well. */
const MOST_PX = 4_000_000;

/** What a drawing is made for. */
type ChartOptions = {
  timeline: TimeAxis;
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
): TimeChart {
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

/** The width of a block that scrolls, and how far it is scrolled to the right. */
type Viewport = { width: number; left: number };

/** Scrolling sideways is told in such steps, so that not every pixel draws anew. */
const STEP_PX = 200;

/** Follows a block that scrolls. */
export function useViewport(scroller: RefObject<HTMLElement | null>): Viewport {
  const [viewport, setViewport] = useState<Viewport>({ width: 0, left: 0 });
  useLayoutEffect(() => {
    const block = scroller.current;
    if (!block) return;
    const look = () => {
      const width = block.clientWidth;
      const left = Math.floor(block.scrollLeft / STEP_PX) * STEP_PX;
      setViewport((before) => (before.width === width && before.left === left ? before : { width, left }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(block);
    block.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      block.removeEventListener("scroll", look);
    };
  }, [scroller]);
  return viewport;
}

/** Scrolls sideways to where something begins, if that is out of sight. */
export function bringIntoSight(
  block: HTMLElement,
  { timeline, widthPx, leftPx }: TimeChart,
  ms: number,
): void {
  const at = timeline.at(ms) * widthPx;
  const room = block.clientWidth - leftPx;
  if (at < block.scrollLeft || at > block.scrollLeft + room - 40)
    block.scrollLeft = Math.max(0, at - room / 4);
}

/** Bars are never narrower than this, in pixels. */
export const LEAST_BAR_PX = 3;

/** Puts the focus on the element of a run, now or as soon as it is drawn: what is out of sight has none yet. */
export function useRovingFocus(scroller: RefObject<HTMLElement | null>): (runId: string) => void {
  const wanted = useRef<string | null>(null);
  const take = () => {
    if (wanted.current === null) return;
    const name = CSS.escape(wanted.current);
    const found = scroller.current?.querySelector<HTMLElement>(`[data-run="${name}"]`);
    if (!found) return;
    wanted.current = null;
    found.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (isFree(scroller)) take();
    else wanted.current = null;
  });
  return (runId) => {
    wanted.current = runId;
    take();
  };
}

/** Whether the focus may be moved without being asked for: it is among the runs, or on nothing but the page or screen. */
export function isFree(scroller: RefObject<HTMLElement | null>): boolean {
  const { activeElement } = document;
  const isNowhere = activeElement === document.body || activeElement?.id === "screen";
  return isNowhere || (scroller.current?.contains(activeElement) ?? false);
}

/** What is drawn along time: the axis, its width in pixels and where it begins. */
export type TimeChart = { timeline: TimeAxis; widthPx: number; leftPx: number };
