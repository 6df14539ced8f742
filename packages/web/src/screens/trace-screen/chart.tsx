import type { Trace } from "@retinue/core/schema/inspect/trace";
import { showSpacedDuration } from "@retinue/core/show/measures";
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { placeTicks, type TimeAxis } from "./time-axis.ts";
import type { TraceIndex } from "./use-trace.ts";

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

/** What is drawn along time: the axis, its width in pixels and where it begins. */
export type TimeChart = { timeline: TimeAxis; widthPx: number; leftPx: number };

const HATCHED =
  "repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px), linear-gradient(var(--ground), var(--ground))";

/** Names of moments above the bars. */
export function AxisNames({ chart: { timeline, widthPx } }: { chart: TimeChart }) {
  const ticks = useMemo(() => placeTicks(timeline, widthPx), [timeline, widthPx]);
  return (
    <div aria-hidden className="relative h-full overflow-clip" style={{ width: widthPx }}>
      {ticks.map(({ at, text }) => (
        <span
          key={at}
          className="figures absolute top-1/2 -translate-y-1/2 pl-1.5 text-2xs whitespace-nowrap text-ink-3"
          style={{ left: at * widthPx }}
        >
          {text}
        </span>
      ))}
      {timeline.gaps.map(({ from, to, leftOutMs }) => (
        <span
          key={from}
          title={`${showSpacedDuration(leftOutMs)} in which nothing was running`}
          className="absolute inset-y-1 grid place-items-center overflow-clip bg-panel text-2xs text-ink-3"
          style={{ left: from * widthPx, width: (to - from) * widthPx }}
        >
          <span className="whitespace-nowrap">
            {(to - from) * widthPx > 60 ? `${showSpacedDuration(leftOutMs)} idle` : "⋯"}
          </span>
        </span>
      ))}
    </div>
  );
}

type AxisLinesProps = { chart: TimeChart; children: ReactNode };

/** Lines and idle stretches behind the bars, once for all rows, with what else is drawn there. */
export function AxisLines({ chart: { timeline, widthPx, leftPx }, children }: AxisLinesProps) {
  const ticks = useMemo(() => placeTicks(timeline, widthPx), [timeline, widthPx]);
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-y-0 overflow-clip"
      style={{ left: leftPx, width: widthPx }}
    >
      {ticks.map(({ at }) => (
        <span key={at} className="absolute inset-y-0 w-px bg-line/70" style={{ left: at * widthPx }} />
      ))}
      {timeline.gaps.map(({ from, to }) => (
        <span
          key={from}
          className="absolute inset-y-0 border-x border-line"
          style={{ left: from * widthPx, width: (to - from) * widthPx, background: HATCHED }}
        />
      ))}
      {children}
    </div>
  );
}
