import { useMemo, useState } from "react";
import type { Drawing } from "../drawing/drawing.ts";
import { everyRun } from "../trace-index.ts";
import { type TreeRow, treeRows } from "./tree-rows.ts";

/** Traces of at most so many runs show the model and tool calls of every row in sight. */
const SHOW_ALL_STEPS = 60;

/** Which rows are collapsed and which show their calls. */
export function useTree({ trace, filter, openId }: Pick<Drawing, "trace" | "filter" | "openId">) {
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
  const collapse = ({ run }: TreeRow) => change(setCollapsed, run.runId, true);
  const expand = ({ run }: TreeRow) => {
    change(setCollapsed, run.runId, false);
    change(setStepped, run.runId, true);
  };
  return {
    rows,
    /** Where the row of a run is; undefined while it is hidden. */
    placeOf: (runId: string | null) => places.get(runId ?? ""),
    hasSteps: (runId: string) =>
      trace.totals.runs <= SHOW_ALL_STEPS || runId === openId || stepped.has(runId),
    collapse,
    expand,
    toggle: (row: TreeRow) => (row.isExpanded ? collapse(row) : expand(row)),
    hideSteps: ({ run }: TreeRow) => change(setStepped, run.runId, false),
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
      const parents = [...everyRun(trace.runs)].filter(({ children }) => children.length > 0);
      setCollapsed(new Set(parents.map(({ runId }) => runId)));
    },
    expandAll: () => setCollapsed(new Set()),
  };
}
