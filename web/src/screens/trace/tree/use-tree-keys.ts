import type { KeyboardEvent, RefObject } from "react";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import type { Drawing } from "../drawing/drawing.ts";
import { useRovingFocus } from "../drawing/use-roving-focus.ts";
import type { useTree } from "./use-tree.ts";

type TreeKeysOptions = Pick<Drawing, "cursorId" | "onCursor" | "onOpen"> & {
  tree: ReturnType<typeof useTree>;
  scroller: RefObject<HTMLElement | null>;
};

/** Moves through the tree by keyboard: letters anywhere on the page, arrows while a row has the focus. */
export function useTreeKeys({ cursorId, onCursor, onOpen, tree, scroller }: TreeKeysOptions) {
  const focus = useRovingFocus(scroller);
  const at = tree.placeOf(cursorId) ?? 0;
  const row = tree.rows[at];
  const goTo = (place: number) => {
    const next = tree.rows[Math.min(tree.rows.length - 1, Math.max(0, place))];
    if (!next) return;
    focus(next.run.runId);
    onCursor(next.run.runId);
  };
  const step = (by: number) => goTo(cursorId === null ? 0 : at + by);
  const close = () => {
    if (!row) return;
    if (row.isExpanded) tree.collapse(row);
    else goTo(tree.placeOf(row.run.parentRunId) ?? at);
  };
  const open = () => {
    if (!row) return;
    if (row.isExpanded && tree.hasSteps(row.run.runId)) goTo(at + 1);
    else tree.expand(row);
  };
  useShortcuts([
    { keys: "j", does: "Next run", act: () => step(1) },
    { keys: "k", does: "Run before", act: () => step(-1) },
    { keys: "l", does: "Open the run's branch and calls", act: open },
    { keys: "h", does: "Close the branch, or go to the parent", act: close },
  ]);
  const acts = new Map<string, () => void>([
    ["ArrowDown", () => step(1)],
    ["ArrowUp", () => step(-1)],
    ["ArrowRight", open],
    ["ArrowLeft", close],
    ["PageDown", () => step(pageOf(scroller))],
    ["PageUp", () => step(-pageOf(scroller))],
    ["Home", () => goTo(0)],
    ["End", () => goTo(tree.rows.length - 1)],
    ["Enter", () => void (row && onOpen(row.run.runId))],
    [" ", () => void (row && tree.toggle(row))],
  ]);
  return (event: KeyboardEvent) => {
    const isRow = event.target instanceof HTMLElement && event.target.dataset.run !== undefined;
    const act = acts.get(event.key);
    if (!isRow || !act || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    act();
  };
}

/** So many rows fit into the block, less one to know where one was. */
function pageOf({ current }: RefObject<HTMLElement | null>): number {
  return Math.max(1, Math.floor((current?.clientHeight ?? 320) / 32) - 2);
}
