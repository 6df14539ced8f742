import { type KeyboardEvent, type RefObject, useState } from "react";
import { useLocation } from "wouter";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import { useRovingFocus } from "../../trace/drawing/use-roving-focus.ts";
import type { usePairs } from "./use-pairs.ts";

type PairKeysOptions = {
  shown: ReturnType<typeof usePairs>;
  scroller: RefObject<HTMLElement | null>;
  scrollTo: (at: number) => void;
  /** Where a run is looked at by itself. */
  pathOf: (side: "a" | "b", run: TraceRun) => string;
};

/** Moves through the pairs by keyboard: letters anywhere on the page, arrows while a row has the focus. */
export function usePairKeys({ shown, scroller, scrollTo, pathOf }: PairKeysOptions) {
  const [, go] = useLocation();
  const [cursorId, setCursor] = useState<string | null>(null);
  const focus = useRovingFocus(scroller);
  const at = shown.placeOf(cursorId) ?? 0;
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
    else if (row) goTo(shown.placeOf(row.parentId) ?? at);
  };
  const open = () => {
    if (row?.isExpanded) goTo(at + 1);
    else if (row) shown.expand(row);
  };
  const visit = (side: "a" | "b") => {
    const run = row?.pair[side];
    if (run) go(pathOf(side, run));
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
