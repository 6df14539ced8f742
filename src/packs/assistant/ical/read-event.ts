import type { CalendarEvent, Span } from "../calendar/calendar-provider.ts";
import { byStart } from "./busy.ts";
import { type EventFields, fieldsOf, type Reading } from "./event-fields.ts";
import { eventTime, type Times, timesAt, timesOf } from "./event-times.ts";
import type { Component } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";
import { keyOf, overridesOf, recurs, startsIn } from "./series-starts.ts";

/** Which event an id names: of an occurrence its series and key. A UID may itself end like a key: try the whole first. */
export function splitId(id: string): { readonly uid: string; readonly key?: string } {
  const [, uid, key] = /^(.+)_(\d{8}(?:T\d{6}Z)?)$/s.exec(id) ?? [];
  return uid !== undefined && key !== undefined ? { uid, key } : { uid: id };
}

/** An event as a whole: of a series its first time and its recurrence. Null if it has no readable start. */
export function seriesEvent(series: Series, reading: Reading): CalendarEvent | null {
  const event = series.master ?? series.overrides[0];
  const times = event && timesOf(event, { zones: series.zones, zone: reading.zone });
  return event && times ? made(fieldsOf(event, reading), times, { id: series.uid }, reading) : null;
}

/** The event of an id, `<uid>` or `<uid>_<key>`; null if the series has no such occurrence. */
export function occurrenceEvent(series: Series, id: string, reading: Reading): CalendarEvent | null {
  if (id === series.uid) return seriesEvent(series, reading);
  const { uid, key } = splitId(id);
  if (uid !== series.uid || key === undefined) return null;
  const at = Date.parse(key.replace(/^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})Z)?$/, dashed));
  if (Number.isNaN(at)) return null;
  // An override may lie far from its place in the series; it is found by its key.
  const override = overridesOf(series, reading.zone).get(key);
  if (override) return overrideEvent(series, override, key, reading);
  const day = 86_400_000;
  const span = { start: new Date(at - day).toISOString(), end: new Date(at + 2 * day).toISOString() };
  return occurrencesIn(series, span, reading).events.find((event) => event.id === id) ?? null;
}

function dashed(
  _: string,
  year: string,
  month: string,
  day: string,
  hour?: string,
  min?: string,
  sec?: string,
) {
  return `${year}-${month}-${day}${hour === undefined ? "" : `T${hour}:${min}:${sec}Z`}`;
}

/** All occurrences that touch a span and were not called off, earliest first; `cut` if there are more than are looked at. */
export function occurrencesIn(
  series: Series,
  span: Span,
  reading: Reading,
): { readonly events: readonly CalendarEvent[]; readonly cut: boolean } {
  const window = { from: Date.parse(span.start), to: Date.parse(span.end) };
  const touches = ({ start, end }: Times) =>
    start.instant < window.to &&
    (end.instant > window.from || (end.instant === start.instant && start.instant >= window.from));
  const events: CalendarEvent[] = [];
  const { master } = series;
  const times = master && timesOf(master, { zones: series.zones, zone: reading.zone });
  let cut = false;
  const overrides = overridesOf(series, reading.zone);
  if (master && times && !recurs(master) && overrides.size === 0) {
    if (touches(times)) events.push(made(fieldsOf(master, reading), times, { id: series.uid }, reading));
  } else if (master && times) {
    const fields = fieldsOf(master, reading);
    const found = startsIn(series, times, window, reading.zone);
    cut = found.cut;
    const seen = new Set<string>();
    for (const wall of found.starts) {
      const at = timesAt(times, wall);
      const key = keyOf(at.start);
      // Two hours of the clocks are one instant when one of them is left out.
      if (seen.has(key)) continue;
      seen.add(key);
      if (!overrides.has(key) && touches(at))
        events.push(made(fields, at, { id: `${series.uid}_${key}`, seriesId: series.uid }, reading));
    }
  }
  for (const [key, override] of overrides) {
    const at = timesOf(override, { zones: series.zones, zone: reading.zone });
    const event = at && touches(at) ? overrideEvent(series, override, key, reading) : null;
    if (event) events.push(event);
  }
  const kept = events.filter(({ status }) => status !== "cancelled");
  return { events: kept.sort(byStart(reading.zone)), cut };
}

function overrideEvent(
  series: Series,
  override: Component,
  key: string,
  reading: Reading,
): CalendarEvent | null {
  const times = timesOf(override, { zones: series.zones, zone: reading.zone });
  if (!times) return null;
  const fields = fieldsOf(override, reading, series.master ?? override);
  return made(fields, times, { id: `${series.uid}_${key}`, seriesId: series.uid }, reading);
}

function made(
  fields: EventFields,
  times: Times,
  ids: { id: string; seriesId?: string },
  reading: Reading,
): CalendarEvent {
  return {
    ...ids,
    ...fields,
    start: eventTime(times.start),
    end: eventTime(times.end),
    etag: reading.etag,
  };
}
