import { isoWithOffset, isZone } from "../../../text/zone.ts";
import type { EventTime } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { instantOf } from "./zone-time.ts";

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?[0-5]\d)?$/i;
/** No clocks on earth are further from UTC. */
const FURTHEST_OFFSET_MS = 14 * 3_600_000;

/** The zone a call means: the one it names, if there is such a one, else the person's. */
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
    dayParts(trimmed, field);
    return { kind: "day", day: trimmed };
  }
  const match = TIME.exec(trimmed);
  if (!match) throw unreadable(text, field);
  const [, day = "", hour = "", minute = "", second = "0", offset] = match;
  const parts = { ...dayParts(day, field), hour: +hour, minute: +minute, second: +second };
  if (parts.hour > 23 || parts.minute > 59 || parts.second > 59) throw unreadable(text, field);
  if (offset !== undefined && Math.abs(offsetMs(offset)) > FURTHEST_OFFSET_MS) throw unreadable(text, field);
  const at =
    offset === undefined
      ? instantOf(parts, zone)
      : Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) -
        offsetMs(offset);
  return { kind: "instant", at: new Date(at).toISOString(), zone };
}

/** The instant a time stands for; a day stands for its midnight in `zone`. */
export function instantOfTime(time: EventTime, zone: string): number {
  if (time.kind === "instant") return Date.parse(time.at);
  return instantOf({ ...dayParts(time.day, "day"), hour: 0, minute: 0, second: 0 }, zone);
}

/** A time for an output: a day as it is, an instant with the offset it has in `zone`. */
export function showTime(time: EventTime, zone: string): string {
  return time.kind === "day" ? time.day : isoWithOffset(Date.parse(time.at), zone);
}

/** A day so many days later. */
export function addDays(day: string, days: number): string {
  const { year, month, day: date } = dayParts(day, "day");
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10);
}

/** Whole days from one day to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}

function dayParts(text: string, field: string): { year: number; month: number; day: number } {
  const [, year = "", month = "", day = ""] = DAY.exec(text) ?? [];
  const parts = { year: +year, month: +month, day: +day };
  const real = new Date(Date.UTC(parts.year, parts.month - 1, parts.day));
  if (parts.year < 1900 || real.getUTCMonth() !== parts.month - 1 || real.getUTCDate() !== parts.day)
    throw unreadable(text, field);
  return parts;
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.replace(/\D/g, "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}

function unreadable(text: string, field: string): ToolFault {
  return new ToolFault(
    "params",
    `${field} '${text}' is no time: write 2026-11-17T14:00, with an offset if it has one, or 2026-11-17 for a whole day`,
  );
}
