import type { StatsView } from "@retinue/core/schema/api/inspect";
import type { DayStats, RunStats, StatsBy } from "@retinue/core/schema/stats";
import { showCost, showNumber, showShort, showSpacedDuration } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { ChartNoAxesColumn, CircleDollarSign } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";
import { api, withQuery } from "../../data/client.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { Segmented, TextLink } from "../../ui/controls.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { useChoice } from "../../ui/use-address.ts";
import { StatsTable, SuccessShare } from "./stats-table.tsx";

/** How well agents and models do, and what they cost. */
export default function StatsScreen() {
  const [range, setRange] = useChoice("range", RANGES, "30d", { replace: false });
  const [by, setBy] = useChoice<StatsBy>("by", GROUPINGS, "role", { replace: false });
  const query = useStats(range, by);
  return (
    <>
      <ScreenHead title="Stats" about="How agents and models do">
        <Segmented label="Group by" value={by} choices={GROUPINGS} onChange={setBy} />
        <Segmented label="Time" value={range} choices={RANGES} onChange={setRange} />
      </ScreenHead>
      <section aria-label="Figures" {...REACHABLE} className="min-h-0 flex-1 overflow-auto">
        <Loaded query={query}>
          {(stats) => <Figures stats={stats} by={by} isOld={query.isPlaceholderData} range={range} />}
        </Loaded>
      </section>
    </>
  );
}

type FiguresProps = { stats: StatsView; by: StatsBy; isOld: boolean; range: StatsRange };

function Figures({ stats, by, isOld, range }: FiguresProps) {
  const isAll = range === "all";
  if (stats.total.runs === 0)
    return (
      <Empty icon={ChartNoAxesColumn} title={isAll ? "No runs yet" : "No runs in this time"}>
        {isAll ? (
          <>
            Figures come from the record of runs. <TextLink href="/">Begin with one</TextLink>.
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
      <DaySection days={stats.days} fewest={RANGES.find(({ value }) => value === range)?.drawn ?? 7} />
      <StatsTable groups={stats.groups} by={by} />
      <p className="text-xs text-ink-3">
        Each attempt of a delegation is a run. In brackets: the range in which the true rate lies at 95 %, and
        how many runs have ended. With fewer than 5 no rate is given.
      </p>
      <UnpricedNote models={stats.total.unpricedModels} />
    </div>
  );
}

function TotalTiles({ total }: { total: RunStats }) {
  const { runs, open, successes, partials, cancelled, durationMs, tokens, costUsd, costPerSuccessUsd } =
    total;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">
      <Tile name="Runs" value={showNumber(runs)}>
        {successes === 0 ? "no success" : `${showNumber(successes)} succeeded`}
        {partials > 0 && `, ${partials} partial`}
        {cancelled > 0 && `, ${cancelled} cancelled`}
        {open > 0 && `, ${open} open`}
      </Tile>
      <Tile name="Success" value={<SuccessShare stats={total} />}>
        {durationMs
          ? `half within ${showSpacedDuration(durationMs.p50)}, 95 % within ${showSpacedDuration(durationMs.p95)}`
          : "of runs that ended, at 95 %"}
      </Tile>
      <Tile name="Cost" value={showCost(costUsd)}>
        {costPerSuccessUsd === null
          ? "cost per success not known"
          : `${showCost(costPerSuccessUsd)} for each success`}
      </Tile>
      <Tile name="Tokens" value={showShort(tokens.total)}>
        {showShort(tokens.input)} in, {showShort(tokens.output)} out
      </Tile>
    </dl>
  );
}

function Tile({ name, value, children }: { name: string; value: ReactNode; children: ReactNode }) {
  return (
    <div className="grid content-start gap-1 bg-panel px-4 py-3">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="figures text-lg leading-7 font-semibold max-sm:text-base">{value}</dd>
      <dd className="figures text-xs text-ink-2">{children}</dd>
    </div>
  );
}

/** Which models had no price, and how to give them one. */
function UnpricedNote({ models }: { models: readonly string[] }) {
  const [first] = models;
  if (first === undefined) return null;
  const example = JSON.stringify({ prices: { [first]: { input: 0.5, output: 1.5 } } });
  return (
    <aside
      aria-label="Models without a price"
      className="flex items-start gap-3 rounded-lg border border-line bg-panel px-4 py-3 text-sm"
    >
      <CircleDollarSign aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="grid min-w-0 gap-1.5">
        <p className="wrap-anywhere">
          <strong className="font-semibold">$?</strong> is an unknown cost, because there is no price of{" "}
          {models.map((model, index) => (
            <span key={model}>
              {index > 0 && ", "}
              <code className="font-mono text-xs">{model}</code>
            </span>
          ))}
          .
        </p>
        <p className="text-ink-2">
          Add prices in USD per million tokens to your settings file, with the numbers of your provider. They
          count for later runs.
        </p>
        <CopyText text={example} />
      </div>
    </aside>
  );
}

const DayChart = lazy(() => import("./day-chart.tsx"));

/** Runs and successes per day: drawn, and as a table for screen readers. */
function DaySection({ days, fewest }: { days: readonly DayStats[]; fewest: number }) {
  if (days.length === 0) return null;
  return (
    <section aria-labelledby="per-day" className="rounded-lg border border-line bg-panel px-4 py-3">
      <div className="mb-2 flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <h2 id="per-day" className="text-sm font-semibold">
          Runs per day
        </h2>
        <p className="flex gap-3 text-xs text-ink-2">
          <Sign look="bg-line-strong" name="all runs" />
          <Sign look="bg-ok" name="successes" />
        </p>
        <p className="ml-auto text-2xs text-ink-3">Days are UTC</p>
      </div>
      <Suspense fallback={<div className="h-50" />}>
        <DayChart days={days} fewest={fewest} />
      </Suspense>
      <details className="mt-1 text-xs">
        <summary className="w-fit cursor-pointer rounded py-0.5 text-ink-2 hover:text-ink">
          As a table
        </summary>
        <DayTable days={days} />
      </details>
    </section>
  );
}

function Sign({ look, name }: { look: string; name: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span aria-hidden className={`size-2.5 rounded-xs ${look}`} /> {name}
    </span>
  );
}

function DayTable({ days }: { days: readonly DayStats[] }) {
  return (
    <section aria-label="Runs per day, as a table" {...REACHABLE} className="mt-1 max-h-72 overflow-auto">
      <table className="figures w-full text-right text-xs">
        <thead className="text-ink-3">
          <tr>
            {["Day", "Runs", "Successes", "Tokens", "Cost"].map((name) => (
              <th key={name} scope="col" className="px-2 py-1 font-medium first:pl-0 first:text-left">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map(({ day, runs, successes, tokens, costUsd }) => (
            <tr key={day} className="border-t border-line">
              <th scope="row" className="py-1 text-left font-normal">
                {day}
              </th>
              <td className="px-2 py-1">{showNumber(runs)}</td>
              <td className="px-2 py-1">{showNumber(successes)}</td>
              <td className="px-2 py-1">{showShort(tokens)}</td>
              <td className="px-2 py-1">{showCost(costUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const DAY_MS = 86_400_000;

/** Spans of time that can be looked at, by the word in the address, and the days that are drawn of each at least. */
const RANGES = [
  { value: "24h", name: "24 h", days: 1, drawn: 2 },
  { value: "7d", name: "7 d", days: 7, drawn: 7 },
  { value: "30d", name: "30 d", days: 30, drawn: 30 },
  { value: "all", name: "All", days: null, drawn: 14 },
] as const;

type StatsRange = (typeof RANGES)[number]["value"];

const GROUPINGS = [
  { value: "role", name: "Agent" },
  { value: "model", name: "Model" },
  { value: "both", name: "Both" },
] as const satisfies { value: StatsBy; name: string }[];

/** The figures; those of another choice stay on the page until the new ones are there. */
function useStats(range: StatsRange, by: StatsBy) {
  return useQuery({
    queryKey: ["stats", range, by],
    queryFn: () => api.get<StatsView>(withQuery("/api/stats", { by, since: findStart(range) })),
    placeholderData: (before) => before,
    staleTime: 10_000,
    refetchInterval: 20_000,
  });
}

function findStart(range: StatsRange): number | undefined {
  const days = RANGES.find(({ value }) => value === range)?.days;
  return days ? Date.now() - days * DAY_MS : undefined;
}
