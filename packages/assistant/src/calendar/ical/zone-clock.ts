// The clocks that events are written by: zones of the system, zones that a calendar defines itself, and zones written out.

import { findOwn } from "@retinue/core/schema/find-own";
import { instantToWall, isZone, offsetAt, wallToInstant } from "@retinue/core/text/zone";
import { type Component, findProperties, findProperty, findText, type Property } from "./jcal.ts";
import { expandRule, readRecurrence, WEEKDAYS } from "./recurrence.ts";

/** The clocks a time of an event was written by. */
export type ZoneClock = {
  /** IANA name to show times in; `UTC` for clocks that no zone describes. */
  readonly zone: string;
  toInstant(wallMs: number): number;
  toWall(instantMs: number): number;
};

/** A date or time as jCal writes it, before its zone is known. */
type Wall = { readonly wall: number; readonly isDay: boolean; readonly isUtc: boolean };

const FORM = /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})(Z?))?$/;
/** Zones as calendars from Windows name them, those that are met most. */
const WINDOWS_ZONES: Readonly<Record<string, string>> = {
  "AUS Eastern Standard Time": "Australia/Sydney",
  "Arabian Standard Time": "Asia/Dubai",
  "Atlantic Standard Time": "America/Halifax",
  "Central America Standard Time": "America/Guatemala",
  "Central Europe Standard Time": "Europe/Budapest",
  "Central European Standard Time": "Europe/Warsaw",
  "Central Standard Time": "America/Chicago",
  "China Standard Time": "Asia/Shanghai",
  "E. Europe Standard Time": "Europe/Chisinau",
  "E. South America Standard Time": "America/Sao_Paulo",
  "Eastern Standard Time": "America/New_York",
  "Egypt Standard Time": "Africa/Cairo",
  "FLE Standard Time": "Europe/Kyiv",
  "GMT Standard Time": "Europe/London",
  "GTB Standard Time": "Europe/Bucharest",
  "Greenwich Standard Time": "Atlantic/Reykjavik",
  "India Standard Time": "Asia/Kolkata",
  "Israel Standard Time": "Asia/Jerusalem",
  "Korea Standard Time": "Asia/Seoul",
  "Mountain Standard Time": "America/Denver",
  "New Zealand Standard Time": "Pacific/Auckland",
  "Pacific Standard Time": "America/Los_Angeles",
  "Romance Standard Time": "Europe/Paris",
  "Russian Standard Time": "Europe/Moscow",
  "SE Asia Standard Time": "Asia/Bangkok",
  "Singapore Standard Time": "Asia/Singapore",
  "South Africa Standard Time": "Africa/Johannesburg",
  "Tokyo Standard Time": "Asia/Tokyo",
  "Turkey Standard Time": "Europe/Istanbul",
  "US Mountain Standard Time": "America/Phoenix",
  UTC: "UTC",
  "W. Europe Standard Time": "Europe/Berlin",
};

/** The clock of a known zone. */
export function createZoneClock(zone: string): ZoneClock {
  return {
    zone,
    toInstant: (wall) => wallToInstant(zone, wall),
    toWall: (instant) => instantToWall(zone, instant),
  };
}

/**
 * The clock a TZID names: a zone of that name, of the name's ending (`/vendor.example/2024/Europe/Berlin`), or by its
 * Windows name; else what the calendar's own VTIMEZONE says; else the owner's zone.
 */
export function findClock(tzid: string | undefined, zones: readonly Component[], ownZone: string): ZoneClock {
  if (tzid === undefined) return createZoneClock(ownZone);
  const own = zones.find((zone) => findText(zone, "tzid") === tzid);
  const names = [
    tzid,
    findOwn(WINDOWS_ZONES, tzid),
    own && findText(own, "x-lic-location"),
    ...listEndings(tzid),
  ];
  const known = names.find((name) => name !== undefined && isZone(name));
  if (known !== undefined) return createZoneClock(known);
  return own ? readWrittenClock(own) : createZoneClock(ownZone);
}

function listEndings(tzid: string): string[] {
  const parts = tzid.split("/").slice(-3);
  return parts.map((_, at) => parts.slice(at).join("/")).filter((name) => name.includes("/"));
}

const MAX_OBSERVANCES = 200;
const MAX_DATES = 2_000;
const MAX_YEARS = 300;

/** When clocks change, and to which offset. */
type Onset = { readonly wall: number; readonly offset: number };

const writtenClocks = new WeakMap<Component, ZoneClock>();

/** A clock from a VTIMEZONE, for zones that exist nowhere else; remembered, because following its rules is slow. */
function readWrittenClock(zone: Component): ZoneClock {
  const known = writtenClocks.get(zone);
  if (known) return known;
  const observances = zone[2].slice(0, MAX_OBSERVANCES);
  const [first] = observances;
  const otherwise = first ? readOffsetMs(first, "tzoffsetfrom") : 0;
  const years = new Map<number, readonly Onset[]>();
  const offsetOfWall = (wall: number): number => {
    const year = new Date(wall).getUTCFullYear();
    if (years.size > MAX_YEARS) years.clear();
    const onsets = years.get(year) ?? observances.flatMap((each) => listOnsets(each, year));
    years.set(year, onsets);
    let best: Onset | undefined;
    for (const onset of onsets) if (onset.wall <= wall && (!best || onset.wall > best.wall)) best = onset;
    return best?.offset ?? otherwise;
  };
  const clock = {
    zone: "UTC",
    toInstant: (wall: number) => wall - offsetOfWall(wall),
    toWall: (instant: number) => instant + offsetOfWall(instant + offsetOfWall(instant)),
  };
  writtenClocks.set(zone, clock);
  return clock;
}

/** The changes that an observance lists up to the end of a year, and those of its rule in the years just before. */
function listOnsets(observance: Component, year: number): Onset[] {
  const first = parseWall(findProperty(observance, "dtstart")?.[3])?.wall;
  if (first === undefined) return [];
  const listed = findProperties(observance, "rdate")
    .slice(0, MAX_DATES)
    .flatMap(([, , , ...dates]) => dates)
    .slice(0, MAX_DATES);
  const walls = [first, ...listed.flatMap((date) => parseWall(date)?.wall ?? [])];
  walls.push(...listRuledOnsets(observance, first, year));
  const offset = readOffsetMs(observance, "tzoffsetto");
  return walls.filter((wall) => wall >= first).map((wall) => ({ wall, offset }));
}

/** Clocks change by yearly rules; one of another kind, or that cannot be followed, adds nothing. */
function listRuledOnsets(observance: Component, first: number, year: number): readonly number[] {
  const rule = readRecurrence(findProperty(observance, "rrule")?.[3]);
  if (rule?.frequency !== "YEARLY" || rule.hours.length + rule.minutes.length + rule.seconds.length > 0)
    return [];
  const end = rule.until === undefined ? undefined : parseWall(rule.until);
  // The end is said in UTC, the changes by the clocks before them.
  const until = end && (end.isUtc ? end.wall + readOffsetMs(observance, "tzoffsetfrom") : end.wall);
  const window = { from: Date.UTC(year - 2, 0, 1), to: Date.UTC(year + 1, 0, 1) };
  return expandRule(rule, first, { ...window, until }).starts;
}

function readOffsetMs(observance: Component, name: string): number {
  const [, sign = "+", hours = "0", minutes = "0"] =
    /^([+-])(\d{2}):?(\d{2})/.exec(findText(observance, name) ?? "") ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Reads `2026-11-17`, `2026-11-17T14:00:00`, with or without `Z`, dashes and colons; undefined if it is not a date. */
export function parseWall(value: unknown): Wall | undefined {
  const [, year, month, day, hour, minute, second, zulu] =
    FORM.exec(typeof value === "string" ? value : "") ?? [];
  if (year === undefined || Number(year) < 1000) return undefined;
  const date = [Number(year), Number(month) - 1, Number(day)] as const;
  const midnight = Date.UTC(...date);
  const isReal =
    new Date(midnight).getUTCMonth() === date[1] && Number(hour ?? 0) < 24 && Number(minute ?? 0) < 60;
  if (!isReal) return undefined;
  const wall = Date.UTC(...date, Number(hour ?? 0), Number(minute ?? 0), Math.min(59, Number(second ?? 0)));
  return { wall, isDay: hour === undefined, isUtc: zulu === "Z" };
}

/** `2026-11-17` of a wall. */
export function formatWallDay(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}

/** `2026-11-17T14:00:00` of a wall. */
export function formatWallTime(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 19);
}

const LENGTH = /^([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?$/;

/** Milliseconds of a duration such as `PT1H30M`; 0 if it is none or negative. */
export function parseDuration(value: unknown): number {
  const [, sign, weeks, days, hours, minutes, seconds] =
    LENGTH.exec(typeof value === "string" ? value : "") ?? [];
  if (sign === undefined || sign === "-") return 0;
  const [w, d, h, m, s] = [weeks, days, hours, minutes, seconds].map((part) => Number(part ?? 0));
  return ((((w ?? 0) * 7 + (d ?? 0)) * 24 + (h ?? 0)) * 60 + (m ?? 0)) * 60_000 + (s ?? 0) * 1000;
}

/** No zone changes its clocks there and back within it. */
const STEP_MS = 5 * 86_400_000;
/** How many years are written out for a zone whose changes follow no yearly rule. */
const LISTED_YEARS = 10;

type Change = { readonly at: number; readonly from: number; readonly to: number };

/** A VTIMEZONE for a zone, right from the year before `year` on. */
export function writeZone(zone: string, year: number): Component {
  const first = year - 1;
  const changes = listChanges(zone, first);
  const pattern = describePattern(changes);
  const byRule =
    changes.length === 2 &&
    [first + 1, first + 5].every((later) => describePattern(listChanges(zone, later)) === pattern);
  const listed = byRule
    ? changes
    : Array.from({ length: LISTED_YEARS }, (_, at) => listChanges(zone, first + at)).flat();
  const base = offsetAt(zone, Date.UTC(first, 0, 1));
  const observances = [
    ...(byRule ? [] : [buildObservance({ at: Date.UTC(1970, 0, 1), from: base, to: base }, undefined)]),
    ...listed.map((change) => buildObservance(change, byRule ? buildYearlyRule(change) : undefined)),
  ];
  return ["vtimezone", [["tzid", {}, "text", zone]], observances];
}

function buildObservance(change: Change, rule: Record<string, unknown> | undefined): Component {
  const properties: Property[] = [
    ["dtstart", {}, "date-time", formatWallTime(change.at + change.from)],
    ["tzoffsetfrom", {}, "utc-offset", writeOffset(change.from)],
    ["tzoffsetto", {}, "utc-offset", writeOffset(change.to)],
    ...(rule ? [["rrule", {}, "recur", rule] satisfies Property] : []),
  ];
  return [change.to > change.from ? "daylight" : "standard", properties, []];
}

/** All changes of a zone's clocks in a year, to the second. */
function listChanges(zone: string, year: number): Change[] {
  const changes: Change[] = [];
  const end = Date.UTC(year + 1, 0, 1);
  let from = offsetAt(zone, Date.UTC(year, 0, 1));
  for (let begin = Date.UTC(year, 0, 1); begin < end; begin += STEP_MS) {
    const next = Math.min(end, begin + STEP_MS);
    const to = offsetAt(zone, next);
    if (to === from) continue;
    let [low, high] = [begin, next];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (offsetAt(zone, middle) === from) low = middle;
      else high = middle;
    }
    changes.push({ at: high, from, to });
    from = to;
  }
  return changes;
}

/** A year's changes without the year: the same text for years that follow one rule. */
function describePattern(changes: readonly Change[]): string {
  return JSON.stringify(
    changes.map((change) => {
      const { at, from, to } = change;
      return [buildYearlyRule(change), new Date(at + from).toISOString().slice(11, 16), from, to];
    }),
  );
}

/** The same weekday of the same month each year: the last one if it can be, else counted from the start. */
function buildYearlyRule(change: Change): Record<string, unknown> {
  const wall = new Date(change.at + change.from);
  const day = wall.getUTCDate();
  const daysInMonth = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate();
  const nth = day > daysInMonth - 7 ? -1 : Math.ceil(day / 7);
  return { freq: "YEARLY", bymonth: wall.getUTCMonth() + 1, byday: `${nth}${WEEKDAYS[wall.getUTCDay()]}` };
}

function writeOffset(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${offsetMs < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
