import { ToolFault } from "../../service-tools/tool-fault.ts";

/** Days of the week as rules name them, Sunday first as `getUTCDay` counts. */
export const WEEKDAYS: readonly string[] = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** A weekday of a rule; `nth` counts within the month or year, from its end if negative, 0 for every one. */
type RuleDay = { readonly weekday: number; readonly nth: number };

/** A recurrence rule that can be expanded. Empty lists stand for parts that are absent. */
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
      throw refuseRule(text, `'${part}' is no part of a rule`);
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
  if (until !== undefined && !/^\d{8}(T\d{6}Z?)?$/.test(until)) throw refuseRule(text, "UNTIL is no date");
  if (until !== undefined && count !== undefined)
    throw refuseRule(text, "COUNT and UNTIL exclude each other");
  return {
    frequency,
    interval: whole("INTERVAL", parts.get("INTERVAL") ?? "1", [1, 10_000]),
    ...(count !== undefined && { count: whole("COUNT", count, [1, 100_000]) }),
    ...(until !== undefined && { until }),
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
  if (index < 0) throw refuseRule(text, `'${name}' is no weekday; there are ${WEEKDAYS.join(", ")}`);
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
    .map(([key, part]) => `${key.toUpperCase()}=${partText(key, part)}`)
    .join(";");
}

function partText(key: string, part: unknown): string {
  if (key === "wkst" && typeof part === "number") return WEEKDAYS[part - 1] ?? "MO";
  if (key === "until") return String(part).replace(/[-:]/g, "");
  return [part].flat().join(",");
}
