// Times and time zones as callers write them: days, instants, ranges, the spans of events.

import { instantToWall, isoWithOffset, isZone, wallToInstant } from "@retinue/core/text/zone";
import type { CalendarEvent, EventTime, TimeRange } from "../calendar/calendar-provider.ts";
import { ToolFault } from "./tool-fault.ts";

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?[0-5]\d)?$/i;
/** No clocks on earth are further from UTC. */
const FURTHEST_OFFSET_MS = 14 * 3_600_000;

type Frame = {
  readonly now: number;
  readonly zone: string;
  /** Where a bare length such as `7d` lies. */
  readonly towards: "past" | "future";
};

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const LENGTH = /^(?:(last|past|next)\s+)?(\d{1,4})\s*(m|h|d|w|min|minutes?|hours?|days?|weeks?)$/;
const DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/** What a time range may say, for descriptions and messages. */
export const RANGE_FORMS =
  "today, yesterday, tomorrow, this/last/next week or month, a length such as 24h, 7d or 2w, a day 2026-11-17, or two times with a slash between";

/** The zone of a call: the one it names, else the person's. */
export function readZone(named: string | undefined, own: string): string {
  if (named === undefined) return own;
  if (!isZone(named))
    throw new ToolFault("params", `there is no time zone '${named}'; use an IANA name such as Europe/Berlin`);
  return named;
}

/** Reads ISO 8601: a day, or a time that is meant in `zone` if it has no offset of its own. */
export function readTime(text: string, field: string, zone: string): EventTime {
  const trimmed = text.trim();
  if (DAY.test(trimmed)) {
    findMidnight(trimmed, field);
    return { kind: "day", day: trimmed };
  }
  const [, day = "", hour = "", minute = "", second = "0", offset] = TIME.exec(trimmed) ?? [];
  if (day === "" || +hour > 23 || +minute > 59 || +second > 59) throw refuseTime(text, field);
  const wall = findMidnight(day, field) + ((+hour * 60 + +minute) * 60 + +second) * 1_000;
  if (offset === undefined) return { kind: "instant", at: toIso(wallToInstant(zone, wall)), zone };
  const ahead = readOffset(offset);
  if (Math.abs(ahead) > FURTHEST_OFFSET_MS) throw refuseTime(text, field);
  return { kind: "instant", at: toIso(wall - ahead), zone };
}

/** The instant of an event's time; a day begins at midnight in `zone`. */
export function findInstant(time: EventTime, zone: string): number {
  return time.kind === "instant" ? Date.parse(time.at) : wallToInstant(zone, Date.parse(time.day));
}

/** A time for an output: a day as it is, an instant with the offset it has in `zone`. */
export function showTime(time: EventTime, zone: string): string {
  return time.kind === "day" ? time.day : isoWithOffset(Date.parse(time.at), zone);
}

/** The day this many days later. */
export function addDays(day: string, days: number): string {
  return toIso(Date.parse(day) + days * DAY_MS).slice(0, 10);
}

/** Whole days from one day to another. */
export function countDays(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The UTC midnight at which a day begins; refuses days that do not exist. */
function findMidnight(day: string, field: string): number {
  const midnight = Date.parse(day);
  if (Number.isNaN(midnight) || toIso(midnight).slice(0, 10) !== day || day < "1900")
    throw refuseTime(day, field);
  return midnight;
}

function readOffset(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.replace(/\D/g, "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}

/** An instant as ISO 8601 in UTC. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

function refuseTime(text: string, field: string): ToolFault {
  return new ToolFault(
    "params",
    `${field} '${text}' is not a time: write 2026-11-17T14:00, with an offset if it has one, or 2026-11-17 for a whole day`,
  );
}

/** What clocks in a zone show at an instant, as a date that is read in UTC. */
export function readClocks(at: number, zone: string): Date {
  return new Date(instantToWall(zone, at));
}

/** Midnight of the day that an instant falls on, moved by whole days. */
export function findStartOfDay(at: number, zone: string, days = 0): number {
  return wallToInstant(zone, (Math.floor(instantToWall(zone, at) / DAY_MS) + days) * DAY_MS);
}

/** The day of the week an instant falls on: 1 for Monday to 7 for Sunday. */
export function findWeekday(at: number, zone: string): number {
  return readClocks(at, zone).getUTCDay() || 7;
}

/** Reads a time range. Weeks begin on Monday; days and months are those of the zone. */
export function readRange(text: string, frame: Frame): TimeRange {
  const words = text.trim().toLowerCase().replace(/\s+/g, " ");
  const range =
    readNamedDay(words, frame) ??
    readNamedPeriod(words, frame) ??
    readLength(words, frame) ??
    readWritten(text, frame);
  if (!range) throw new ToolFault("params", `time_range '${text}' cannot be read; it may be ${RANGE_FORMS}`);
  if (range.to <= range.from) throw new ToolFault("params", `time_range '${text}' ends before it begins`);
  return range;
}

function readNamedDay(words: string, { now, zone }: Frame): TimeRange | undefined {
  const days = Object.hasOwn(DAYS, words) ? DAYS[words] : undefined;
  if (days === undefined) return undefined;
  return { from: findStartOfDay(now, zone, days), to: findStartOfDay(now, zone, days + 1) };
}

function readNamedPeriod(words: string, { now, zone }: Frame): TimeRange | undefined {
  const match = /^(this|last|next) (week|month)$/.exec(words);
  if (!match) return undefined;
  const step = match[1] === "this" ? 0 : match[1] === "last" ? -1 : 1;
  if (match[2] === "week") {
    const monday = 1 - findWeekday(now, zone) + step * 7;
    return { from: findStartOfDay(now, zone, monday), to: findStartOfDay(now, zone, monday + 7) };
  }
  const today = readClocks(now, zone);
  const startOfMonth = (months: number) =>
    wallToInstant(zone, Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + months, 1));
  return { from: startOfMonth(step), to: startOfMonth(step + 1) };
}

function readLength(words: string, { now, towards }: Frame): TimeRange | undefined {
  const match = LENGTH.exec(words);
  if (!match) return undefined;
  const [, direction, count = "", unit = ""] = match;
  const ms = Number(count) * (UNIT_MS[unit.charAt(0)] ?? 0);
  const ahead = direction === undefined ? towards === "future" : direction === "next";
  return ahead ? { from: now, to: now + ms } : { from: now - ms, to: now };
}

function readWritten(text: string, { zone }: Frame): TimeRange | undefined {
  const [first = "", last, ...more] = text.split("/");
  if (more.length > 0 || !/\d{4}-\d{2}-\d{2}/.test(first)) return undefined;
  const start = readTime(first, "time_range", zone);
  const from = findInstant(start, zone);
  if (last === undefined) {
    if (start.kind === "instant") return undefined;
    return { from, to: findStartOfDay(from, zone, 1) };
  }
  const end = readTime(last, "time_range", zone);
  const to = findInstant(end, zone);
  return { from, to: end.kind === "day" ? findStartOfDay(to, zone, 1) : to };
}

/** Begin and end of an event; the end is exclusive. */
export type EventSpan = { readonly start: EventTime; readonly end: EventTime };

type Written = {
  readonly start: EventTime;
  readonly end?: string | undefined;
  readonly durationMinutes?: number | undefined;
  /** How long the event lasts if the call does not say. */
  readonly usual?: number | undefined;
};

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** The span a caller means: to `end`, or for a duration, or for an hour or the whole day. */
export function readEventSpan({ start, end, durationMinutes, usual }: Written, zone: string): EventSpan {
  if (end !== undefined && durationMinutes !== undefined)
    throw new ToolFault("params", "give end or duration_minutes, not both");
  if (end !== undefined) return readSpanTo(start, readTime(end, "end", zone));
  if (start.kind === "day") {
    if (durationMinutes !== undefined)
      throw new ToolFault("params", "duration_minutes needs a datetime with a time of day");
    return { start, end: { kind: "day", day: addDays(start.day, usual ?? 1) } };
  }
  const minutes = durationMinutes ?? usual ?? HOUR_MINUTES;
  const at = toIso(Date.parse(start.at) + minutes * MINUTE_MS);
  return { start, end: { kind: "instant", at, zone: start.zone } };
}

function readSpanTo(start: EventTime, end: EventTime): EventSpan {
  if (start.kind !== end.kind)
    throw new ToolFault("params", "datetime and end must both be days or both be times");
  if (start.kind === "day" && end.kind === "day") {
    const last = end.day === start.day ? addDays(end.day, 1) : end.day;
    if (last < start.day) throw new ToolFault("params", "end is before datetime");
    return { start, end: { kind: "day", day: last } };
  }
  if (findInstant(end, "UTC") <= findInstant(start, "UTC"))
    throw new ToolFault("params", "end must be after datetime");
  return {
    start,
    end: start.kind === "instant" && end.kind === "instant" ? { ...end, zone: start.zone } : end,
  };
}

/** How long an event lasts: minutes, or days of a whole-day one. */
export function measureEvent({ start, end }: EventSpan): number {
  if (start.kind === "day" && end.kind === "day") return countDays(start.day, end.day);
  return (findInstant(end, "UTC") - findInstant(start, "UTC")) / MINUTE_MS;
}

/** The instants of a span; days begin at midnight in `zone`. */
export function toTimeRange({ start, end }: EventSpan, zone: string): TimeRange {
  return { from: findInstant(start, zone), to: findInstant(end, zone) };
}

/** Whether an event takes its owner's time. */
export function takesTime({ free, status, attendees }: CalendarEvent, self: string): boolean {
  const declined = attendees.some(
    ({ address, response }) => address.toLowerCase() === self.toLowerCase() && response === "declined",
  );
  return !free && status !== "cancelled" && !declined;
}

/** Ranges in order, those that overlap or touch made one; empty ones are dropped. */
export function mergeRanges(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const merged: { from: number; to: number }[] = [];
  const ordered = ranges.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from);
  for (const { from, to } of ordered) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Whether two ranges share time. */
export function isOverlapping(one: TimeRange, other: TimeRange): boolean {
  return one.from < other.to && other.from < one.to;
}

/** The time these events take of their owner, merged and cut to a range; free, cancelled and declined ones take none. */
export function listBusyRanges(
  events: readonly CalendarEvent[],
  { from, to }: TimeRange,
  { owner, zone }: { readonly owner: string; readonly zone: string },
): readonly TimeRange[] {
  const taken = events.filter((event) => takesTime(event, owner)).map((event) => toTimeRange(event, zone));
  return mergeRanges(taken.map((each) => ({ from: Math.max(from, each.from), to: Math.min(to, each.to) })));
}
