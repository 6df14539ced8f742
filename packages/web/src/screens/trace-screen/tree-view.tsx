import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { createFilter } from "../../ui/create-filter.ts";
import { GridRow, RowGroup, TitleCell, TreeGrid } from "../../ui/grid.tsx";
import {
  FoldAllButton,
  type FoldedRow,
  type FoldedTree,
  isFree,
  keepFitting,
  useFolding,
  useRovingFocus,
  useTreeKeys,
} from "../../ui/tree.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import {
  AxisLines,
  AxisNames,
  bringIntoSight,
  type DrawingProps,
  findOrigin,
  type TimeChart,
  useChart,
  useViewport,
} from "./chart.tsx";
import { AxisHandle, PlayheadLine, usePlayheadPlace } from "./playhead/playhead.tsx";
import { Splitter } from "./splitter.tsx";
import { TraceLine } from "./tree-line.tsx";
import { chainAbove } from "./use-trace.ts";

const ROW_PX = 32;
const NARROW_ROW_PX = 60;
const HEAD_PX = 32;
const LEAST_TREE_PX = 200;
const MOST_TREE_SHARE = 0.6;
const OVERSCAN = 10;
/** Traces of at most so many runs show the model and tool calls of every row in sight. */
const SHOW_ALL_STEPS = 60;

/** The runs as a tree with a waterfall beside it: one grid, one scroll, and only the rows in sight are drawn. */
export function TreeView(props: DrawingProps) {
  const { trace, timeline, zoom, cursorId, openId, onCursor, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const anchor = useRef(0);
  const [treePx, setTreePx] = useState(400);
  const viewport = useViewport(scroller);
  const mostPx = Math.max(LEAST_TREE_PX, viewport.width * MOST_TREE_SHARE);
  const leftPx = isNarrow ? 0 : Math.min(treePx, mostPx);
  const chart = useChart(scroller, {
    timeline,
    zoom: isNarrow ? 1 : zoom,
    leftPx,
    viewport,
    anchorMs: anchor.current,
  });
  usePlayheadPlace(scroller, chart);
  const { tree, expand, hasSteps } = useRunTree(props);
  const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX;
  const virtual = useVirtualizer({
    count: tree.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey: useCallback((at: number) => at * rowPx, [rowPx]),
    scrollMargin: isNarrow ? 0 : HEAD_PX,
    scrollPaddingStart: isNarrow ? 0 : HEAD_PX,
    overscan: OVERSCAN,
  });
  const focus = useRovingFocus(scroller);
  const { onKeyDown } = useTreeKeys({
    tree,
    cursorId,
    scroller,
    isAway: () => cursorId === null,
    onGo({ id }) {
      focus(id);
      onCursor(id);
    },
    onExpand: expand,
    hasMore: ({ id }) => !hasSteps(id),
    onEnter: ({ id }) => onOpen(id),
    words: { row: "run", open: "Open the run's branch and calls" },
  });
  useReveal({ ...props, tree, scroller, chart, scrollTo: (at) => virtual.scrollToIndex(at) });
  const toggle = (row: FoldedRow<TraceRun>) => (row.isExpanded ? tree.fold(row.id, true) : expand(row));
  const latest = useRef(toggle);
  latest.current = toggle;
  const onToggle = useCallback((row: FoldedRow<TraceRun>) => latest.current(row), []);
  const originMs = findOrigin(trace);
  anchor.current = findAnchor(props, tree.rows[virtual.range?.startIndex ?? 0]);
  const cursor = tree.findPlace(cursorId) === undefined ? tree.rows[0]?.id : cursorId;
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1">
      <TreeGrid
        ref={scroller}
        aria-label="Runs as a tree"
        aria-rowcount={tree.rows.length + 1}
        onKeyDown={onKeyDown}
        className="min-h-0 min-w-0 flex-1 overflow-auto overscroll-contain bg-panel"
      >
        {!isNarrow && <TreeHead chart={chart} tree={tree} />}
        <RowGroup
          className="relative min-h-full min-w-full"
          style={{
            height: virtual.getTotalSize(),
            width: isNarrow ? undefined : chart.leftPx + chart.widthPx,
          }}
        >
          {!isNarrow && (
            <AxisLines chart={chart}>
              <PlayheadLine />
            </AxisLines>
          )}
          {virtual.getVirtualItems().map(({ index: at, start }) => {
            const row = tree.rows[at];
            if (!row) return null;
            return (
              <TraceLine
                key={row.id}
                row={row}
                rowIndex={at + 2}
                topPx={start - (isNarrow ? 0 : HEAD_PX)}
                chart={chart}
                originMs={originMs}
                isCursor={row.id === cursor}
                isOpen={row.id === openId}
                hasSteps={hasSteps(row.id)}
                isNarrow={isNarrow}
                onOpen={onOpen}
                onToggle={onToggle}
              />
            );
          })}
        </RowGroup>
      </TreeGrid>
      {tree.rows.length === 0 && (
        <p role="status" className="absolute inset-x-0 top-24 px-4 text-center text-sm text-ink-2">
          No run fits the filter. Escape in its field clears it.
        </p>
      )}
      {!isNarrow && (
        <div className="absolute inset-y-0 z-30 flex" style={{ left: leftPx - 4 }}>
          <Splitter
            label="Width of the tree"
            width={leftPx}
            least={LEAST_TREE_PX}
            most={mostPx}
            onChange={setTreePx}
          />
        </div>
      )}
    </div>
  );
}

/** The rows of the tree, and which of them show their calls. A filter opens everything that leads to what fits. */
function useRunTree({ trace, filter, openId }: Pick<DrawingProps, "trace" | "filter" | "openId">) {
  const [stepped, setStepped] = useState<ReadonlySet<string>>(new Set());
  const view = useMemo(
    () => ({ findId: ({ runId }: TraceRun) => runId, kept: fitting(trace.runs, filter), isOpened: true }),
    [trace, filter],
  );
  const tree = useFolding(trace.runs, view);
  return {
    tree,
    expand({ id }: FoldedRow<TraceRun>) {
      tree.fold(id, false);
      setStepped((before) => new Set(before).add(id));
    },
    hasSteps: (runId: string) =>
      trace.totals.runs <= SHOW_ALL_STEPS || runId === openId || stepped.has(runId),
  };
}

/** Runs that have every word in their agent, task, error or summary, and (with true) all above them; null without words. */
export function fitting(roots: readonly TraceRun[], filter: string): Map<TraceRun, boolean> | null {
  if (filter.trim() === "") return null;
  const fits = createFilter(filter);
  return keepFitting(roots, ({ agent, task, error, result, runId, status }) =>
    fits(agent, task, status, error, result?.summary, runId),
  );
}

function TreeHead({ chart, tree }: { chart: TimeChart; tree: FoldedTree<TraceRun> }) {
  return (
    <RowGroup className="sticky top-0 z-20 min-w-full" style={{ width: chart.leftPx + chart.widthPx }}>
      <GridRow
        aria-rowindex={1}
        className="flex h-8 items-stretch border-b border-line bg-panel text-2xs font-medium text-ink-3"
      >
        <div
          className="sticky left-0 z-10 flex shrink-0 items-center border-r border-line bg-panel"
          style={{ width: chart.leftPx }}
        >
          <TitleCell className="flex flex-1 items-center gap-1 pl-2">
            <FoldAllButton tree={tree} /> Run
          </TitleCell>
          <TitleCell className="w-20 pr-3 text-right">Time</TitleCell>
        </div>
        <TitleCell className="relative">
          <span className="sr-only">When it was running</span>
          <AxisNames chart={chart} />
          <AxisHandle chart={chart} />
        </TitleCell>
      </GridRow>
    </RowGroup>
  );
}

/** What one looks at stays in sight when the zoom changes: the run under the cursor, or else the first row. */
function findAnchor({ index, cursorId }: DrawingProps, first: FoldedRow<TraceRun> | undefined): number {
  return (index.byId.get(cursorId ?? "") ?? first?.node)?.startMs ?? 0;
}

type RevealOptions = Pick<DrawingProps, "cursorId" | "index"> & {
  tree: FoldedTree<TraceRun>;
  scroller: RefObject<HTMLElement | null>;
  chart: TimeChart;
  scrollTo: (at: number) => void;
};

/** Brings the run under the cursor into sight, wherever the cursor came from: everything above it opens. */
function useReveal({ cursorId, index, tree, scroller, chart, scrollTo }: RevealOptions): void {
  const shown = useRef<string | null>(null);
  const focus = useRovingFocus(scroller);
  useEffect(() => {
    const run = index.byId.get(cursorId ?? "");
    if (!run || shown.current === cursorId) return;
    const at = tree.findPlace(cursorId);
    if (at === undefined) {
      tree.uncover(chainAbove(index, run).map(({ runId }) => runId));
      return;
    }
    shown.current = cursorId;
    if (isFree(scroller)) focus(run.runId);
    scrollTo(at);
    if (scroller.current) bringIntoSight(scroller.current, chart, run.startMs);
  });
}
