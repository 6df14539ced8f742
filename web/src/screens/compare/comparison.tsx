import { useMemo } from "react";
import { Segmented } from "../../ui/controls/segmented.tsx";
import { countOf } from "../../ui/measures.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { Answers } from "./answers/answers.tsx";
import { FiguresTable } from "./figures/figures-table.tsx";
import { FileLists } from "./figures/file-lists.tsx";
import { Part } from "./part.tsx";
import { SideHeads } from "./side-heads.tsx";
import { alignRuns } from "./tree/align-runs.ts";
import { countPairs, differs, everyPair, type PairCounts } from "./tree/pair-rows.ts";
import { PairsGrid } from "./tree/pairs-grid.tsx";
import type { useCompareAddress } from "./use-compare-address.ts";
import type { Compared } from "./use-compared.ts";

const WHICH = [
  { value: "all", name: "All" },
  { value: "differences", name: "Differences" },
] as const;

/** The comparison of two sessions that are both there. */
export function Comparison({
  a,
  b,
  address,
  nowMs,
}: {
  a: Compared;
  b: Compared;
  address: ReturnType<typeof useCompareAddress>;
  nowMs: number;
}) {
  const pairs = useMemo(() => alignRuns(a.trace.runs, b.trace.runs), [a.trace, b.trace]);
  const counts = useMemo(() => countPairs(pairs), [pairs]);
  const hasDifferences = useMemo(() => [...everyPair(pairs)].some(differs), [pairs]);
  return (
    <div {...REACHABLE} className="min-h-0 flex-1 overflow-auto pb-8 -outline-offset-2">
      <SideHeads a={a.card} b={b.card} nowMs={nowMs} />
      <Part title="Figures">
        <FiguresTable a={a.facts} b={b.facts} />
        <FileLists a={a.facts} b={b.facts} />
      </Part>
      <Part
        title="Runs"
        about={wordsFor(counts)}
        aside={
          <Segmented
            label="Show runs"
            value={address.isOnlyDifferent ? "differences" : "all"}
            choices={WHICH}
            onChange={address.showRuns}
          />
        }
      >
        {pairs.length === 0 || (address.isOnlyDifferent && !hasDifferences) ? (
          <p role="status" className="border-y border-line bg-panel px-4 py-6 text-center text-sm text-ink-2">
            {pairs.length === 0
              ? "Nothing has run in either session."
              : "Every run has a counterpart with the same agent and status."}
          </p>
        ) : (
          <PairsGrid pairs={pairs} a={a} b={b} isOnlyDifferent={address.isOnlyDifferent} />
        )}
      </Part>
      <Answers pairs={pairs} address={address} />
    </div>
  );
}

function wordsFor({ both, onlyA, onlyB, otherwise }: PairCounts): string {
  const parts = [
    `${countOf(both, "pair")}`,
    otherwise > 0 && `${otherwise.toLocaleString("en-US")} with another status`,
    onlyA > 0 && `${onlyA.toLocaleString("en-US")} only in A`,
    onlyB > 0 && `${onlyB.toLocaleString("en-US")} only in B`,
    "tokens and cost with all below",
  ];
  return parts.filter(Boolean).join(" · ");
}
