import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { SessionStore } from "../../../live/session-store.ts";
import type { ChatView } from "../chat-view.ts";
import { flattenSession, type Held } from "./flatten-session.ts";
import { isSameRow, type Row } from "./row.ts";
import { heardRoots, saidSoFar } from "./said-so-far.ts";

const EVERY_MS = 120;

/** The lines of a session, made again when its shape or the person's choices change, but not at every row of the record. */
export function useRows(
  store: SessionStore,
  view: ChatView,
  isAtEnd: RefObject<boolean>,
): { rows: readonly Row[]; refresh: () => void } {
  const [rows, setRows] = useState<readonly Row[]>([]);
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          make();
        },
        Math.max(0, madeAtMs.current + EVERY_MS - performance.now()),
      );
    };
    make();
    const heard = new Map<string, () => void>();
    const hear = () => {
      for (const runId of heardRoots(store))
        if (!heard.has(runId)) heard.set(runId, store.steps(runId).subscribe(later));
    };
    hear();
    const stops = [
      ...[store.shape, store.notices, view.asks].map((signal) => signal.subscribe(later)),
      store.roots.subscribe(hear),
      ...[view.opened, view.said].map((signal) => signal.subscribe(make)),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of [...stops, ...heard.values()]) stop();
    };
  }, [store, view, make]);
  return { rows, refresh: make };
}

/** Rows that look as before stay the same objects, so that only what differs is drawn. */
function merged(before: readonly Row[], after: readonly Row[]): readonly Row[] {
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
