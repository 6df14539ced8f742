import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { type KeyboardEvent, type RefObject, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { useRovingFocus } from "../trace/chart.ts";
import type { RunPair } from "./align-runs.ts";
import { everyPair, type PairRow, pairRows } from "./pair-rows.ts";

/** The rows that are shown: which pairs are collapsed, and whether only differences are wanted. */
export function usePairs(pairs: readonly RunPair[], isOnlyDifferent: boolean) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(
    () => pairRows(pairs, collapsed, isOnlyDifferent),
    [pairs, collapsed, isOnlyDifferent],
  );
  const places = useMemo(() => new Map(rows.map(({ pair }, index) => [pair.id, index])), [rows]);
  const change = (id: string, isCollapsed: boolean) =>
    setCollapsed((before) => {
      const after = new Set(before);
      if (isCollapsed) after.add(id);
      else after.delete(id);
      return after;
    });
  return {
    rows,
    /** Where the row of a pair is; undefined while it is hidden. */
    findPlace: (id: string | null) => places.get(id ?? ""),
    collapse: ({ pair }: PairRow) => change(pair.id, true),
    expand: ({ pair }: PairRow) => change(pair.id, false),
    toggle: ({ pair, isExpanded }: PairRow) => change(pair.id, isExpanded === true),
    isAllOpen: collapsed.size === 0,
    collapseAll: () =>
      setCollapsed(
        new Set([...everyPair(pairs)].filter(({ children }) => children.length > 0).map(({ id }) => id)),
      ),
    expandAll: () => setCollapsed(new Set()),
  };
}

type PairKeysOptions = {
  shown: ReturnType<typeof usePairs>;
  scroller: RefObject<HTMLElement | null>;
  scrollTo: (at: number) => void;
  /** The address of a run's own page. */
  findPath: (side: "a" | "b", run: TraceRun) => string;
};

/** Moves through the pairs by keyboard: letters anywhere on the page, arrows while a row has the focus. */
export function usePairKeys({ shown, scroller, scrollTo, findPath }: PairKeysOptions) {
  const [, go] = useLocation();
  const [cursorId, setCursor] = useState<string | null>(null);
  const focus = useRovingFocus(scroller);
  const at = shown.findPlace(cursorId) ?? 0;
  const row = shown.rows[at];
  const goTo = (place: number) => {
    const to = Math.min(shown.rows.length - 1, Math.max(0, place));
    const next = shown.rows[to];
    if (!next) return;
    setCursor(next.pair.id);
    scroller.current?.scrollIntoView({ block: "nearest" });
    scrollTo(to);
    focus(next.pair.id);
  };
  const isThere = () => scroller.current?.contains(document.activeElement) ?? false;
  const step = (by: number) => goTo(isThere() ? at + by : at);
  const close = () => {
    if (row?.isExpanded) shown.collapse(row);
    else if (row) goTo(shown.findPlace(row.parentId) ?? at);
  };
  const open = () => {
    if (row?.isExpanded) goTo(at + 1);
    else if (row) shown.expand(row);
  };
  const visit = (side: "a" | "b") => {
    const run = row?.pair[side];
    if (run) go(findPath(side, run));
  };
  useShortcuts([
    { keys: "j", does: "Next pair of runs", act: () => step(1) },
    { keys: "k", does: "Pair of runs before", act: () => step(-1) },
    { keys: "l", does: "Open the branch", act: open },
    { keys: "h", does: "Close the branch, or go to the parent", act: close },
    { keys: "a", does: "Open the run in A's trace", act: () => visit("a") },
    { keys: "b", does: "Open the run in B's trace", act: () => visit("b") },
  ]);
  const acts = new Map<string, () => void>([
    ["ArrowDown", () => step(1)],
    ["ArrowUp", () => step(-1)],
    ["ArrowRight", open],
    ["ArrowLeft", close],
    ["Home", () => goTo(0)],
    ["End", () => goTo(shown.rows.length - 1)],
    ["Enter", () => visit(row?.pair.a ? "a" : "b")],
    [" ", () => void (row && row.isExpanded !== null && shown.toggle(row))],
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const isRow = event.target instanceof HTMLElement && event.target.dataset.run !== undefined;
    const act = acts.get(event.key);
    if (!isRow || !act || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  return { currentId: row?.pair.id ?? null, setCursor, onKeyDown };
}
