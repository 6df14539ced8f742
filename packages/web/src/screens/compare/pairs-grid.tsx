import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type RefObject, useCallback, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { withQuery } from "../../data/client.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { join } from "../../ui/class-names.ts";
import { AgentName } from "../../ui/face.tsx";
import { Cell, GridRow, RowGroup, TitleCell, TreeGrid } from "../../ui/grid.tsx";
import { findLook, StatusBadge } from "../../ui/status.tsx";
import {
  FoldAllButton,
  FoldButton,
  type FoldedRow,
  type FoldedTree,
  keepFitting,
  useFolding,
  useRovingFocus,
  useTreeKeys,
} from "../../ui/tree.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import { standingNow } from "../trace-screen/playhead/run-at.ts";
import { showSpan } from "../trace-screen/time-axis.ts";
import { differs, hasSameTask, type RunPair } from "./align-runs.ts";
import type { Letter } from "./side-heads.tsx";
import type { Compared } from "./use-side.ts";

type PairRow = FoldedRow<RunPair>;

const HEAD_PX = 32;
const ROW_PX = 40;
const CARD_PX = 88;
const SECOND_LINE_PX = 16;
/** Beside the navigation, columns would leave too little for the task. */
const NO_ROOM = "(width < 70rem)";

type PairsGridProps = { pairs: readonly RunPair[]; a: Compared; b: Compared; isOnlyDifferent: boolean };

/** The runs of both sessions, those that belong together in one row; only the rows in sight are drawn. */
export function PairsGrid({ pairs, a, b, isOnlyDifferent }: PairsGridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow(NO_ROOM);
  const view = useMemo(
    () => ({
      findId: ({ id }: RunPair) => id,
      kept: isOnlyDifferent ? keepFitting(pairs, differs) : null,
    }),
    [pairs, isOnlyDifferent],
  );
  const tree = useFolding(pairs, view);
  const { rows } = tree;
  const virtual = useRows(rows, scroller, isNarrow);
  const findSide = useSideFinder(a, b);
  const [, go] = useLocation();
  const [cursorId, setCursor] = useState<string | null>(null);
  const focus = useRovingFocus(scroller);
  const visit = (current: PairRow | undefined, side: "a" | "b") => {
    const run = current?.node[side];
    if (run) go(findSide(side === "a" ? "A" : "B", run).path);
  };
  const { row: current, onKeyDown } = useTreeKeys({
    tree,
    cursorId,
    scroller,
    isAway: () => !scroller.current?.contains(document.activeElement),
    onGo({ id }, place) {
      setCursor(id);
      scroller.current?.scrollIntoView({ block: "nearest" });
      virtual.scrollToIndex(place);
      focus(id);
    },
    onExpand: ({ id }) => tree.fold(id, false),
    hasMore: () => false,
    onEnter: (row) => visit(row, row.node.a ? "a" : "b"),
    words: { row: "pair of runs", open: "Open the branch" },
  });
  useShortcuts([
    { keys: "a", does: "Open the run in A's trace", act: () => visit(current, "a") },
    { keys: "b", does: "Open the run in B's trace", act: () => visit(current, "b") },
  ]);
  return (
    <TreeGrid
      ref={scroller}
      aria-label="Runs of both sessions"
      aria-rowcount={rows.length + 1}
      onKeyDown={onKeyDown}
      className="max-h-[70vh] scroll-mt-20 overflow-auto border-y border-line bg-panel"
    >
      <PairsHead isHidden={isNarrow} tree={tree} />
      <RowGroup className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start, size }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <PairLine
              key={key}
              row={row}
              rowIndex={index + 2}
              topPx={start - (isNarrow ? 0 : HEAD_PX)}
              heightPx={size}
              isCurrent={row.id === current?.id}
              isNarrow={isNarrow}
              findSide={findSide}
              onCurrent={setCursor}
              onFold={tree.fold}
            />
          );
        })}
      </RowGroup>
    </TreeGrid>
  );
}

function useRows(rows: readonly PairRow[], scroller: RefObject<HTMLElement | null>, isNarrow: boolean) {
  const heightAt = useCallback(
    (at: number) => {
      const row = rows[at];
      return (isNarrow ? CARD_PX : ROW_PX) + (row && !hasSameTask(row.node) ? SECOND_LINE_PX : 0);
    },
    [rows, isNarrow],
  );
  return useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: heightAt,
    // Another height is another key, so that no old one is kept; another function has all of them taken anew.
    getItemKey: useCallback((at: number) => `${rows[at]?.id ?? at} ${heightAt(at)}`, [rows, heightAt]),
    scrollMargin: isNarrow ? 0 : HEAD_PX,
    scrollPaddingStart: isNarrow ? 0 : HEAD_PX,
    overscan: 10,
  });
}

/** How each side's runs stand and where they lead to. It changes with the clock only while something is at work. */
function useSideFinder(a: Compared, b: Compared) {
  return useMemo(() => {
    const sides = { A: a, B: b };
    return (letter: Letter, run: TraceRun) => {
      const { card, nowMs } = sides[letter];
      return {
        standing: standingNow(run, card.state),
        ms: run.durationMs ?? Math.max(0, nowMs - run.startMs),
        path: withQuery(`/trace/${card.session_id}`, { run: run.runId }),
      };
    };
  }, [a, b]);
}

function PairsHead({ isHidden, tree }: { isHidden: boolean; tree: FoldedTree<RunPair> }) {
  return (
    <RowGroup className={join("sticky top-0 z-10 bg-panel", isHidden && "sr-only")}>
      <GridRow
        aria-rowindex={1}
        className={join(
          COLUMNS,
          "h-8 items-stretch gap-x-2 border-b border-line px-4 text-2xs font-medium text-ink-3",
        )}
      >
        <TitleCell className="flex items-center">
          <FoldAllButton tree={tree} tabIndex={isHidden ? -1 : 0} />
          Run
        </TitleCell>
        {(["A", "B"] as const).map((letter) => (
          <TitleCell key={letter} className={join(FIGURES, "border-l border-line/60 px-4")}>
            <span>{letter}: status</span>
            <span className="text-right">Time</span>
            <span className="text-right">Tokens</span>
            <span className="text-right">Cost</span>
          </TitleCell>
        ))}
      </GridRow>
    </RowGroup>
  );
}

const INDENT_PX = 14;
const MOST_INDENTS = 10;

const COLUMNS = "grid grid-cols-[minmax(0,1fr)_20rem_20rem]";
const FIGURES = "grid grid-cols-[5.75rem_4rem_3.5rem_1fr] items-center gap-x-2";

type FindSide = ReturnType<typeof useSideFinder>;

type PairLineProps = {
  row: PairRow;
  rowIndex: number;
  topPx: number;
  heightPx: number;
  isCurrent: boolean;
  isNarrow: boolean;
  findSide: FindSide;
  onCurrent: (id: string) => void;
  onFold: (id: string, isCollapsed: boolean) => void;
};

/** One pair of runs: who did what at the left, then how it went on either side. */
const PairLine = memo(function PairLine(props: PairLineProps) {
  const { row, rowIndex, topPx, heightPx, isCurrent, isNarrow, findSide, onCurrent } = props;
  const { node: pair, level, isExpanded, place, siblings } = row;
  const [a, b] = [pair.a && findSide("A", pair.a), pair.b && findSide("B", pair.b)];
  const run = pair.a ?? pair.b;
  const words = [
    run?.agent,
    run?.task,
    `A: ${a ? findLook(a.standing).word : "no such run"}`,
    `B: ${b ? findLook(b.standing).word : "no such run"}`,
  ];
  return (
    <GridRow
      aria-rowindex={rowIndex}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isExpanded ?? undefined}
      aria-selected={isCurrent}
      aria-label={words.join(", ")}
      tabIndex={isCurrent ? 0 : -1}
      data-run={pair.id}
      onFocus={() => onCurrent(pair.id)}
      className={join(
        "absolute inset-x-0 top-0 border-b border-line/60 px-4 -outline-offset-2",
        isNarrow ? "flex flex-col justify-center gap-0.5" : join(COLUMNS, "items-stretch gap-x-2"),
        isCurrent ? "bg-raised" : "hover:bg-hover/50",
      )}
      style={{ transform: `translateY(${topPx}px)`, height: heightPx }}
    >
      <NameCell {...props} />
      <RunCell letter="A" run={pair.a} side={a} isNarrow={isNarrow} />
      <RunCell letter="B" run={pair.b} side={b} isNarrow={isNarrow} />
    </GridRow>
  );
});

function NameCell({ row, isNarrow, onFold }: PairLineProps) {
  const { node: pair, level, isExpanded, isFaint } = row;
  const run = pair.a ?? pair.b;
  const isReworded = !hasSameTask(pair);
  const indentPx = Math.min(level - 1, MOST_INDENTS) * (isNarrow ? INDENT_PX / 2 : INDENT_PX);
  return (
    <Cell className={join("flex min-w-0 items-center", isFaint && "text-ink-3 [&_span]:font-normal")}>
      <span aria-hidden className="shrink-0" style={{ width: indentPx }} />
      <FoldButton isExpanded={isExpanded} onToggle={() => onFold(row.id, isExpanded === true)} />
      <div className="grid min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2 text-sm">
          <span className="max-w-40 min-w-0 shrink-0 truncate">
            {run && <AgentName name={run.agent} size="sm" />}
          </span>
          {pair.a && pair.b && pair.a.agent !== pair.b.agent && (
            <span className="flex max-w-40 min-w-0 shrink-0 items-center gap-1 truncate text-xs text-ink-2">
              in B <AgentName name={pair.b.agent} size="sm" />
            </span>
          )}
          <span className="truncate text-xs text-ink-3" title={run?.task}>
            {run?.task}
          </span>
        </div>
        {isReworded && (
          <p className="truncate text-xs text-ink-3" title={pair.b?.task}>
            <span className="font-medium text-ink-2">in B:</span> {pair.b?.task}
          </p>
        )}
      </div>
    </Cell>
  );
}

type RunCellProps = {
  letter: Letter;
  run: TraceRun | null;
  side: ReturnType<FindSide> | null;
  isNarrow: boolean;
};

function RunCell({ letter, run, side, isNarrow }: RunCellProps) {
  const mark = isNarrow && (
    <span aria-hidden className="font-mono text-2xs text-ink-3">
      {letter}
    </span>
  );
  const around = join(
    "flex min-w-0 items-center gap-2",
    isNarrow ? "h-6 pl-6" : "border-l border-line/60 pl-2",
  );
  if (!run || !side)
    return (
      <Cell className={join(around, "text-xs text-ink-3")}>
        {mark} <span className="px-2">only in {letter === "A" ? "B" : "A"}</span>
      </Cell>
    );
  return (
    <Cell className={around}>
      {mark}
      <Link
        href={side.path}
        tabIndex={-1}
        title={`Open it in ${letter}'s trace (${letter.toLowerCase()})`}
        className={join(
          FIGURES,
          "figures h-7 min-w-0 flex-1 rounded-md px-2 text-xs text-ink-2 hover:bg-hover hover:text-ink",
          isNarrow && "h-6 max-w-80",
        )}
      >
        <StatusBadge standing={side.standing} quiet />
        <span className="text-right">{showSpan(side.ms)}</span>
        <span className="text-right">{showShort(run.tokens.subtree)}</span>
        <span className="text-right">{showCost(run.costUsd.subtree)}</span>
      </Link>
    </Cell>
  );
}
