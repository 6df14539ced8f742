// Events and their occurrences as the tools see them, read from iCalendar.

import { hasWords } from "../../service-tools/search-words.ts";
import { findInstant } from "../../service-tools/times.ts";
import {
  type Attendee,
  type CalendarEvent,
  parseResponse,
  parseStatus,
  parseVisibility,
  type TimeRange,
} from "../calendar-provider.ts";
import { type Component, findParameter, findProperties, findProperty, findText } from "./jcal.ts";
import { writeRecurrence } from "./recurrence.ts";
import {
  buildKey,
  findStarts,
  isRecurring,
  mapOverrides,
  moveTimes,
  readTimes,
  type Series,
  type Times,
  toEventTime,
} from "./series.ts";
import { parseWall } from "./zone-clock.ts";

/** How events are read: what a calendar's text does not say. */
type EventReading = {
  /** For times that name no zone. */
  readonly zone: string;
  /** The address of the calendar's owner. */
  readonly owner: string;
  readonly etag: string;
};

/** What an event says besides its times and ids. */
type EventFields = Omit<CalendarEvent, "id" | "seriesId" | "start" | "end" | "etag">;

const DAY_MS = 86_400_000;
const MAX_ATTENDEES = 1_000;

/** Which event an id names: of an occurrence its series and key. A UID may itself end like a key: try the whole first. */
export function splitId(id: string): { readonly uid: string; readonly key?: string } {
  const [, uid, key] = /^(.+)_(\d{8}(?:T\d{6}Z)?)$/s.exec(id) ?? [];
  return uid !== undefined && key !== undefined ? { uid, key } : { uid: id };
}

/** An event as a whole: of a series its first time and its recurrence. Null if it has no readable start. */
export function readSeriesEvent(series: Series, reading: EventReading): CalendarEvent | null {
  const event = series.master ?? series.overrides[0];
  const times = event && readTimes(event, { zones: series.zones, zone: reading.zone });
  return event && times
    ? buildEvent(readEventFields(event, reading), times, { id: series.uid }, reading)
    : null;
}

/** The event of an id, `<uid>` or `<uid>_<key>`; null if the series has no such occurrence. */
export function findOccurrence(series: Series, id: string, reading: EventReading): CalendarEvent | null {
  if (id === series.uid) return readSeriesEvent(series, reading);
  const { uid, key } = splitId(id);
  if (uid !== series.uid || key === undefined) return null;
  const at = parseWall(key)?.wall;
  if (at === undefined) return null;
  // An override may lie far from its place in the series; it is found by its key.
  const override = mapOverrides(series, reading.zone).get(key);
  if (override) return readOverride(series, override, key, reading);
  const near = { from: at - DAY_MS, to: at + 2 * DAY_MS };
  return listOccurrences(series, near, reading).events.find((event) => event.id === id) ?? null;
}

/** All occurrences that touch a range and were not called off, earliest first; `cut` if there are more than are looked at. */
export function listOccurrences(
  series: Series,
  range: TimeRange,
  reading: EventReading,
): { readonly events: readonly CalendarEvent[]; readonly cut: boolean } {
  const touches = ({ start, end }: Times) =>
    start.instant < range.to &&
    (end.instant > range.from || (end.instant === start.instant && start.instant >= range.from));
  const events: CalendarEvent[] = [];
  const { master } = series;
  const times = master && readTimes(master, { zones: series.zones, zone: reading.zone });
  let cut = false;
  const overrides = mapOverrides(series, reading.zone);
  if (master && times && !isRecurring(master) && overrides.size === 0) {
    if (touches(times))
      events.push(buildEvent(readEventFields(master, reading), times, { id: series.uid }, reading));
  } else if (master && times) {
    const fields = readEventFields(master, reading);
    const found = findStarts(series, times, range, reading.zone);
    cut = found.cut;
    const seen = new Set<string>();
    for (const wall of found.starts) {
      const at = moveTimes(times, wall);
      const key = buildKey(at.start);
      // Two hours of the clocks are one instant when one of them is left out.
      if (seen.has(key)) continue;
      seen.add(key);
      if (!overrides.has(key) && touches(at))
        events.push(buildEvent(fields, at, { id: `${series.uid}_${key}`, seriesId: series.uid }, reading));
    }
  }
  for (const [key, override] of overrides) {
    const at = readTimes(override, { zones: series.zones, zone: reading.zone });
    const event = at && touches(at) ? readOverride(series, override, key, reading) : null;
    if (event) events.push(event);
  }
  const kept = events.filter(({ status }) => status !== "cancelled");
  return { events: kept.sort(compareStarts(reading.zone)), cut };
}

function readOverride(
  series: Series,
  override: Component,
  key: string,
  reading: EventReading,
): CalendarEvent | null {
  const times = readTimes(override, { zones: series.zones, zone: reading.zone });
  if (!times) return null;
  const fields = readEventFields(override, reading, series.master ?? override);
  return buildEvent(fields, times, { id: `${series.uid}_${key}`, seriesId: series.uid }, reading);
}

function buildEvent(
  fields: EventFields,
  times: Times,
  ids: { id: string; seriesId?: string },
  reading: EventReading,
): CalendarEvent {
  return {
    ...ids,
    ...fields,
    start: toEventTime(times.start),
    end: toEventTime(times.end),
    etag: reading.etag,
  };
}

/** The fields of one event; `series` gives the recurrence of an occurrence that differs. */
function readEventFields(event: Component, reading: EventReading, series: Component = event): EventFields {
  const address = readMailto(findProperty(event, "organizer")?.[3]);
  const rule = findProperty(series, "rrule")?.[3];
  const url = findText(event, "url");
  return {
    title: findText(event, "summary") ?? "",
    location: findText(event, "location"),
    description: findText(event, "description"),
    organizer: address === undefined ? undefined : { address, self: address === reading.owner.toLowerCase() },
    attendees: readAttendees(event),
    recurrence: rule === undefined ? undefined : writeRecurrence(rule),
    visibility: parseVisibility(findText(event, "class")),
    free: findText(event, "transp")?.toUpperCase() === "TRANSPARENT",
    status: parseStatus(findText(event, "status")),
    link: url && /^https?:\/\//i.test(url) ? url : undefined,
  };
}

function readAttendees(event: Component): Attendee[] {
  const listed = findProperties(event, "attendee").slice(0, MAX_ATTENDEES);
  return listed.flatMap((property) => {
    const address = readMailto(property[3]);
    const name = findParameter(property, "cn");
    const response = parseResponse(findParameter(property, "partstat"));
    return address ? [{ address, name: name && name !== address ? name : undefined, response }] : [];
  });
}

/** The address of `mailto:a@b`, lower case; undefined for other kinds. */
export function readMailto(value: unknown): string | undefined {
  const text = typeof value === "string" ? value : "";
  const address = text
    .replace(/^mailto:/i, "")
    .trim()
    .toLowerCase();
  return /^[^\s@]+@[^\s@]+$/.test(address) ? address : undefined;
}

/** Orders events by their start, days as midnight in `zone`. */
export function compareStarts(zone: string): (a: CalendarEvent, b: CalendarEvent) => number {
  return (a, b) =>
    findInstant(a.start, zone) - findInstant(b.start, zone) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Whether an event has every word of a query in its texts or people. */
export function mentionsWords(event: CalendarEvent, query: string | undefined): boolean {
  const { title, location, description, organizer, attendees } = event;
  const people = attendees.flatMap(({ name, address }) => [name, address]);
  return hasWords([title, location, description, organizer?.address, ...people], query);
}
