import { showCount, showNumber } from "@retinue/core/show/measures";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { ArrowLeftRight, GitCompareArrows, ListChecks } from "lucide-react";
import { useMemo } from "react";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { useNow } from "../../live/signal.ts";
import { REACHABLE } from "../../ui/class-names.ts";
import { Button, ButtonLink, KeyHint, Segmented, TextLink } from "../../ui/controls.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { useChoice } from "../../ui/use-address.ts";
import { tickedPath } from "../runs/use-session-list.ts";
import { alignRuns, countPairs, differs, type PairCounts } from "./align-runs.ts";
import { Answers } from "./answers.tsx";
import { FiguresTable, FileLists } from "./figures-table.tsx";
import { PairsGrid } from "./pairs-grid.tsx";
import { ComparedPart, PartNote, SideHeads } from "./side-heads.tsx";
import { type Compared, useCompared, useComparedIds, useSide } from "./use-side.ts";

/** Two sessions beside each other: what they took, what they did, what they came to. */
export default function CompareScreen() {
  const { a, b, swap } = useComparedIds();
  const ids = [a, b].filter(Boolean);
  useShortcuts([{ keys: "s", does: "Swap A and B", act: swap }]);
  return (
    <>
      <ScreenHead title="Compare two sessions">
        <ButtonLink href={tickedPath(ids)}>
          <ListChecks aria-hidden className="size-3.5" />{" "}
          <span className="max-sm:sr-only">Choose others</span>
        </ButtonLink>
        <Button onClick={swap} disabled={ids.length < 2} title="Swap A and B">
          <ArrowLeftRight aria-hidden className="size-3.5" /> Swap
          <span className="max-sm:hidden">
            <KeyHint keys="s" />
          </span>
        </Button>
      </ScreenHead>
      {ids.length < 2 || a === b ? <TooFew a={a} b={b} /> : <Both a={a} b={b} />}
    </>
  );
}

function TooFew({ a, b }: { a: string; b: string }) {
  const isTwice = a !== "" && a === b;
  const ids = [...new Set([a, b])].filter(Boolean);
  return (
    <Empty icon={GitCompareArrows} title={isTwice ? "Both are the same session" : "It takes two to compare"}>
      <p>Tick two sessions in the list of runs, then choose Compare.</p>
      <TextLink href={tickedPath(ids)} className="mt-3 inline-block">
        {ids.length === 0 ? "Tick two sessions" : "Tick another session"}
      </TextLink>
    </Empty>
  );
}

function Both(ids: { a: string; b: string }) {
  const [one, other] = [useSide(ids.a), useSide(ids.b)];
  const isLive = one.card?.state === "running" || other.card?.state === "running";
  const nowMs = useNow(isLive);
  const a = useCompared(one, nowMs);
  const b = useCompared(other, nowMs);
  if (a && b) return <Comparison a={a} b={b} nowMs={nowMs} />;
  const failed = [one, other].filter(({ failure }) => failure !== null);
  if (failed.length === 0) return <Loading rows={12} label="Loading both sessions" />;
  const left = [one, other].filter(({ failure }) => failure === null);
  return failed.map(({ sessionId, failure, retry }) => (
    <Failed key={sessionId} failure={failure} onRetry={retry}>
      <TextLink href={tickedPath(left.map((side) => side.sessionId))}>Tick another session</TextLink>
    </Failed>
  ));
}

const WHICH = [
  { value: "all", name: "All" },
  { value: "differences", name: "Differences" },
] as const;

type ComparisonProps = { a: Compared; b: Compared; nowMs: number };

function Comparison({ a, b, nowMs }: ComparisonProps) {
  const [which, showWhich] = useChoice("runs", WHICH, "all");
  const isOnlyDifferent = which === "differences";
  const pairs = useMemo(() => alignRuns(a.trace.runs, b.trace.runs), [a.trace, b.trace]);
  const counts = useMemo(() => countPairs(pairs), [pairs]);
  const hasDifferences = useMemo(() => [...walkRuns(pairs)].some(differs), [pairs]);
  return (
    <div {...REACHABLE} className="min-h-0 flex-1 overflow-auto pb-8 -outline-offset-2">
      <SideHeads a={a.card} b={b.card} nowMs={nowMs} />
      <ComparedPart title="Figures">
        <FiguresTable a={a.facts} b={b.facts} />
        <FileLists a={a.facts} b={b.facts} />
      </ComparedPart>
      <ComparedPart
        title="Runs"
        about={wordsFor(counts)}
        aside={<Segmented label="Show runs" value={which} choices={WHICH} onChange={showWhich} />}
      >
        {pairs.length === 0 || (isOnlyDifferent && !hasDifferences) ? (
          <PartNote>
            {pairs.length === 0
              ? "Nothing has run in either session."
              : "Every run has a counterpart with the same agent and status."}
          </PartNote>
        ) : (
          <PairsGrid pairs={pairs} a={a} b={b} isOnlyDifferent={isOnlyDifferent} />
        )}
      </ComparedPart>
      <Answers pairs={pairs} />
    </div>
  );
}

function wordsFor({ both, onlyA, onlyB, otherwise }: PairCounts): string {
  const parts = [
    `${showCount(both, "pair")}`,
    otherwise > 0 && `${showNumber(otherwise)} with another status`,
    onlyA > 0 && `${showNumber(onlyA)} only in A`,
    onlyB > 0 && `${showNumber(onlyB)} only in B`,
    "tokens and cost with all below",
  ];
  return parts.filter(Boolean).join(" · ");
}
