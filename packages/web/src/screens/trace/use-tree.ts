import { walkRuns } from "@retinue/core/show/walk-runs";
import { type KeyboardEvent, type RefObject, useMemo, useState } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { type DrawingProps, useRovingFocus } from "./chart.ts";
import { type TraceTreeRow, treeRows } from "./tree-rows.ts";

/** Traces of at most so many runs show the model and tool calls of every row in sight. */
const SHOW_ALL_STEPS = 60;

/** Which rows are collapsed and which show their calls. */
export function useTree({ trace, filter, openId }: Pick<DrawingProps, "trace" | "filter" | "openId">) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [stepped, setStepped] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeRows(trace.runs, collapsed, filter), [trace, collapsed, filter]);
  const places = useMemo(() => new Map(rows.map(({ run }, index) => [run.runId, index])), [rows]);
  const change = (set: typeof setCollapsed, runId: string, isIn: boolean) =>
    set((before) => {
      const after = new Set(before);
      if (isIn) after.add(runId);
      else after.delete(runId);
      return after;
    });
  const collapse = ({ run }: TraceTreeRow) => change(setCollapsed, run.runId, true);
  const expand = ({ run }: TraceTreeRow) => {
    change(setCollapsed, run.runId, false);
    change(setStepped, run.runId, true);
  };
  return {
    rows,
    /** Where the row of a run is; undefined while it is hidden. */
    findPlace: (runId: string | null) => places.get(runId ?? ""),
    hasSteps: (runId: string) =>
      trace.totals.runs <= SHOW_ALL_STEPS || runId === openId || stepped.has(runId),
    collapse,
    expand,
    toggle: (row: TraceTreeRow) => (row.isExpanded ? collapse(row) : expand(row)),
    hideSteps: ({ run }: TraceTreeRow) => change(setStepped, run.runId, false),
    /** Opens everything above a run, so that it has a row. */
    uncover: (runIds: readonly string[]) =>
      setCollapsed((before) => {
        if (!runIds.some((runId) => before.has(runId))) return before;
        const after = new Set(before);
        for (const runId of runIds) after.delete(runId);
        return after;
      }),
    isAllOpen: collapsed.size === 0,
    collapseAll: () => {
      const parents = [...walkRuns(trace.runs)].filter(({ children }) => children.length > 0);
      setCollapsed(new Set(parents.map(({ runId }) => runId)));
    },
    expandAll: () => setCollapsed(new Set()),
  };
}

type TreeKeysOptions = Pick<DrawingProps, "cursorId" | "onCursor" | "onOpen"> & {
  tree: ReturnType<typeof useTree>;
  scroller: RefObject<HTMLElement | null>;
};

/** Moves through the tree by keyboard: letters anywhere on the page, arrows while a row has the focus. */
export function useTreeKeys({ cursorId, onCursor, onOpen, tree, scroller }: TreeKeysOptions) {
  const focus = useRovingFocus(scroller);
  const at = tree.findPlace(cursorId) ?? 0;
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
    else goTo(tree.findPlace(row.run.parentRunId) ?? at);
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
    ["PageDown", () => step(countRows(scroller))],
    ["PageUp", () => step(-countRows(scroller))],
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
function countRows({ current }: RefObject<HTMLElement | null>): number {
  return Math.max(1, Math.floor((current?.clientHeight ?? 320) / 32) - 2);
}
