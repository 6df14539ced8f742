import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { walkRuns } from "@retinue/core/show/walk-runs";

/** A run as a row of the tree. */
export type TraceTreeRow = {
  readonly run: TraceRun;
  /** Roots are 1. */
  readonly level: number;
  /** Null if nothing is below it. */
  readonly isExpanded: boolean | null;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly siblings: number;
  /** It is here only because a run below it fits the filter. */
  readonly isFaint: boolean;
};

/** Runs that have every word in their agent, task, error or summary, and (with true) all above them; null without words. */
export function fitting(roots: readonly TraceRun[], filter: string): Map<TraceRun, boolean> | null {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const kept = new Map<TraceRun, boolean>();
  for (const run of [...walkRuns(roots)].reverse()) {
    const { agent, task, error, result, runId, status } = run;
    const text =
      `${agent}\n${task}\n${status}\n${error ?? ""}\n${result?.summary ?? ""}\n${runId}`.toLowerCase();
    if (words.every((word) => text.includes(word))) kept.set(run, false);
    else if (run.children.some((child) => kept.has(child))) kept.set(run, true);
  }
  return kept;
}

/** The rows in the order they are drawn. A filter opens everything that leads to what fits. */
export function treeRows(
  roots: readonly TraceRun[],
  collapsed: ReadonlySet<string>,
  filter: string,
): TraceTreeRow[] {
  const kept = fitting(roots, filter);
  const rows: TraceTreeRow[] = [];
  const shown = (runs: readonly TraceRun[]) => (kept ? runs.filter((run) => kept.has(run)) : runs);
  const makeRows = (runs: readonly TraceRun[], level: number) =>
    shown(runs).map((run, index, siblings): TraceTreeRow => {
      const below = shown(run.children);
      return {
        run,
        level,
        isExpanded: below.length === 0 ? null : kept !== null || !collapsed.has(run.runId),
        place: index + 1,
        siblings: siblings.length,
        isFaint: kept?.get(run) ?? false,
      };
    });
  const stack = makeRows(roots, 1).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (!row.isExpanded) continue;
    for (const child of makeRows(row.run.children, row.level + 1).reverse()) stack.push(child);
  }
  return rows;
}
