import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { actOnKey } from "../../../frame/shortcuts.ts";
import type { SessionStore } from "../../../live/session-store.ts";
import { createThrottle, useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { Button } from "../../../ui/controls.tsx";
import { RowGroup, TreeGrid } from "../../../ui/grid.tsx";
import { type ChatView, type Said, useChatView } from "../chat-view.ts";
import { type ChatRow, flattenSession, type Held, isSameRow } from "./flatten-session.ts";
import { RowView } from "./row-view.tsx";
import { type RowCursor, useRowCursor } from "./use-row-cursor.ts";

const HEIGHTS: Readonly<Record<ChatRow["kind"], number>> = {
  person: 64,
  run: 40,
  body: 90,
  group: 44,
  approval: 200,
  said: 40,
  notice: 28,
  answer: 120,
};
const OVERSCAN = 8;

type RowListProps = { cursor: RefObject<RowCursor | null>; onEnter: (row: ChatRow) => void };

/** The conversation: only the lines in view are drawn, and its end stays in view while the person is there. */
export function RowList({ cursor: handed, onEnter }: RowListProps) {
  const store = useSession();
  const view = useChatView();
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const rows = useRows(store, view, isAtEnd);
  const currentKey = useSignal(view.current);
  const currentIndex = currentKey === null ? -1 : rows.findIndex(({ key }) => key === currentKey);
  const isAway = useStickyEnd(scroller, isAtEnd);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHTS[rows[index]?.kind ?? "run"],
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    overscan: OVERSCAN,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: "end",
    scrollEndThreshold: 40,
    directDomUpdates: true,
    // A row that has the focus stays, or the keyboard would lose its place.
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range);
      if (currentIndex < 0 || indexes.includes(currentIndex)) return indexes;
      return [...indexes, currentIndex].sort((one, other) => one - other);
    },
  });
  const cursor = useRowCursor({
    rows,
    store,
    view,
    scroller,
    show: (index) => {
      isAtEnd.current = false;
      virtual.scrollToIndex(index, { align: "auto" });
    },
    showEnd: () => {
      isAtEnd.current = true;
      virtual.scrollToEnd();
    },
  });
  handed.current = cursor;
  const told = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (!isAtEnd.current || rows.length === 0) return;
    const ended = endedUnseen(store, view);
    if (ended !== null && ended !== told.current) {
      // An answer that comes as a whole is read from its request on, not from its end.
      const index = rows.findIndex(({ key }) => key === `person:${ended}`);
      isAtEnd.current = false;
      virtual.scrollToIndex(index, { align: "start" });
    } else virtual.scrollToEnd();
    told.current = ended;
  }, [rows, virtual, store, view]);
  return (
    <div className="relative min-h-0 flex-1">
      <TreeGrid
        ref={scroller}
        aria-label="Conversation"
        aria-rowcount={rows.length}
        aria-readonly="true"
        tabIndex={currentIndex < 0 ? 0 : -1}
        onKeyDown={(event) => onRowKey(event, cursor, onEnter)}
        className="h-full overflow-x-hidden overflow-y-auto overscroll-contain outline-offset-[-2px] [--guide:1rem] [--indent:1.75rem] [--most:12] [overflow-anchor:none] max-sm:[--guide:0.3rem] max-sm:[--indent:0.6rem] max-sm:[--most:3]"
      >
        <RowGroup ref={virtual.containerRef} className="relative w-full">
          {virtual.getVirtualItems().map(({ index, key }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <RowView
                key={key}
                row={row}
                index={index}
                isCurrent={row.key === currentKey}
                measure={virtual.measureElement}
              />
            );
          })}
        </RowGroup>
      </TreeGrid>
      {isAway && (
        <Button
          onClick={cursor.toEnd}
          className="absolute bottom-3 left-1/2 -translate-x-1/2 animate-arrive rounded-full shadow-float"
        >
          <ArrowDown aria-hidden className="size-3.5" /> Jump to latest
        </Button>
      )}
    </div>
  );
}

/** The last root run, if it has ended without anyone having seen its answer grow. */
function endedUnseen(store: SessionStore, view: ChatView): string | null {
  const last = store.roots.value.at(-1);
  if (last === undefined || view.lastSaid.has(last)) return null;
  return store.run(last)?.value.endedAtMs == null ? null : last;
}

/** Keys of the row itself; what is typed into a field or onto a button inside it is theirs. */
function onRowKey(event: KeyboardEvent, cursor: RowCursor, onEnter: (row: ChatRow) => void): void {
  const { target, currentTarget } = event;
  const isRow = target instanceof HTMLElement && target.role === "row";
  if (!isRow && target !== currentTarget) return;
  const row = cursor.current();
  actOnKey(event, [
    ["ArrowDown", () => cursor.move(1)],
    ["ArrowUp", () => cursor.move(-1)],
    ["ArrowRight", () => cursor.fold(true)],
    ["ArrowLeft", () => cursor.fold(false)],
    ["Home", () => cursor.leap("first")],
    ["End", () => cursor.leap("last")],
    ["Enter", () => void (row && onEnter(row))],
  ]);
}

const NEAR_PX = 40;
const INTENT_MS = 1_000;
const INTENTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/** Whether the end of what scrolls is held in view: until the person goes up, and again once they are back. */
function useStickyEnd(scroller: RefObject<HTMLElement | null>, isAtEnd: RefObject<boolean>): boolean {
  const [isAway, setAway] = useState(false);
  const before = useRef({ top: 0, height: 0 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let intentAtMs = -INTENT_MS;
    const onIntent = ({ timeStamp }: Event) => {
      intentAtMs = timeStamp;
    };
    const onScroll = ({ timeStamp }: Event) => {
      const { scrollTop: top, scrollHeight: height, clientHeight } = element;
      const isNear = height - top - clientHeight <= NEAR_PX;
      // Rows that turn out taller or shorter than thought move the page too; that is not what the person wants.
      const isWished =
        timeStamp - intentAtMs < INTENT_MS || (height === before.current.height && top < before.current.top);
      before.current = { top, height };
      if (isNear) isAtEnd.current = true;
      else if (isWished) isAtEnd.current = false;
      setAway(!isAtEnd.current);
    };
    for (const name of INTENTS) element.addEventListener(name, onIntent, { passive: true });
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      for (const name of INTENTS) element.removeEventListener(name, onIntent);
      element.removeEventListener("scroll", onScroll);
    };
  }, [scroller, isAtEnd]);
  return isAway;
}

const EVERY_MS = 120;

/** The lines of a session, made again when its shape or the person's choices change, but not at every row of the record. */
function useRows(store: SessionStore, view: ChatView, isAtEnd: RefObject<boolean>): readonly ChatRow[] {
  const [rows, setRows] = useState<readonly ChatRow[]>([]);
  const held = useRef<Held | null>(null);
  const madeAtMs = useRef(0);
  const make = useMemo(
    () => () => {
      const made = flattenSession({
        roots: store.roots.value,
        run: (runId) => store.run(runId)?.value,
        children: (runId) => store.children(runId).value,
        opened: view.opened.value,
        held: isAtEnd.current ? null : held.current,
        asks: view.asks.value,
        said: saidSoFar(store, view.said.value),
        notices: store.notices.value,
      });
      held.current = made.held;
      // The first lines are waited for.
      if (made.rows.length > 0) madeAtMs.current = performance.now();
      setRows((before) => merged(before, made.rows));
    },
    [store, view, isAtEnd],
  );
  useEffect(() => {
    const throttle = createThrottle(make, () => madeAtMs.current + EVERY_MS - performance.now());
    make();
    const heard = new Map<string, () => void>();
    const hear = () => {
      for (const runId of heardRoots(store))
        if (!heard.has(runId)) heard.set(runId, store.steps(runId).subscribe(throttle.soon));
    };
    hear();
    const stops = [
      ...[store.shape, store.notices, view.asks].map((signal) => signal.subscribe(throttle.soon)),
      store.roots.subscribe(hear),
      ...[view.opened, view.said].map((signal) => signal.subscribe(make)),
    ];
    return () => {
      throttle.stop();
      for (const stop of [...stops, ...heard.values()]) stop();
    };
  }, [store, view, make]);
  return rows;
}

/** Rows that look as before stay the same objects, so that only what differs is drawn. */
function merged(before: readonly ChatRow[], after: readonly ChatRow[]): readonly ChatRow[] {
  const known = new Map(before.map((row) => [row.key, row]));
  let isOther = before.length !== after.length;
  const rows = after.map((row, index) => {
    const old = known.get(row.key);
    const kept = old && isSameRow(old, row) ? old : row;
    isOther ||= before[index] !== kept;
    return kept;
  });
  return isOther ? rows : before;
}

/** Of older tasks it is not looked up: each look is a request. */
const MOST_ROOTS = 8;

/** The root runs whose record tells what was said to them. */
function heardRoots(store: SessionStore): readonly string[] {
  return store.roots.value.slice(-MOST_ROOTS);
}

/** What the person said to root runs while they worked: what the record has, and what is still on its way there. */
function saidSoFar(store: SessionStore, justSaid: readonly Said[]): Said[] {
  return heardRoots(store).flatMap((runId) => {
    const heard = store.steps(runId).value.flatMap(({ steered = [] }) => steered);
    const waiting = [...heard];
    const onTheWay = justSaid.filter((one) => {
      if (one.runId !== runId) return false;
      const at = waiting.indexOf(one.text);
      if (at >= 0) waiting.splice(at, 1);
      return at < 0;
    });
    return [
      ...heard.map((text, index) => ({ id: `${runId}-${index.toString()}`, runId, text })),
      ...onTheWay,
    ];
  });
}
