// An event with its occurrences: read from iCalendar text, its times, written again.

import type { EventTime } from "../calendar-provider.ts";
import {
  type Component,
  findParameter,
  findProperties,
  findProperty,
  findText,
  type Property,
  parseComponents,
} from "./jcal.ts";
import { expandRule, type RecurrenceRule, readRecurrence } from "./recurrence.ts";
import {
  createZoneClock,
  findClock,
  formatWallDay,
  parseDuration,
  parseWall,
  type ZoneClock,
} from "./zone-clock.ts";

/** One event with its changed occurrences, and the zones it is written with. */
export type Series = {
  readonly uid: string;
  /** Absent if only single occurrences of the series were sent. */
  readonly master?: Component;
  /** Occurrences that differ, each with a RECURRENCE-ID. */
  readonly overrides: readonly Component[];
  readonly zones: readonly Component[];
};

const MAX_BYTES = 20_000_000;
const MAX_OVERRIDES = 2_000;
/** Every event is kept with its zones. The longest that are in use have some hundred changes of the clocks. */
const MAX_ZONE_CHARS = 100_000;

/**
 * The events of iCalendar text, by their UID. Something that cannot be read becomes a problem and hides nothing else.
 * Of two events with one UID the one with the higher SEQUENCE counts, else the later one.
 */
export async function parseCalendar(
  text: string,
): Promise<{ readonly series: readonly Series[]; readonly problems: readonly string[] }> {
  if (text.length > MAX_BYTES) return { series: [], problems: ["the calendar is larger than 20 MB"] };
  const { components, problems } = await parseComponents(text, "vcalendar", "VEVENT");
  const series = new Map<string, { master?: Component; overrides: Component[]; zones: Component[] }>();
  for (const calendar of components) {
    const written = calendar[2].filter(([name]) => name === "vtimezone");
    const zones = written.filter(isShort);
    for (const zone of written)
      if (!zones.includes(zone))
        problems.push(`the time zone ${findText(zone, "tzid")?.slice(0, 100)} is too long and was left out`);
    for (const event of calendar[2].filter(([name]) => name === "vevent")) {
      const uid = findText(event, "uid");
      if (uid === undefined || !findText(event, "dtstart")) {
        problems.push(
          `an event has no ${uid === undefined ? "UID" : "start"}: ${findText(event, "summary") ?? "no title"}`,
        );
        continue;
      }
      const one = series.get(uid) ?? { overrides: [], zones: [] };
      const used = listUsedZones(event);
      for (const zone of zones)
        if (used.has(findText(zone, "tzid") ?? "") && !one.zones.includes(zone)) one.zones.push(zone);
      if (findText(event, "recurrence-id") === undefined) {
        if (!one.master || readSequence(event) >= readSequence(one.master)) one.master = event;
      } else if (one.overrides.length < MAX_OVERRIDES) one.overrides.push(event);
      series.set(uid, one);
    }
  }
  if (components.length === 0 && problems.length === 0) problems.push("there is no calendar in it");
  return { series: [...series].map(([uid, one]) => ({ uid, ...one })), problems };
}

function isShort(zone: Component): boolean {
  try {
    return JSON.stringify(zone).length <= MAX_ZONE_CHARS;
  } catch {
    // It is nested deeper than calls can be.
    return false;
  }
}

function listUsedZones(event: Component): Set<string> {
  return new Set(event[1].flatMap((property) => findParameter(property, "tzid") ?? []));
}

/** How often the organiser changed an event. */
export function readSequence(event: Component | undefined): number {
  const value = event && findProperty(event, "sequence")?.[3];
  return typeof value === "number" ? value : 0;
}

/** Events as iCalendar text; what this program does not know of them is kept. */
export async function writeCalendar(series: readonly Series[]): Promise<string> {
  const { default: ical } = await import("ical.js");
  const zones = new Map<string, Component>();
  for (const { zones: own } of series) for (const zone of own) zones.set(findText(zone, "tzid") ?? "", zone);
  const events = series.flatMap(({ master, overrides }) => [...(master ? [master] : []), ...overrides]);
  const calendar: Component = [
    "vcalendar",
    [
      ["version", {}, "text", "2.0"],
      ["prodid", {}, "text", "-//Retinue//Assistant//EN"],
    ],
    [...zones.values(), ...events],
  ];
  return `${ical.stringify(calendar)}`.trimEnd().replace(/\r?\n/g, "\r\n").concat("\r\n");
}

const DAY_MS = 86_400_000;

/** A moment of an event with the clock it was written by; of a day the instant is its midnight in the owner's zone. */
export type EventMoment = {
  readonly wall: number;
  readonly isDay: boolean;
  readonly clock: ZoneClock;
  readonly instant: number;
};

/** When an event is. */
export type Times = { readonly start: EventMoment; readonly end: EventMoment };

/** How the times of one calendar are read. */
type TimeReading = { readonly zones: readonly Component[]; readonly zone: string };

const MAX_DATES = 5_000;

/** One value of a property as a moment; undefined if it is not a date. */
export function readMoment(
  property: Property,
  value: unknown,
  reading: TimeReading,
): EventMoment | undefined {
  const read = parseWall(value);
  if (!read) return undefined;
  if (read.isUtc) return { ...read, clock: createZoneClock("UTC"), instant: read.wall };
  const clock = read.isDay
    ? createZoneClock(reading.zone)
    : findClock(findParameter(property, "tzid"), reading.zones, reading.zone);
  return { ...read, clock, instant: clock.toInstant(read.wall) };
}

/** When an event is; undefined if its start is not a date. An end before the start counts as the start. */
export function readTimes(event: Component, reading: TimeReading): Times | undefined {
  const start = findProperty(event, "dtstart");
  const from = start && readMoment(start, start[3], reading);
  if (!from) return undefined;
  const end = findProperty(event, "dtend");
  const to = end && readMoment(end, end[3], reading);
  if (to && to.isDay === from.isDay && to.instant > from.instant) return { start: from, end: to };
  const length = parseDuration(findProperty(event, "duration")?.[3]);
  if (from.isDay) return { start: from, end: moveByDays(from, Math.max(1, Math.round(length / DAY_MS))) };
  return { start: from, end: moveToInstant(from, from.instant + length) };
}

/** The times of an event when it starts at another wall: a day keeps its number of days, others their length. */
export function moveTimes(times: Times, wall: number): Times {
  const { start, end } = times;
  const moved = { ...start, wall, instant: start.clock.toInstant(wall) };
  return start.isDay
    ? { start: moved, end: moveByDays(moved, Math.round((end.wall - start.wall) / DAY_MS)) }
    : { start: moved, end: moveToInstant(end, moved.instant + end.instant - start.instant) };
}

function moveByDays(from: EventMoment, days: number): EventMoment {
  const wall = from.wall + days * DAY_MS;
  return { ...from, wall, instant: from.clock.toInstant(wall) };
}

function moveToInstant(like: EventMoment, instant: number): EventMoment {
  return { ...like, wall: like.clock.toWall(instant), instant };
}

/** A moment as the calendar's provider gives it. */
export function toEventTime(moment: EventMoment): EventTime {
  return moment.isDay
    ? { kind: "day", day: formatWallDay(moment.wall) }
    : { kind: "instant", at: new Date(moment.instant).toISOString(), zone: moment.clock.zone };
}

/** Whether an event has more than one time. */
export function isRecurring(event: Component): boolean {
  return findProperty(event, "rrule") !== undefined || findProperty(event, "rdate") !== undefined;
}

/** What names an occurrence within its series: the start it was planned for. */
export function buildKey({ isDay, wall, instant }: EventMoment): string {
  const text = new Date(isDay ? wall : instant).toISOString().replace(/[-:]/g, "");
  return isDay ? text.slice(0, 8) : `${text.slice(0, 15)}Z`;
}

/** Occurrences that differ, by their key; of two for one key the later one in the text counts. */
export function mapOverrides(series: Series, zone: string): Map<string, Component> {
  const overrides = new Map<string, Component>();
  for (const override of series.overrides) {
    const property = findProperty(override, "recurrence-id");
    const moment = property && readMoment(property, property[3], { zones: series.zones, zone });
    if (moment) overrides.set(buildKey(moment), override);
  }
  return overrides;
}

/** Occurrences that differ and have a place in the series, as far as its rule can be followed. */
export function findPlacedOverrides(series: Series, zone: string): Component[] {
  const { master } = series;
  const times = master && readTimes(master, { zones: series.zones, zone });
  return [...mapOverrides(series, zone)].flatMap(([key, override]) => {
    const place = parseWall(key);
    if (!times || !place || place.isDay !== times.start.isDay) return [];
    const wall = place.isDay ? place.wall : times.start.clock.toWall(place.wall);
    const near = { from: times.start.clock.toInstant(wall), to: times.start.clock.toInstant(wall) + 1 };
    const { starts, cut } = findStarts(series, times, near, zone);
    return cut || starts.includes(wall) ? [override] : [];
  });
}

/**
 * The starts of a series near a window of instants, as walls of its own clock, without those it excludes. A rule that
 * cannot be followed leaves the first start and the dates that are listed.
 */
export function findStarts(
  series: Series,
  times: Times,
  window: { readonly from: number; readonly to: number },
  zone: string,
): { readonly starts: readonly number[]; readonly cut: boolean } {
  const { master } = series;
  if (!master) return { starts: [], cut: false };
  const { start, end } = times;
  const span = {
    from: start.clock.toWall(window.from) - (end.instant - start.instant) - DAY_MS,
    to: start.clock.toWall(window.to) + DAY_MS,
  };
  const starts = new Set<number>([start.wall]);
  let cut = false;
  for (const property of findProperties(master, "rrule").slice(0, 10)) {
    const rule = readRecurrence(property[3]);
    if (!rule) continue;
    const until = readUntil(rule, start);
    const found = expandRule(rule, start.wall, { ...span, until });
    for (const wall of found.starts) starts.add(wall);
    cut ||= found.cut;
  }
  for (const moment of listDates(series, master, "rdate", zone))
    starts.add(start.isDay ? moment.wall : start.clock.toWall(moment.instant));
  // Some programs exclude a day by its midnight.
  const asStart = (moment: EventMoment): EventMoment =>
    start.isDay && !moment.isDay
      ? { ...start, wall: moment.clock.zone === "UTC" ? start.clock.toWall(moment.instant) : moment.wall }
      : moment;
  const excluded = new Set(
    listDates(series, master, "exdate", zone).map((moment) => buildKey(asStart(moment))),
  );
  const isExcluded = (wall: number) =>
    excluded.has(buildKey({ ...start, wall, instant: start.clock.toInstant(wall) })) ||
    excluded.has(formatWallDay(wall).replaceAll("-", ""));
  return { starts: [...starts].filter((wall) => !isExcluded(wall)), cut };
}

/** The last start that a rule means, as a wall of the event's clock; a bare date includes that day. */
function readUntil(rule: RecurrenceRule, start: EventMoment): number | undefined {
  const until = rule.until === undefined ? undefined : parseWall(rule.until);
  if (!until) return undefined;
  if (until.isDay) return until.wall + DAY_MS - 1;
  return until.isUtc && !start.isDay ? start.clock.toWall(until.wall) : until.wall;
}

function listDates(series: Series, event: Component, name: "rdate" | "exdate", zone: string): EventMoment[] {
  const moments: EventMoment[] = [];
  for (const property of findProperties(event, name)) {
    const [, , , ...values] = property;
    for (const value of values) {
      if (moments.length >= MAX_DATES) return moments;
      const moment = readMoment(property, Array.isArray(value) ? value[0] : value, {
        zones: series.zones,
        zone,
      });
      if (moment) moments.push(moment);
    }
  }
  return moments;
}
