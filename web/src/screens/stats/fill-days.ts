import type { DayStats } from "../../../../src/schema/stats.ts";

const DAY_MS = 86_400_000;
/** A record that reaches back further is drawn from here on; the table has the rest. */
const MOST_DAYS = 400;

/** The days from the first to the last one, those without a run included, so that distances are true. */
export function fillDays(days: readonly DayStats[]): DayStats[] {
  const known = new Map(days.map((day) => [day.day, day]));
  const last = days.at(-1);
  const first = days[0];
  if (!first || !last) return [];
  const end = Date.parse(last.day);
  const begin = Math.max(Date.parse(first.day), end - (MOST_DAYS - 1) * DAY_MS);
  const filled: DayStats[] = [];
  for (let at = begin; at <= end; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    filled.push(known.get(day) ?? { day, runs: 0, successes: 0, costUsd: 0, tokens: 0 });
  }
  return filled;
}
