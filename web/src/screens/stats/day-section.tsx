import { lazy, Suspense } from "react";
import type { DayStats } from "../../../../src/schema/stats.ts";
import { showCost, showTokens } from "../../ui/measures.ts";
import { REACHABLE } from "../../ui/reachable.ts";

const DayChart = lazy(() => import("./day-chart.tsx"));

/** Runs and successes per day: drawn, and in words for whoever cannot see the drawing. */
export function DaySection({ days, fewest }: { days: readonly DayStats[]; fewest: number }) {
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
              <td className="px-2 py-1">{runs.toLocaleString("en-US")}</td>
              <td className="px-2 py-1">{successes.toLocaleString("en-US")}</td>
              <td className="px-2 py-1">{showTokens(tokens)}</td>
              <td className="px-2 py-1">{showCost(costUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
