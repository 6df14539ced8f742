import type { ReactNode } from "react";
import type { RunStats } from "../../../../src/schema/stats.ts";
import { showCost, showDuration, showTokens } from "../../ui/measures.ts";
import { SuccessShare } from "./success-share.tsx";

/** The figures of all runs together. */
export function TotalTiles({ total }: { total: RunStats }) {
  const { runs, open, successes, partials, cancelled, durationMs, tokens, costUsd, costPerSuccessUsd } =
    total;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">
      <Tile name="Runs" value={runs.toLocaleString("en-US")}>
        {successes === 0 ? "no success" : `${successes.toLocaleString("en-US")} succeeded`}
        {partials > 0 && `, ${partials} partial`}
        {cancelled > 0 && `, ${cancelled} cancelled`}
        {open > 0 && `, ${open} open`}
      </Tile>
      <Tile name="Success" value={<SuccessShare stats={total} />}>
        {durationMs
          ? `half within ${showDuration(durationMs.p50)}, 95 % within ${showDuration(durationMs.p95)}`
          : "of runs that ended, at 95 %"}
      </Tile>
      <Tile name="Cost" value={showCost(costUsd)}>
        {costPerSuccessUsd === null
          ? "cost per success not known"
          : `${showCost(costPerSuccessUsd)} for each success`}
      </Tile>
      <Tile name="Tokens" value={showTokens(tokens.total)}>
        {showTokens(tokens.input)} in, {showTokens(tokens.output)} out
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
