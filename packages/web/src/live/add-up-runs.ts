import type { RunView } from "@retinue/core/schema/api/session";
import type { LiveText } from "@retinue/core/schema/api/stream";

/** What a whole tree has used so far. */
export type Totals = { runs: number; live: number; failed: number; tokens: number; costUsd: number | null };

/** Adds up a tree. Of live runs the record has no figures yet; those come with the stream. */
export function addUpRuns(runs: Iterable<RunView>, findLive: (runId: string) => LiveText | null): Totals {
  const totals: Totals = { runs: 0, live: 0, failed: 0, tokens: 0, costUsd: 0 };
  for (const run of runs) {
    const isLive = run.endedAtMs === null;
    const live = isLive ? findLive(run.runId) : null;
    totals.runs++;
    if (isLive) totals.live++;
    if (run.status === "failed" || run.status === "timeout") totals.failed++;
    totals.tokens += live?.tokens ?? run.tokens;
    const cost = isLive ? (live ? live.costUsd : 0) : run.costUsd;
    totals.costUsd = totals.costUsd === null || cost === null ? null : totals.costUsd + cost;
  }
  return totals;
}
