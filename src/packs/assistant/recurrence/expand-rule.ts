import type { Rule } from "./rule.ts";
import { daysOfPeriod, periodStart } from "./rule-days.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A rule is followed no further than this, whatever it says. */
const MAX_PERIODS = 60_000;
const MAX_STARTS = 10_000;
/** Every hour, minute and second of a year would be more than anybody can wait for. */
const MAX_CANDIDATES = 250_000;
const MAX_CANDIDATES_OF_PERIOD = 20_000;

/** Starts that lie in the window, as walls; `cut` if there may be more than were looked at. */
export type Expansion = { readonly starts: readonly number[]; readonly cut: boolean };

/**
 * The starts of a rule in a window (`to` exclusive). All times are walls: the local clock read as if it were UTC, so
 * that a meeting stays at ten o'clock when the clocks change. The first start always belongs to the set, as
 * calendars show it. `until` is a wall as well, the last start that is meant.
 */
export function expandRule(
  rule: Rule,
  first: number,
  window: { readonly from: number; readonly to: number; readonly until?: number },
): Expansion {
  const starts: number[] = [];
  const last = Math.min(window.to - 1, window.until ?? Number.POSITIVE_INFINITY);
  let counted = 1;
  if (first >= window.from && first < window.to) starts.push(first);
  // Counting needs every start from the first on; without it the periods before the window are skipped.
  let index = rule.count === undefined ? Math.max(0, indexOf(rule, first, window.from) - 1) : 0;
  let candidates = 0;
  for (let looked = 0; looked < MAX_PERIODS; looked++, index++) {
    const period = periodStart(rule, first, index);
    if (!(period <= last)) return { starts, cut: false };
    const all = candidatesOf(rule, first, period);
    candidates += all.length;
    if (all.length > MAX_CANDIDATES_OF_PERIOD || candidates > MAX_CANDIDATES) return { starts, cut: true };
    for (const start of chosenOf(rule, all)) {
      if (start <= first) continue;
      if (start > last || (rule.count !== undefined && counted >= rule.count)) return { starts, cut: false };
      counted++;
      if (start < window.from) continue;
      if (starts.length >= MAX_STARTS) return { starts, cut: true };
      starts.push(start);
    }
  }
  return { starts, cut: true };
}

/** Whether a start is one that the rule itself names. */
export function isNamedStart(rule: Rule, start: number): boolean {
  return chosenOf(rule, candidatesOf(rule, start, periodStart(rule, start, 0))).includes(start);
}

/** The number of the period that holds a moment, counted from the first start's in steps of the interval. */
function indexOf(rule: Rule, first: number, moment: number): number {
  const from = new Date(first);
  const to = new Date(moment);
  const years = to.getUTCFullYear() - from.getUTCFullYear();
  const spans: Record<Rule["frequency"], number> = {
    YEARLY: years,
    MONTHLY: years * 12 + to.getUTCMonth() - from.getUTCMonth(),
    WEEKLY: (moment - first) / (7 * DAY_MS),
    DAILY: (moment - first) / DAY_MS,
    HOURLY: (moment - first) / HOUR_MS,
  };
  return Math.floor(spans[rule.frequency] / rule.interval);
}

/** All starts of a period, in order, before the rule chooses among them by their position. */
function candidatesOf(rule: Rule, first: number, period: number): number[] {
  const begin = new Date(first);
  const hours =
    rule.frequency === "HOURLY"
      ? [new Date(period).getUTCHours()].filter((hour) => !rule.hours.length || rule.hours.includes(hour))
      : orElse(rule.hours, begin.getUTCHours());
  const minutes = orElse(rule.minutes, begin.getUTCMinutes());
  const seconds = orElse(rule.seconds, begin.getUTCSeconds());
  const starts: number[] = [];
  for (const day of daysOfPeriod(rule, first, period))
    for (const hour of hours)
      for (const minute of minutes)
        for (const second of seconds) {
          starts.push(day + hour * HOUR_MS + minute * 60_000 + second * 1_000);
          if (starts.length > MAX_CANDIDATES_OF_PERIOD) return starts;
        }
  return starts.sort((a, b) => a - b);
}

/** A position that is named from the start and from the end is one start. */
function chosenOf(rule: Rule, starts: readonly number[]): readonly number[] {
  if (rule.positions.length === 0) return starts;
  const chosen = rule.positions.map((at) => starts[at > 0 ? at - 1 : starts.length + at]);
  return [...new Set(chosen)].filter((start) => start !== undefined).sort((a, b) => a - b);
}

function orElse(values: readonly number[], otherwise: number): readonly number[] {
  return values.length > 0 ? values : [otherwise];
}
