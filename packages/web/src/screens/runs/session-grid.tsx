import type { SessionCard } from "@retinue/core/schema/api/session";
import { showNumber } from "@retinue/core/show/measures";
import { groupSession } from "@retinue/core/show/standing";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { useLocation } from "wouter";
import { actOnKey, useShortcuts } from "../../frame/shortcuts.ts";
import { useNow } from "../../live/signal.ts";
import { join } from "../../ui/class-names.ts";
import { Cell, Grid, GridRow, RowGroup, TitleCell } from "../../ui/grid.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import type { GroupLine } from "./group-sessions.ts";
import { COLUMNS, SessionCardRow, SessionLine } from "./session-line.tsx";
import { BAR_PX } from "./ticked-bar.tsx";
import type { useTicks } from "./use-session-list.ts";

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

type SessionGridProps = {
  lines: readonly GroupLine[];
  ticks: ReturnType<typeof useTicks>;
  onStop: (card: SessionCard) => void;
  handle: Ref<GridHandle>;
};

/** The sessions as a grid with one line under the cursor; only the lines in sight are drawn. */
export function SessionGrid({ lines, ticks, onStop, handle }: SessionGridProps) {
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
  const Session = isNarrow ? SessionCardRow : SessionLine;
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
  scroller: RefObject<HTMLElement | null>;
  isNarrow: boolean;
  /** Kept free below the last line. */
  endPx: number;
};

function useLines(lines: readonly GroupLine[], { scroller, isNarrow, endPx }: LinesOptions) {
  // A new function for other lines or another width makes the list take their heights anew.
  const findKey = useCallback(
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
    getItemKey: findKey,
    // The titles stay in place above the lines.
    scrollMargin: 0,
    scrollPaddingStart: isNarrow ? 0 : 32,
    paddingEnd: endPx,
    scrollPaddingEnd: endPx,
    overscan: 12,
  });
}

const TITLES: readonly { name: string; className?: string; isUnseen?: true }[] = [
  { name: "Ticked", isUnseen: true },
  { name: "Status" },
  { name: "Task" },
  { name: "Agent", className: "hidden @4xl:block" },
  { name: "Agents × depth", className: "hidden text-right @5xl:block" },
  { name: "Time", className: "text-right" },
  { name: "Tokens", className: "hidden text-right @5xl:block" },
  { name: "Cost", className: "text-right" },
  { name: "Changed", className: "text-right" },
  { name: "What to do", isUnseen: true },
];

function GridTitles({ isHidden }: { isHidden: boolean }) {
  return (
    <RowGroup className={join("sticky top-0 z-10 bg-panel", isHidden && "sr-only")}>
      <GridRow
        aria-rowindex={1}
        className={join(
          "grid h-8 items-center gap-x-3 border-b border-line px-4 text-2xs font-medium text-ink-3",
          COLUMNS,
        )}
      >
        {TITLES.map(({ name, className, isUnseen }) => (
          <TitleCell key={name} className={className}>
            {isUnseen ? <span className="sr-only">{name}</span> : name}
          </TitleCell>
        ))}
      </GridRow>
    </RowGroup>
  );
}

function GroupHead({ line, rowIndex }: { line: Extract<GroupLine, { kind: "head" }>; rowIndex: number }) {
  return (
    <GridRow
      aria-rowindex={rowIndex}
      className="flex h-9 items-end gap-2 border-b border-line bg-ground px-4 pb-1.5 text-xs"
    >
      <Cell className={join("font-semibold", line.group === "needsYou" && "text-warn")}>
        {line.name}
        <span className="figures ml-2 font-normal text-ink-3">{showNumber(line.count)}</span>
      </Cell>
    </GridRow>
  );
}

type CursorOptions = {
  lines: readonly GroupLine[];
  scroller: RefObject<HTMLElement | null>;
  scrollTo: (index: number) => void;
  ticks: ReturnType<typeof useTicks>;
  onStop: (card: SessionCard) => void;
};

/** The line that the keys act on. It belongs to a session, whatever place the list gives that. */
function useCursor({ lines, scroller, scrollTo, ticks, onStop }: CursorOptions) {
  const [, go] = useLocation();
  const [currentId, setCurrent] = useState<string | null>(null);
  /** A line that the focus goes to as soon as it is drawn. */
  const wanted = useRef<string | null>(null);
  const known = lines.findIndex((one) => one.kind === "session" && one.card.session_id === currentId);
  const index = known >= 0 ? known : lines.findIndex(({ kind }) => kind === "session");
  const line = lines[index];
  const card = line?.kind === "session" ? line.card : undefined;
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-session="${CSS.escape(wanted.current)}"]`,
    );
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });
  const goTo = (next: number, towards: 1 | -1) => {
    let at = next;
    while (lines[at]?.kind === "head") at += towards;
    const found = lines[at];
    if (found?.kind !== "session") return;
    wanted.current = found.card.session_id;
    setCurrent(found.card.session_id);
    scrollTo(at);
  };
  const isThere = () => scroller.current?.contains(document.activeElement) ?? false;
  const step = (by: 1 | -1) => goTo(isThere() ? index + by : index, by);
  const focus = () => goTo(index, 1);
  useShortcuts([
    { keys: "j", does: "Next session", act: () => step(1) },
    { keys: "k", does: "Previous session", act: () => step(-1) },
    // A button that has the focus has its own use for this key, so that only rows take it, below.
    { keys: "Space", does: "Tick the session, to compare two or delete any", act: () => {} },
    { keys: "t", does: "Open the session's trace", act: () => card && go(`/trace/${card.session_id}`) },
    {
      keys: "x",
      does: "Stop the session",
      act: () => card && groupSession(card) !== "done" && onStop(card),
    },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset.session === undefined) return;
    actOnKey(event, [
      ["ArrowDown", () => step(1)],
      ["ArrowUp", () => step(-1)],
      ["Home", () => goTo(0, 1)],
      ["End", () => goTo(lines.length - 1, -1)],
      ["Enter", () => card && go(`/chat/${card.session_id}`)],
      [" ", () => card && ticks.toggle(card.session_id)],
      ["Escape", ticks.clear],
    ]);
  };
  return { currentId: card?.session_id ?? null, setCurrent, focus, onKeyDown };
}
