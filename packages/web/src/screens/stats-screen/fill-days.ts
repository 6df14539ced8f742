import type { DayStats } from "@retinue/core/schema/stats";

const DAY_MS = 86_400_000;
/** A record that reaches back further is drawn from here on; the table has the rest. */
const MOST_DAYS = 400;

/**
 * The days up to today, from the first one with a run or `fewest` days ago; those without a run are included, so that distances
 * are true.
 */
export function fillDays(days: readonly DayStats[], fewest: number, nowMs: number): DayStats[] {
  const known = new Map(days.map((day) => [day.day, day]));
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const first = Date.parse(days[0]?.day ?? "");
  const wanted = today - (fewest - 1) * DAY_MS;
  const begin = Math.max(
    Number.isNaN(first) ? wanted : Math.min(first, wanted),
    today - (MOST_DAYS - 1) * DAY_MS,
  );
  const filled: DayStats[] = [];
  for (let at = begin; at <= today; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    filled.push(known.get(day) ?? { day, runs: 0, successes: 0, costUsd: 0, tokens: 0 });
  }
  return filled;
}
