import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef } from "react";
import { useFace } from "../../data/queries.ts";
import { actOnKey, useShortcuts } from "../../frame/shortcuts.ts";
import { join } from "../../ui/class-names.ts";
import { Cell, Grid, GridRow, RowGroup, TitleCell } from "../../ui/grid.tsx";
import { findLook } from "../../ui/status.tsx";
import { isFree, useRovingFocus } from "../../ui/tree.tsx";
import {
  AxisLines,
  AxisNames,
  bringIntoSight,
  type DrawingProps,
  LEAST_BAR_PX,
  type TimeChart,
  useChart,
  useViewport,
} from "./chart.tsx";
import { nearestIn, type PlacedRun, placeLane, sortIntoLanes } from "./lanes.ts";
import { AxisHandle, PlayheadLine, usePlayheadPlace } from "./playhead/playhead.tsx";
import { useStandingThen, useUntil } from "./playhead/playhead-scope.tsx";
import { NOT_BEGUN } from "./playhead/run-at.ts";
import { RunBar } from "./run-bar.tsx";
import { showSpan } from "./time-axis.ts";
import { fitting } from "./tree-view.tsx";

const LANE_PX = 34;
const HEAD_PX = 32;
const NAME_PX = 44;
/** Room that a bar needs to say that its run has not begun. */
const LEAST_WORDS_PX = 64;

/** The runs by lanes: what ran at the same time stands one below the other, and a run below its parent. */
export function LanesView(props: DrawingProps) {
  const { trace, index, timeline, zoom, cursorId, filter } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const viewport = useViewport(scroller);
  const chart = useChart(scroller, {
    timeline,
    zoom,
    leftPx: NAME_PX,
    viewport,
    anchorMs: index.byId.get(cursorId ?? "")?.startMs ?? 0,
  });
  usePlayheadPlace(scroller, chart);
  const lanes = useMemo(() => sortIntoLanes(trace.runs), [trace]);
  const kept = useMemo(() => fitting(trace.runs, filter), [trace, filter]);
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LANE_PX,
    scrollMargin: HEAD_PX,
    scrollPaddingStart: HEAD_PX,
    overscan: 4,
  });
  const onKeyDown = useLaneKeys({ ...props, lanes, scroller });
  const shown = useRef<string | null>(null);
  const focus = useRovingFocus(scroller);
  useEffect(() => {
    const run = index.byId.get(cursorId ?? "");
    if (!run || shown.current === cursorId) return;
    shown.current = cursorId;
    if (isFree(scroller)) focus(run.runId);
    virtual.scrollToIndex(run.lane);
    if (scroller.current) bringIntoSight(scroller.current, chart, run.startMs);
  });
  const window = {
    timeline,
    widthPx: chart.widthPx,
    fromPx: viewport.left - viewport.width,
    toPx: viewport.left + viewport.width * 2,
  };
  const firstId = cursorId ?? lanes[0]?.[0]?.runId ?? null;
  return (
    <Grid
      ref={scroller}
      aria-label="Runs by lanes"
      aria-rowcount={lanes.length + 1}
      onKeyDown={onKeyDown}
      className="min-h-0 min-w-0 flex-1 overflow-auto overscroll-contain bg-panel"
    >
      <LanesHead chart={chart} />
      <RowGroup
        className="relative min-h-full min-w-full"
        style={{ height: virtual.getTotalSize(), width: chart.leftPx + chart.widthPx }}
      >
        <AxisLines chart={chart}>
          <PlayheadLine />
        </AxisLines>
        {virtual.getVirtualItems().map(({ index: at, start }) => (
          <GridRow
            key={at}
            aria-rowindex={at + 2}
            className="absolute top-0 left-0 flex h-[34px] min-w-full border-b border-line/60"
            style={{ transform: `translateY(${start - HEAD_PX}px)`, width: chart.leftPx + chart.widthPx }}
          >
            <Cell
              className="figures sticky left-0 z-10 grid shrink-0 place-items-center border-r border-line bg-panel text-2xs text-ink-3"
              style={{ width: NAME_PX }}
            >
              {at + 1}
            </Cell>
            <Cell className="relative" style={{ width: chart.widthPx }}>
              {placeLane(lanes[at] ?? [], window, firstId).map((placed) => (
                <LaneBar
                  key={placed.run.runId}
                  placed={placed}
                  drawing={props}
                  chart={chart}
                  isFirst={placed.run.runId === firstId}
                  isFaint={kept !== null && kept.get(placed.run) !== false}
                />
              ))}
            </Cell>
          </GridRow>
        ))}
      </RowGroup>
    </Grid>
  );
}

function LanesHead({ chart }: { chart: TimeChart }) {
  return (
    <RowGroup className="sticky top-0 z-20 min-w-full" style={{ width: chart.leftPx + chart.widthPx }}>
      <GridRow aria-rowindex={1} className="flex h-8 border-b border-line bg-panel text-2xs text-ink-3">
        <TitleCell
          className="sticky left-0 z-10 flex shrink-0 items-center justify-center border-r border-line bg-panel font-medium"
          style={{ width: chart.leftPx }}
        >
          Lane
        </TitleCell>
        <TitleCell className="relative">
          <span className="sr-only">Runs by when they were running</span>
          <AxisNames chart={chart} />
          <AxisHandle chart={chart} />
        </TitleCell>
      </GridRow>
    </RowGroup>
  );
}

type LaneBarProps = {
  placed: PlacedRun;
  drawing: DrawingProps;
  chart: TimeChart;
  isFirst: boolean;
  isFaint: boolean;
};

function LaneBar({
  placed: { run, left, width },
  drawing: { onOpen, openId, timeline },
  chart,
  isFirst,
  isFaint,
}: LaneBarProps) {
  const { displayName } = useFace(run.agent);
  const standing = useStandingThen(run);
  const untilMs = useUntil(run, timeline.endMs);
  const isOpen = run.runId === openId;
  const isEarly = standing === NOT_BEGUN;
  const drawnPx = Math.min(width, Math.max(LEAST_BAR_PX, timeline.at(untilMs) * chart.widthPx - left));
  return (
    <button
      type="button"
      tabIndex={isFirst ? 0 : -1}
      data-run={run.runId}
      aria-pressed={isOpen}
      aria-label={`${displayName} ${run.task}, ${findLook(standing).word}${isEarly ? "" : `, ${showSpan(untilMs - run.startMs)}`}`}
      title={`${displayName}: ${run.task}`}
      onClick={() => onOpen(run.runId)}
      className={join(
        "absolute inset-y-1 rounded-[4px] text-left",
        isOpen && "ring-2 ring-accent",
        isFaint && "opacity-35",
      )}
      style={{ left, width }}
    >
      {isEarly ? (
        <span className="absolute inset-0 flex items-center overflow-clip rounded-[4px] border border-dashed border-line-strong px-1.5 text-2xs whitespace-nowrap text-ink-3">
          {width >= LEAST_WORDS_PX && NOT_BEGUN}
        </span>
      ) : (
        <RunBar
          standing={standing}
          place={{ left: 0, width: drawnPx, within: width }}
          stickyPx={chart.leftPx}
          isBeside
        >
          {!isFaint && (
            <>
              <strong className="font-semibold text-ink">{displayName}</strong> {run.task}
            </>
          )}
        </RunBar>
      )}
    </button>
  );
}

type LaneKeysOptions = Pick<DrawingProps, "cursorId" | "index" | "onCursor"> & {
  lanes: readonly (readonly TraceRun[])[];
  scroller: RefObject<HTMLElement | null>;
};

/** Moves through the lanes by keyboard: along a lane, and to whatever ran beside. */
function useLaneKeys({ cursorId, index, onCursor, lanes, scroller }: LaneKeysOptions) {
  const focus = useRovingFocus(scroller);
  const run = index.byId.get(cursorId ?? "") ?? lanes[0]?.[0];
  const goTo = (next: TraceRun | undefined) => {
    if (!next) return;
    focus(next.runId);
    onCursor(next.runId);
  };
  const along = (by: 1 | -1) => {
    const lane = lanes[run?.lane ?? 0] ?? [];
    if (run) goTo(lane[lane.indexOf(run) + by]);
  };
  const across = (by: 1 | -1) => {
    if (!run) return;
    if (cursorId === null) goTo(run);
    for (let lane = run.lane + by; lane >= 0 && lane < lanes.length; lane += by) {
      const next = nearestIn(lanes[lane] ?? [], run);
      if (next) return goTo(next);
    }
  };
  useShortcuts([
    { keys: "j", does: "The lane below", act: () => across(1) },
    { keys: "k", does: "The lane above", act: () => across(-1) },
    { keys: "l", does: "Next run of the lane", act: () => along(1) },
    { keys: "h", does: "Previous run of the lane", act: () => along(-1) },
  ]);
  return (event: KeyboardEvent) =>
    actOnKey(event, [
      ["ArrowDown", () => across(1)],
      ["ArrowUp", () => across(-1)],
      ["ArrowRight", () => along(1)],
      ["ArrowLeft", () => along(-1)],
    ]);
}
