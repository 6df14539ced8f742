import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronsDownUp, ChevronsUpDown } from "lucide-react";
import { type RefObject, useCallback, useMemo, useRef } from "react";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { withQuery } from "../../../api/client.ts";
import { Row, RowGroup, TitleCell, TreeGrid } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";
import { useNarrow } from "../../../ui/use-narrow.ts";
import { standingNow } from "../../trace/replay/course/standing-at.ts";
import type { Letter } from "../side-letter.tsx";
import type { Compared } from "../use-compared.ts";
import type { RunPair } from "./align-runs.ts";
import { COLUMNS, FIGURES, PairLine } from "./pair-line.tsx";
import { hasSameTask, type PairRow } from "./pair-rows.ts";
import { usePairKeys } from "./use-pair-keys.ts";
import { usePairs } from "./use-pairs.ts";

const HEAD_PX = 32;
const ROW_PX = 40;
const CARD_PX = 88;
const SECOND_LINE_PX = 16;
/** Beside the navigation, columns would leave too little for the task. */
const NO_ROOM = "(width < 70rem)";

/** The runs of both sessions, those that belong together in one row; only the rows in sight are drawn. */
export function PairsGrid({
  pairs,
  a,
  b,
  isOnlyDifferent,
}: {
  pairs: readonly RunPair[];
  a: Compared;
  b: Compared;
  isOnlyDifferent: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow(NO_ROOM);
  const shown = usePairs(pairs, isOnlyDifferent);
  const { rows } = shown;
  const virtual = useRows(rows, scroller, isNarrow);
  const sideOf = useSideOf(a, b);
  const { currentId, setCursor, onKeyDown } = usePairKeys({
    shown,
    scroller,
    scrollTo: (at) => virtual.scrollToIndex(at),
    pathOf: (side, run) => sideOf(side === "a" ? "A" : "B", run).path,
  });
  const latest = useRef(shown.toggle);
  latest.current = shown.toggle;
  const onToggle = useCallback((row: PairRow) => latest.current(row), []);
  return (
    <TreeGrid
      ref={scroller}
      aria-label="Runs of both sessions"
      aria-rowcount={rows.length + 1}
      onKeyDown={onKeyDown}
      className="max-h-[70vh] scroll-mt-20 overflow-auto border-y border-line bg-panel"
    >
      <PairsHead isHidden={isNarrow} shown={shown} />
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
              isCurrent={row.pair.id === currentId}
              isNarrow={isNarrow}
              sideOf={sideOf}
              onCurrent={setCursor}
              onToggle={onToggle}
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
      return (isNarrow ? CARD_PX : ROW_PX) + (row && !hasSameTask(row.pair) ? SECOND_LINE_PX : 0);
    },
    [rows, isNarrow],
  );
  return useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: heightAt,
    // Another height is another key, so that no old one is kept; another function has all of them taken anew.
    getItemKey: useCallback((at: number) => `${rows[at]?.pair.id ?? at} ${heightAt(at)}`, [rows, heightAt]),
    scrollMargin: isNarrow ? 0 : HEAD_PX,
    scrollPaddingStart: isNarrow ? 0 : HEAD_PX,
    overscan: 10,
  });
}

/** How each side's runs stand and where they lead to. It changes with the clock only while something is at work. */
function useSideOf(a: Compared, b: Compared) {
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

function PairsHead({ isHidden, shown }: { isHidden: boolean; shown: ReturnType<typeof usePairs> }) {
  const Icon = shown.isAllOpen ? ChevronsDownUp : ChevronsUpDown;
  return (
    <RowGroup className={join("sticky top-0 z-10 bg-panel", isHidden && "sr-only")}>
      <Row
        aria-rowindex={1}
        className={join(
          COLUMNS,
          "h-8 items-stretch gap-x-2 border-b border-line px-4 text-2xs font-medium text-ink-3",
        )}
      >
        <TitleCell className="flex items-center">
          <button
            type="button"
            tabIndex={isHidden ? -1 : 0}
            aria-label={shown.isAllOpen ? "Collapse all" : "Expand all"}
            onClick={shown.isAllOpen ? shown.collapseAll : shown.expandAll}
            className="grid size-6 place-items-center rounded hover:bg-hover hover:text-ink"
          >
            <Icon className="size-3.5" />
          </button>
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
      </Row>
    </RowGroup>
  );
}
