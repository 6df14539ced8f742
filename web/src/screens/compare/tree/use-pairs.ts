import { useMemo, useState } from "react";
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
    placeOf: (id: string | null) => places.get(id ?? ""),
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
