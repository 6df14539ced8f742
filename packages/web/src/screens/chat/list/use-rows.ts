import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { SessionStore } from "../../../live/session-store.ts";
import type { ChatView, Said } from "../chat-view.ts";
import { type ChatRow, flattenSession, type Held, isSameRow } from "./flatten-session.ts";

const EVERY_MS = 120;

/** The lines of a session, made again when its shape or the person's choices change, but not at every row of the record. */
export function useRows(
  store: SessionStore,
  view: ChatView,
  isAtEnd: RefObject<boolean>,
): { rows: readonly ChatRow[]; refresh: () => void } {
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
