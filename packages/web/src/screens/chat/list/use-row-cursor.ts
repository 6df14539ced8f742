import { type RefObject, useEffect, useMemo, useRef } from "react";
import type { SessionStore } from "../../../live/session-store.ts";
import type { ChatView } from "../chat-view.ts";
import { type ChatRow, groupKey, MOST_SIBLINGS, runKey } from "./flatten-session.ts";

/** What moves the keyboard's place in the conversation. */
export type RowCursor = ReturnType<typeof createCursor>;

type Ports = {
  rows: readonly ChatRow[];
  store: SessionStore;
  view: ChatView;
  scroller: RefObject<HTMLElement | null>;
  /** Brings a row into the page. */
  show(index: number): void;
  showEnd(): void;
};

function isStop(row: ChatRow): boolean {
  return row.kind === "run" || row.kind === "group" || row.kind === "approval";
}

/** A place among the rows that the keyboard moves, and that has the focus once its row is drawn. */
export function useRowCursor(ports: Ports): RowCursor {
  const now = useRef(ports);
  now.current = ports;
  const wanted = useRef<string | null>(null);
  const lastIndex = useRef(0);
  useEffect(() => {
    const key = wanted.current;
    if (key === null) return;
    const { rows, scroller, show } = now.current;
    const index = rows.findIndex((row) => row.key === key);
    if (index < 0) return;
    const element = scroller.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    show(index);
    if (!element) return;
    wanted.current = null;
    element.focus({ preventScroll: true });
  });
  return useMemo(() => createCursor(now, wanted, lastIndex), []);
}

function createCursor(now: RefObject<Ports>, wanted: RefObject<string | null>, lastIndex: RefObject<number>) {
  const at = () => {
    const { rows, view } = now.current;
    const index = rows.findIndex(({ key }) => key === view.current.value);
    return index < 0 ? Math.min(lastIndex.current, rows.length - 1) : index;
  };
  const go = (index: number) => {
    const { rows, view, show } = now.current;
    const row = rows[index];
    if (!row) return;
    lastIndex.current = index;
    wanted.current = row.key;
    show(index);
    if (view.current.value === row.key) view.current.set(null);
    view.current.set(row.key);
  };
  const move = (by: 1 | -1) => {
    const { rows, view } = now.current;
    const start = view.current.value === null && by === 1 ? -1 : at();
    for (let index = start + by; index >= 0 && index < rows.length; index += by) {
      const row = rows[index];
      if (row && isStop(row)) return go(index);
    }
  };
  return {
    /** To the next or the previous card. */
    move,
    /** To the first or the last card. */
    leap: (to: "first" | "last") => {
      const { rows } = now.current;
      go(to === "first" ? rows.findIndex(isStop) : rows.findLastIndex(isStop));
    },
    /** Opens or closes the card; where that changes nothing it goes to the first card below or the one above. */
    fold: (isOpen: boolean) => {
      const { rows, view } = now.current;
      const index = at();
      const row = rows[index];
      if (row?.kind !== "run" && row?.kind !== "group") return;
      if (row.isOpen !== isOpen) view.open(row.key, isOpen);
      else if (isOpen) move(1);
      else
        go(rows.findLastIndex((above, place) => place < index && isStop(above) && above.level < row.level));
    },
    /** Opens everything around a run and goes there. */
    reveal: (runId: string) => {
      const { store, view } = now.current;
      for (let id = store.run(runId)?.value.parentRunId; id; id = store.run(id)?.value.parentRunId) {
        view.open(runKey(id), true);
        if (store.children(id).value.length > MOST_SIBLINGS) view.open(groupKey(id), true);
      }
      view.open(runKey(runId), true);
      wanted.current = runKey(runId);
      view.current.set(runKey(runId));
    },
    /** To what happens last, where the page then stays. */
    toEnd: () => now.current.showEnd(),
    current: () => now.current.rows[at()],
  };
}
