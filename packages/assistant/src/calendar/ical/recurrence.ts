// Recurrence rules: read from text, followed within bounds, written again.

import { ToolFault } from "../../service-tools/tool-fault.ts";

/** Days of the week as rules name them, Sunday first as `getUTCDay` counts. */
export const WEEKDAYS: readonly string[] = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** A weekday of a rule; `nth` counts within the month or year, from its end if negative, 0 for every one. */
type RuleDay = { readonly weekday: number; readonly nth: number };

/** A recurrence rule that can be expanded. Absent parts are empty lists. */
export type RecurrenceRule = {
  readonly frequency: "YEARLY" | "MONTHLY" | "WEEKLY" | "DAILY" | "HOURLY";
  readonly interval: number;
  readonly count?: number;
  /** As written: `20261201`, `20261201T120000` or with `Z`. */
  readonly until?: string;
  readonly weekStart: number;
  readonly months: readonly number[];
  readonly weeks: readonly number[];
  readonly yearDays: readonly number[];
  readonly monthDays: readonly number[];
  readonly days: readonly RuleDay[];
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
  readonly positions: readonly number[];
};

const FREQUENCIES: ReadonlySet<string> = new Set(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"]);
const MAX_VALUES = 400;
const KEYS: ReadonlySet<string> = new Set(
  "FREQ INTERVAL COUNT UNTIL WKST BYMONTH BYWEEKNO BYYEARDAY BYMONTHDAY BYDAY BYHOUR BYMINUTE BYSECOND BYSETPOS".split(
    " ",
  ),
);

function refuseRule(text: string, why: string): ToolFault {
  return new ToolFault("params", `the recurrence rule '${text.slice(0, 200)}' cannot be used: ${why}`);
}

/** The parts of a rule by their name; `params` if they are not written as such. */
export function splitRule(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, "")
    .split(";")) {
    if (part === "") continue;
    const [key = "", value = "", ...more] = part.split("=");
    if (!KEYS.has(key) || value === "" || more.length > 0)
      throw refuseRule(text, `'${part}' is not part of a rule`);
    if (parts.has(key)) throw refuseRule(text, `${key} is given twice`);
    parts.set(key, value);
  }
  return parts;
}

/** A rule from its text, such as `FREQ=WEEKLY;BYDAY=TU`; `params` if it is wrong, or finer than hourly. */
export function parseRecurrence(text: string): RecurrenceRule {
  const parts = splitRule(text);
  const whole = (key: string, value: string, [low, high]: readonly [number, number]): number => {
    const number = /^[+-]?\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= low && number <= high)) throw refuseRule(text, `${key} must be from ${low} to ${high}`);
    return number;
  };
  const list = (key: string, range: readonly [number, number]): number[] => {
    const values = parts.get(key)?.split(",") ?? [];
    if (values.length > MAX_VALUES) throw refuseRule(text, `${key} has more than ${MAX_VALUES} values`);
    const numbers = values.map((value) => whole(key, value, range));
    if (range[0] < 0 && numbers.includes(0)) throw refuseRule(text, `${key} cannot be 0`);
    return [...new Set(numbers)];
  };
  const frequency = parts.get("FREQ") ?? "";
  if (!isFrequency(frequency))
    throw refuseRule(text, `FREQ must be one of ${[...FREQUENCIES].join(", ")}, not '${frequency}'`);
  const count = parts.get("COUNT");
  const until = parts.get("UNTIL");
  if (until !== undefined && !/^\d{8}(T\d{6}Z?)?$/.test(until)) throw refuseRule(text, "UNTIL is not a date");
  if (until !== undefined && count !== undefined)
    throw refuseRule(text, "COUNT and UNTIL exclude each other");
  return {
    frequency,
    interval: whole("INTERVAL", parts.get("INTERVAL") ?? "1", [1, 10_000]),
    count: count === undefined ? undefined : whole("COUNT", count, [1, 100_000]),
    until,
    weekStart: readWeekday(parts.get("WKST") ?? "MO", text),
    months: list("BYMONTH", [1, 12]),
    weeks: list("BYWEEKNO", [-53, 53]),
    yearDays: list("BYYEARDAY", [-366, 366]),
    monthDays: list("BYMONTHDAY", [-31, 31]),
    days: readDays(parts.get("BYDAY"), text),
    hours: list("BYHOUR", [0, 23]),
    minutes: list("BYMINUTE", [0, 59]),
    seconds: list("BYSECOND", [0, 59]),
    positions: list("BYSETPOS", [-366, 366]),
  };
}

function isFrequency(text: string): text is RecurrenceRule["frequency"] {
  return FREQUENCIES.has(text);
}

function readWeekday(name: string, text: string): number {
  const index = WEEKDAYS.indexOf(name);
  if (index < 0) throw refuseRule(text, `'${name}' is not a weekday; there are ${WEEKDAYS.join(", ")}`);
  return index;
}

function readDays(value: string | undefined, text: string): RuleDay[] {
  return (value?.split(",") ?? []).slice(0, MAX_VALUES).map((day) => {
    const [, nth = "0", name = day] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(day) ?? [];
    if (Math.abs(Number(nth)) > 53) throw refuseRule(text, `'${day}' counts too far`);
    return { weekday: readWeekday(name, text), nth: Number(nth) };
  });
}

/** A rule as jCal holds it; undefined if it cannot be followed. */
export function readRecurrence(value: unknown): RecurrenceRule | undefined {
  try {
    return parseRecurrence(writeRecurrence(value));
  } catch {
    return undefined;
  }
}

/** A rule as jCal holds it, as text; the order of its parts is kept. */
export function writeRecurrence(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value === "string" ? value : "";
  return Object.entries(value)
    .map(([key, part]) => `${key.toUpperCase()}=${writePart(key, part)}`)
    .join(";");
}

function writePart(key: string, part: unknown): string {
  if (key === "wkst" && typeof part === "number") return WEEKDAYS[part - 1] ?? "MO";
  if (key === "until") return String(part).replace(/[-:]/g, "");
  return [part].flat().join(",");
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A rule is followed no further than this, whatever it says. */
const MAX_PERIODS = 60_000;
const MAX_STARTS = 10_000;
/** Every hour, minute and second of a year would be more than anybody can wait for. */
const MAX_CANDIDATES = 250_000;
const MAX_CANDIDATES_OF_PERIOD = 20_000;

/** Starts that lie in the window, as walls; `cut` if there may be more than were looked at. */
type Expansion = { readonly starts: readonly number[]; readonly cut: boolean };

/**
 * The starts of a rule in a window (`to` exclusive). All times are walls: the local clock read as if it were UTC, so
 * that a meeting stays at ten o'clock when the clocks change. The first start always belongs to the set, as
 * calendars show it. `until` is a wall as well, the last start that is meant.
 */
export function expandRule(
  rule: RecurrenceRule,
  first: number,
  window: { readonly from: number; readonly to: number; readonly until?: number },
): Expansion {
  const starts: number[] = [];
  const last = Math.min(window.to - 1, window.until ?? Number.POSITIVE_INFINITY);
  let counted = 1;
  if (first >= window.from && first < window.to) starts.push(first);
  // Counting needs every start from the first on; without it the periods before the window are skipped.
  let index = rule.count === undefined ? Math.max(0, countPeriods(rule, first, window.from) - 1) : 0;
  let candidates = 0;
  for (let looked = 0; looked < MAX_PERIODS; looked++, index++) {
    const period = findPeriodStart(rule, first, index);
    if (!(period <= last)) return { starts, cut: false };
    const all = listCandidates(rule, first, period);
    candidates += all.length;
    if (all.length > MAX_CANDIDATES_OF_PERIOD || candidates > MAX_CANDIDATES) return { starts, cut: true };
    for (const start of chooseStarts(rule, all)) {
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
export function isNamedStart(rule: RecurrenceRule, start: number): boolean {
  return chooseStarts(rule, listCandidates(rule, start, findPeriodStart(rule, start, 0))).includes(start);
}

/** The number of the period that holds a moment, counted from the first start's in steps of the interval. */
function countPeriods(rule: RecurrenceRule, first: number, moment: number): number {
  const from = new Date(first);
  const to = new Date(moment);
  const years = to.getUTCFullYear() - from.getUTCFullYear();
  const spans: Record<RecurrenceRule["frequency"], number> = {
    YEARLY: years,
    MONTHLY: years * 12 + to.getUTCMonth() - from.getUTCMonth(),
    WEEKLY: (moment - first) / (7 * DAY_MS),
    DAILY: (moment - first) / DAY_MS,
    HOURLY: (moment - first) / HOUR_MS,
  };
  return Math.floor(spans[rule.frequency] / rule.interval);
}

/** All starts of a period, in order, before the rule chooses among them by their position. */
function listCandidates(rule: RecurrenceRule, first: number, period: number): number[] {
  const begin = new Date(first);
  const hours =
    rule.frequency === "HOURLY"
      ? [new Date(period).getUTCHours()].filter((hour) => !rule.hours.length || rule.hours.includes(hour))
      : defaultTo(rule.hours, begin.getUTCHours());
  const minutes = defaultTo(rule.minutes, begin.getUTCMinutes());
  const seconds = defaultTo(rule.seconds, begin.getUTCSeconds());
  const starts: number[] = [];
  for (const day of listDaysInPeriod(rule, first, period))
    for (const hour of hours)
      for (const minute of minutes)
        for (const second of seconds) {
          starts.push(day + hour * HOUR_MS + minute * 60_000 + second * 1_000);
          if (starts.length > MAX_CANDIDATES_OF_PERIOD) return starts;
        }
  return starts.sort((a, b) => a - b);
}

/** A position that is named from the start and from the end is one start. */
function chooseStarts(rule: RecurrenceRule, starts: readonly number[]): readonly number[] {
  if (rule.positions.length === 0) return starts;
  const chosen = rule.positions.map((at) => starts[at > 0 ? at - 1 : starts.length + at]);
  return [...new Set(chosen)].filter((start) => start !== undefined).sort((a, b) => a - b);
}

function defaultTo(values: readonly number[], otherwise: number): readonly number[] {
  return values.length > 0 ? values : [otherwise];
}

function findDayStart(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** Where the period of this number begins; the period of the first start has number 0. */
function findPeriodStart(rule: RecurrenceRule, first: number, index: number): number {
  const date = new Date(first);
  const steps = index * rule.interval;
  switch (rule.frequency) {
    case "YEARLY":
      return Date.UTC(date.getUTCFullYear() + steps, 0, 1);
    case "MONTHLY":
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + steps, 1);
    case "WEEKLY":
      return (
        findDayStart(first) - ((date.getUTCDay() - rule.weekStart + 7) % 7) * DAY_MS + steps * 7 * DAY_MS
      );
    case "DAILY":
      return findDayStart(first) + steps * DAY_MS;
    case "HOURLY":
      return Math.floor(first / HOUR_MS) * HOUR_MS + steps * HOUR_MS;
  }
}

function countPeriodDays(rule: RecurrenceRule, period: number): number {
  const date = new Date(period);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  if (rule.frequency === "YEARLY") return (Date.UTC(year + 1, 0, 1) - period) / DAY_MS;
  if (rule.frequency === "MONTHLY") return (Date.UTC(year, month + 1, 1) - period) / DAY_MS;
  return rule.frequency === "WEEKLY" ? 7 : 1;
}

/** The days of a period that the rule names, as walls of their midnight, in order. */
function listDaysInPeriod(rule: RecurrenceRule, first: number, period: number): number[] {
  const days: number[] = [];
  const begin = findDayStart(period);
  const count = countPeriodDays(rule, period);
  for (let at = 0; at < count; at++) {
    const day = begin + at * DAY_MS;
    if (isNamed(rule, first, day)) days.push(day);
  }
  return days;
}

function isNamed(rule: RecurrenceRule, first: number, day: number): boolean {
  const date = new Date(day);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  if (rule.months.length > 0 && !rule.months.includes(month + 1)) return false;
  const monthDay = date.getUTCDate();
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  if (!isCounted(rule.monthDays, monthDay, daysInMonth)) return false;
  const yearDay = (day - Date.UTC(year, 0, 1)) / DAY_MS + 1;
  const daysInYear = (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY_MS;
  if (!isCounted(rule.yearDays, yearDay, daysInYear)) return false;
  if (rule.weeks.length > 0 && !isInWeeks(rule, day)) return false;
  if (rule.days.length > 0) {
    const inYear = rule.frequency === "YEARLY" && rule.months.length === 0;
    const place = inYear ? { at: yearDay, of: daysInYear } : { at: monthDay, of: daysInMonth };
    return isNamedWeekday(rule, date.getUTCDay(), place);
  }
  return isLikeFirst(rule, new Date(first), date);
}

/** Whether a list names this number, counted from the start or, negative, from the end; an empty list names all. */
function isCounted(list: readonly number[], at: number, of: number): boolean {
  return list.length === 0 || list.includes(at) || list.includes(at - of - 1);
}

function isNamedWeekday(rule: RecurrenceRule, weekday: number, place: { at: number; of: number }): boolean {
  const nth = Math.ceil(place.at / 7);
  const fromEnd = -Math.ceil((place.of - place.at + 1) / 7);
  const counted = (rule.frequency === "YEARLY" || rule.frequency === "MONTHLY") && rule.weeks.length === 0;
  return rule.days.some(
    (day) => day.weekday === weekday && (day.nth === 0 || !counted || day.nth === nth || day.nth === fromEnd),
  );
}

/** What the rule leaves open is as at the first start: its day of the month, its month, or its weekday. */
function isLikeFirst(rule: RecurrenceRule, first: Date, date: Date): boolean {
  const sameWeekday = first.getUTCDay() === date.getUTCDay();
  if (rule.frequency === "WEEKLY") return sameWeekday;
  if (rule.frequency === "DAILY" || rule.frequency === "HOURLY") return true;
  if (rule.monthDays.length > 0 || rule.yearDays.length > 0) return true;
  if (rule.weeks.length > 0) return sameWeekday;
  if (first.getUTCDate() !== date.getUTCDate()) return false;
  return rule.frequency === "MONTHLY" || rule.months.length > 0 || first.getUTCMonth() === date.getUTCMonth();
}

/** Weeks as RFC 5545 counts them: the first has at least four days of the year. */
function isInWeeks(rule: RecurrenceRule, day: number): boolean {
  const weekBegin = (wall: number) => wall - ((new Date(wall).getUTCDay() - rule.weekStart + 7) % 7) * DAY_MS;
  const week = weekBegin(day);
  const year = new Date(week + 3 * DAY_MS).getUTCFullYear();
  const firstWeek = weekBegin(Date.UTC(year, 0, 4));
  const weeks = (weekBegin(Date.UTC(year + 1, 0, 4)) - firstWeek) / (7 * DAY_MS);
  return isCounted(rule.weeks, (week - firstWeek) / (7 * DAY_MS) + 1, weeks);
}
