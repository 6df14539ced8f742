import { ChartNoAxesColumn } from "lucide-react";
import { Link } from "wouter";
import type { StatsView } from "../../../../src/schema/api/inspect.ts";
import type { StatsBy } from "../../../../src/schema/stats.ts";
import { Segmented } from "../../ui/controls/segmented.tsx";
import { join } from "../../ui/join.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { DaySection } from "./day-section.tsx";
import { GROUPINGS, RANGES, type Range, useStats, useStatsChoice } from "./stats-query.ts";
import { StatsTable } from "./stats-table.tsx";
import { TotalTiles } from "./total-tiles.tsx";
import { UnpricedNote } from "./unpriced-note.tsx";

/** How well agents and models do, and what they cost. */
export default function StatsScreen() {
  const [choice, change] = useStatsChoice();
  const { data, error, isPlaceholderData, refetch } = useStats(choice);
  return (
    <>
      <ScreenHead title="Stats" about="How agents and models do">
        <Segmented<StatsBy>
          label="Group by"
          value={choice.by}
          choices={GROUPINGS.map(({ by, name }) => ({ value: by, name }))}
          onChange={(by) => change({ by })}
        />
        <Segmented<Range>
          label="Time"
          value={choice.range}
          choices={RANGES.map(({ range, name }) => ({ value: range, name }))}
          onChange={(range) => change({ range })}
        />
      </ScreenHead>
      <section aria-label="Figures" {...REACHABLE} className="min-h-0 flex-1 overflow-auto">
        {data ? (
          <Figures stats={data} by={choice.by} isOld={isPlaceholderData} range={choice.range} />
        ) : error ? (
          <Failed failure={error} onRetry={() => void refetch()} />
        ) : (
          <Loading />
        )}
      </section>
    </>
  );
}

function Figures({
  stats,
  by,
  isOld,
  range,
}: {
  stats: StatsView;
  by: StatsBy;
  isOld: boolean;
  range: Range;
}) {
  const isAll = range === "all";
  if (stats.total.runs === 0)
    return (
      <Empty icon={ChartNoAxesColumn} title={isAll ? "No runs yet" : "No runs in this time"}>
        {isAll ? (
          <>
            Figures are drawn from the record of runs.{" "}
            <Link href="/" className="text-accent underline">
              Begin with one
            </Link>
            .
          </>
        ) : (
          "Choose a longer time above."
        )}
      </Empty>
    );
  return (
    <div
      aria-busy={isOld}
      className={join("mx-auto grid max-w-7xl gap-4 p-4 transition-opacity", isOld && "opacity-60")}
    >
      <TotalTiles total={stats.total} />
      <DaySection days={stats.days} fewest={RANGES.find((one) => one.range === range)?.drawn ?? 7} />
      <StatsTable groups={stats.groups} by={by} />
      <p className="text-xs text-ink-3">
        Each attempt of a delegation is a run. In brackets: the range in which the true rate lies at 95 %, and
        how many runs have ended. Of fewer than 5 nothing is said.
      </p>
      <UnpricedNote models={stats.total.unpricedModels} />
    </div>
  );
}
