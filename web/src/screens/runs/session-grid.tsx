import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useImperativeHandle, useRef } from "react";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import { useNow } from "../../live/use-now.ts";
import { Cell, Grid, Row, RowGroup, TitleCell } from "../../ui/grid.tsx";
import { join } from "../../ui/join.ts";
import { useNarrow } from "../../ui/use-narrow.ts";
import type { Line } from "./group-sessions.ts";
import { COLUMNS, SessionCardRow, SessionRow } from "./session-row.tsx";
import { BAR_PX } from "./ticked-bar.tsx";
import { useCursor } from "./use-cursor.ts";
import type { useTicks } from "./use-ticks.ts";

const HEAD_PX = 36;
const ROW_PX = 44;
const CARD_PX = 68;
/** Beside the navigation columns would leave too little for the task. */
const NO_ROOM = "(width < 58rem)";

/** Lets others put the focus on the list. */
export type GridHandle = {
  focus: () => void;
  /** A row that is drawn, of a session that is none of these. */
  findRowBesides: (sessionIds: readonly string[]) => HTMLElement | null;
};

/** The sessions as a grid with one line under the cursor; only the lines in sight are drawn. */
export function SessionGrid({
  lines,
  ticks,
  onStop,
  handle,
}: {
  lines: readonly Line[];
  ticks: ReturnType<typeof useTicks>;
  onStop: (card: SessionCard) => void;
  handle: Ref<GridHandle>;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow(NO_ROOM);
  const nowMs = useNow(true);
  const virtual = useLines(lines, { scroller, isNarrow, endPx: ticks.ticked.length > 0 ? BAR_PX : 0 });
  const scrollTo = (index: number) => virtual.scrollToIndex(index);
  const { currentId, setCurrent, focus, onKeyDown } = useCursor({
    lines,
    scroller,
    scrollTo,
    ticks,
    onStop,
  });
  const findRowBesides = (sessionIds: readonly string[]) => {
    const rows = scroller.current?.querySelectorAll<HTMLElement>("[data-session]") ?? [];
    return [...rows].find((row) => !sessionIds.includes(row.dataset.session ?? "")) ?? null;
  };
  useImperativeHandle(handle, () => ({ focus, findRowBesides }));
  const Session = isNarrow ? SessionCardRow : SessionRow;
  return (
    <Grid
      ref={scroller}
      aria-label="Sessions"
      aria-rowcount={lines.length + 1}
      onKeyDown={onKeyDown}
      className="@container min-h-0 flex-1 overflow-auto bg-panel"
    >
      <GridTitles isHidden={isNarrow} />
      <RowGroup className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const line = lines[index];
          if (!line) return null;
          return (
            <div
              key={key}
              role="none"
              className="absolute inset-x-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              {line.kind === "head" ? (
                <GroupHead line={line} rowIndex={index + 2} />
              ) : (
                <Session
                  card={line.card}
                  rowIndex={index + 2}
                  nowMs={nowMs}
                  isCurrent={line.card.session_id === currentId}
                  isTicked={ticks.ticked.includes(line.card.session_id)}
                  onTick={ticks.toggle}
                  onStop={onStop}
                  onCurrent={setCurrent}
                />
              )}
            </div>
          );
        })}
      </RowGroup>
    </Grid>
  );
}

type LinesOptions = {
  scroller: React.RefObject<HTMLElement | null>;
  isNarrow: boolean;
  /** Kept free below the last line. */
  endPx: number;
};

function useLines(lines: readonly Line[], { scroller, isNarrow, endPx }: LinesOptions) {
  // A new function for other lines or another width makes the list take their heights anew.
  const keyOf = useCallback(
    (index: number) => {
      const line = lines[index];
      const name = line?.kind === "session" ? line.card.session_id : (line?.group ?? index);
      return isNarrow ? `narrow ${name}` : name;
    },
    [lines, isNarrow],
  );
  return useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === "head" ? HEAD_PX : isNarrow ? CARD_PX : ROW_PX),
    getItemKey: keyOf,
    // The titles stay in place above the lines.
    scrollMargin: 0,
    scrollPaddingStart: isNarrow ? 0 : 32,
    paddingEnd: endPx,
    scrollPaddingEnd: endPx,
    overscan: 12,
  });
}

const TITLES: readonly { name: string; className?: string }[] = [
  { name: "Status" },
  { name: "Task" },
  { name: "Agent", className: "hidden @4xl:block" },
  { name: "Agents × depth", className: "hidden text-right @5xl:block" },
  { name: "Time", className: "text-right" },
  { name: "Tokens", className: "hidden text-right @5xl:block" },
  { name: "Cost", className: "text-right" },
  { name: "Changed", className: "text-right" },
];

function GridTitles({ isHidden }: { isHidden: boolean }) {
  return (
    <RowGroup className={join("sticky top-0 z-10 bg-panel", isHidden && "sr-only")}>
      <Row
        aria-rowindex={1}
        className={join(
          "grid h-8 items-center gap-x-3 border-b border-line px-4 text-2xs font-medium text-ink-3",
          COLUMNS,
        )}
      >
        <TitleCell>
          <span className="sr-only">Ticked</span>
        </TitleCell>
        {TITLES.map(({ name, className }) => (
          <TitleCell key={name} className={className}>
            {name}
          </TitleCell>
        ))}
        <TitleCell>
          <span className="sr-only">What to do</span>
        </TitleCell>
      </Row>
    </RowGroup>
  );
}

function GroupHead({ line, rowIndex }: { line: Extract<Line, { kind: "head" }>; rowIndex: number }) {
  return (
    <Row
      aria-rowindex={rowIndex}
      className="flex h-9 items-end gap-2 border-b border-line bg-ground px-4 pb-1.5 text-xs"
    >
      <Cell className={join("font-semibold", line.group === "needsYou" && "text-warn")}>
        {line.name}
        <span className="figures ml-2 font-normal text-ink-3">{line.count.toLocaleString("en-US")}</span>
      </Cell>
    </Row>
  );
}
