import type {
  Busy,
  CalendarEvent,
  CalendarProvider,
  CalendarSpan,
  EventChange,
  NewEvent,
} from "../calendar/calendar-provider.ts";
import { busySpans } from "../calendar/event-spans.ts";
import { changeSeries, removeOccurrence } from "../calendar/ical/change-event.ts";
import { findText } from "../calendar/ical/jcal.ts";
import type { Series } from "../calendar/ical/parse-calendar.ts";
import {
  compareStarts,
  mentionsWords,
  occurrenceEvent,
  occurrencesIn,
  splitId,
} from "../calendar/ical/read-event.ts";
import { newSeries } from "../calendar/ical/write-event.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { type EmbeddedDatabase, guarded } from "./embedded-database.ts";
import {
  addEvent,
  eventRow,
  findSeries,
  hasCalendar,
  OWN_CALENDAR,
  removeEvent,
  replaceEvent,
  type StoredSeries,
  seriesNear,
} from "./event-rows.ts";

/** However much recurs, a list is made of no more. */
const MOST_OCCURRENCES = 10_000;

/** The calendar in the store. Nobody is told of an event: the store sends nothing. */
export function createEmbeddedCalendar(database: EmbeddedDatabase): CalendarProvider {
  return {
    kind: "embedded",
    self: (signal) =>
      guarded(signal, () => {
        const { address, zone } = database.owner();
        return { address, zone };
      }),
    list: (span, signal) => guarded(signal, () => list(database, span, signal)),
    get: (id, signal) => guarded(signal, async () => (await find(database, id)).event),
    create: (event, signal) => guarded(signal, () => create(database, event)),
    update: (id, change, etag, signal) => guarded(signal, () => update(database, id, change, etag)),
    remove: (id, { etag }, signal) => guarded(signal, () => remove(database, id, etag)),
    busy: (addresses, span, signal) =>
      guarded(signal, async () => {
        const busy: Busy[] = [];
        for (const address of addresses) busy.push(await findBusy(database, { address, span }, signal));
        return busy;
      }),
  };
}

type Found = StoredSeries & { readonly event: CalendarEvent; readonly key: string | undefined };

async function list(
  database: EmbeddedDatabase,
  { query = "", limit, ...span }: CalendarSpan & { query?: string; limit: number },
  signal: AbortSignal,
): Promise<{ events: CalendarEvent[]; total: number }> {
  const events = await occurrences(database, { calendar: OWN_CALENDAR, ...span }, signal);
  const fitting = events.filter((event) => mentionsWords(event, query));
  return { events: fitting.slice(0, Math.max(0, Math.trunc(limit))), total: fitting.length };
}

async function occurrences(
  database: EmbeddedDatabase,
  { calendar, ...span }: CalendarSpan & { readonly calendar: string },
  signal: AbortSignal,
): Promise<CalendarEvent[]> {
  const window = { from: Date.parse(span.start), to: Date.parse(span.end) };
  if (!(window.from <= window.to)) throw new ToolFault("params", "The span must end after it starts.");
  const { zone, address } = database.owner();
  const events: CalendarEvent[] = [];
  for await (const { series, etag } of seriesNear(database, { calendar, ...window }, signal)) {
    const reading = { zone, owner: calendar === OWN_CALENDAR ? address : calendar, etag };
    const found = occurrencesIn(series, span, reading);
    // What is left out would count as free time.
    if (found.cut) throw refuseOften(series);
    events.push(...found.events);
    if (events.length > MOST_OCCURRENCES)
      throw new ToolFault(
        "params",
        `There are more than ${MOST_OCCURRENCES} events; ask for a shorter span.`,
      );
  }
  return events.sort(compareStarts(zone));
}

function refuseOften({ uid, master }: Series): ToolFault {
  const title = (master && findText(master, "summary")) ?? uid;
  return new ToolFault(
    "params",
    `The event ${JSON.stringify(title.slice(0, 100))} recurs too often to be listed; ask for a shorter span.`,
  );
}

async function find(database: EmbeddedDatabase, id: string): Promise<Found> {
  const { zone, address } = database.owner();
  const split = splitId(id);
  // A UID may itself end like the key of an occurrence.
  for (const { uid, key } of [
    { uid: id, key: undefined },
    { key: undefined, ...split },
  ]) {
    const stored = await findSeries(database, uid);
    const event = stored && occurrenceEvent(stored.series, id, { zone, owner: address, etag: stored.etag });
    if (stored && event) return { ...stored, event, key };
  }
  throw new ToolFault(
    "params",
    `There is no event ${JSON.stringify(id.slice(0, 200))}; a list gives the ids.`,
  );
}

async function create(database: EmbeddedDatabase, event: NewEvent): Promise<CalendarEvent> {
  const series = newSeries(event, readWriter(database));
  const row = await eventRow(series, database.owner().zone);
  if (!addEvent(database, OWN_CALENDAR, row))
    throw new ToolFault("params", `There is an event ${JSON.stringify(event.id.slice(0, 100))} already.`);
  return (await find(database, event.id)).event;
}

async function update(
  database: EmbeddedDatabase,
  id: string,
  change: EventChange,
  etag: string,
): Promise<CalendarEvent> {
  const found = await find(database, id);
  if (found.etag !== etag) throw refuseChanged(found.event);
  const { zone } = database.owner();
  const series = changeSeries(found.series, found.key, change, { ...readWriter(database), zone });
  if (!replaceEvent(database, await eventRow(series, zone), etag)) throw refuseChanged(found.event);
  return (await find(database, id)).event;
}

async function remove(database: EmbeddedDatabase, id: string, etag: string): Promise<void> {
  const { series, event, key, ...found } = await find(database, id);
  if (found.etag !== etag) throw refuseChanged(event);
  const { zone } = database.owner();
  const rest = key === undefined ? null : removeOccurrence(series, key, zone);
  const isDone =
    rest && (rest.master || rest.overrides.length > 0)
      ? replaceEvent(database, await eventRow(rest, zone), etag)
      : removeEvent(database, series.uid, etag);
  if (!isDone) throw refuseChanged(event);
}

async function findBusy(
  database: EmbeddedDatabase,
  { address, span }: { readonly address: string; readonly span: CalendarSpan },
  signal: AbortSignal,
): Promise<Busy> {
  const { address: own, zone } = database.owner();
  const owner = address.toLowerCase();
  const calendar = owner === own.toLowerCase() ? OWN_CALENDAR : owner;
  if (calendar !== OWN_CALENDAR && !hasCalendar(database, calendar))
    return { address, busy: [], unknown: "no account sees this person's calendar" };
  const events = await occurrences(database, { calendar, ...span }, signal);
  return { address, busy: busySpans(events, span, { owner, zone }) };
}

function refuseChanged({ title }: CalendarEvent): ToolFault {
  return new ToolFault(
    "params",
    `The event ${JSON.stringify(title.slice(0, 100))} has changed; read it again.`,
  );
}

function readWriter(database: EmbeddedDatabase) {
  const { name, address } = database.owner();
  return { owner: address, ownerName: name, now: database.now() };
}
