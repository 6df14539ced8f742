import type { RunStats } from "@retinue/core/schema/stats";
import { showPercent, showShare } from "@retinue/core/show/measures";

/** A success rate with the interval in which the true one lies; too few runs say nothing. */
export function SuccessShare({ stats }: { stats: RunStats }) {
  const { success } = stats;
  if (!success)
    return (
      <span className="text-ink-3">
        not enough data <span className="figures">(n={countEnded(stats)})</span>
      </span>
    );
  const { low, high, rate } = success;
  return (
    <span className="inline-grid gap-1">
      <span className="figures">
        <span className="font-semibold">{showPercent(rate)} %</span>
        <span className="ml-1 inline-block text-ink-3">{showShare(success).replace(/^\d+ %/, "")}</span>
      </span>
      <span aria-hidden className="relative block h-1.5 w-28 rounded-full bg-off-soft">
        <span
          className="absolute inset-y-0 rounded-full bg-ok opacity-35"
          style={{ left: `${low * 100}%`, width: `${Math.max(1, (high - low) * 100)}%` }}
        />
        <span
          className="absolute -inset-y-0.5 w-0.5 -translate-x-1/2 rounded-full bg-ok"
          style={{ left: `${rate * 100}%` }}
        />
      </span>
    </span>
  );
}

/** How many of the runs have ended of themselves; those that were cancelled are neither successes nor failures. */
function countEnded({ runs, open, cancelled }: Pick<RunStats, "runs" | "open" | "cancelled">): number {
  return runs - open - cancelled;
}

/** Counts by reason in words: `max iterations 2, timeout 1`. */
export function showCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`)
    .join(", ");
}

/** All of the counts together. */
export function sumCounts(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
