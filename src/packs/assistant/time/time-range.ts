import { ToolFault } from "../errors/tool-fault.ts";
import { instantOfTime, readTime } from "./read-time.ts";
import { instantOf, localTime, startOfDay, weekday } from "./zone-time.ts";

/** From an instant to before another, in milliseconds since 1970. */
export type Range = { readonly from: number; readonly to: number };

type Frame = {
  readonly now: number;
  readonly zone: string;
  /** Where a bare length such as `7d` lies. */
  readonly towards: "past" | "future";
};

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const LENGTH = /^(?:(last|past|next)\s+)?(\d{1,4})\s*(m|h|d|w|min|minutes?|hours?|days?|weeks?)$/;
const DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/** What a time range may say, for descriptions and messages. */
export const RANGE_FORMS =
  "today, yesterday, tomorrow, this/last/next week or month, a length such as 24h, 7d or 2w, a day 2026-11-17, or two times with a slash between";

/** Reads a time range. Weeks begin on Monday; days and months are those of the zone. */
export function readRange(text: string, frame: Frame): Range {
  const words = text.trim().toLowerCase().replace(/\s+/g, " ");
  const range =
    namedDay(words, frame) ?? namedPeriod(words, frame) ?? length(words, frame) ?? written(text, frame);
  if (!range) throw new ToolFault("params", `time_range '${text}' cannot be read; it may be ${RANGE_FORMS}`);
  if (range.to <= range.from) throw new ToolFault("params", `time_range '${text}' ends before it begins`);
  return range;
}

function namedDay(words: string, { now, zone }: Frame): Range | undefined {
  const days = Object.hasOwn(DAYS, words) ? DAYS[words] : undefined;
  if (days === undefined) return undefined;
  return { from: startOfDay(now, zone, days), to: startOfDay(now, zone, days + 1) };
}

function namedPeriod(words: string, { now, zone }: Frame): Range | undefined {
  const match = /^(this|last|next) (week|month)$/.exec(words);
  if (!match) return undefined;
  const step = match[1] === "this" ? 0 : match[1] === "last" ? -1 : 1;
  if (match[2] === "week") {
    const monday = 1 - weekday(now, zone) + step * 7;
    return { from: startOfDay(now, zone, monday), to: startOfDay(now, zone, monday + 7) };
  }
  const { year, month } = localTime(now, zone);
  return { from: firstOf(year, month + step, zone), to: firstOf(year, month + step + 1, zone) };
}

function firstOf(year: number, month: number, zone: string): number {
  const first = new Date(Date.UTC(year, month - 1, 1));
  const parts = { year: first.getUTCFullYear(), month: first.getUTCMonth() + 1, day: 1 };
  return instantOf({ ...parts, hour: 0, minute: 0, second: 0 }, zone);
}

function length(words: string, { now, towards }: Frame): Range | undefined {
  const match = LENGTH.exec(words);
  if (!match) return undefined;
  const [, direction, count = "", unit = ""] = match;
  const ms = Number(count) * (UNIT_MS[unit.charAt(0)] ?? 0);
  const ahead = direction === undefined ? towards === "future" : direction === "next";
  return ahead ? { from: now, to: now + ms } : { from: now - ms, to: now };
}

function written(text: string, { zone }: Frame): Range | undefined {
  const [first = "", last, ...more] = text.split("/");
  if (more.length > 0 || !/\d{4}-\d{2}-\d{2}/.test(first)) return undefined;
  const start = readTime(first, "time_range", zone);
  const from = instantOfTime(start, zone);
  if (last === undefined) {
    if (start.kind === "instant") return undefined;
    return { from, to: startOfDay(from, zone, 1) };
  }
  const end = readTime(last, "time_range", zone);
  const to = instantOfTime(end, zone);
  return { from, to: end.kind === "day" ? startOfDay(to, zone, 1) : to };
}
