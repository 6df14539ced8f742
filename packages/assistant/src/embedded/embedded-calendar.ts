// The calendars of the local store.

import { createHash } from "node:crypto";
import type {
  Busy,
  CalendarEvent,
  CalendarProvider,
  CalendarSpan,
  EventChange,
  NewEvent,
} from "../calendar/calendar-provider.ts";
import { changeSeries, removeOccurrence } from "../calendar/ical/change-event.ts";
import { findText } from "../calendar/ical/jcal.ts";
import { parseCalendar, type Series, writeCalendar } from "../calendar/ical/parse-calendar.ts";
import {
  compareStarts,
  mentionsWords,
  occurrenceEvent,
  occurrencesIn,
  seriesEvent,
  splitId,
} from "../calendar/ical/read-event.ts";
import { newSeries } from "../calendar/ical/write-event.ts";
import { busySpans, findInstant } from "../service-tools/times.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { breathe, type EmbeddedDatabase, guarded } from "./embedded-database.ts";

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

/** The owner's own calendar; another person's is named by their address. */
export const OWN_CALENDAR = "";

/** An event with its occurrences as it is kept. */
type StoredSeries = { readonly series: Series; readonly etag: string };

/** The columns of an event: its text, the state that names, and when it can matter. */
type EventRow = {
  readonly uid: string;
  readonly ics: string;
  readonly etag: string;
  readonly firstMs: number;
  /** Null if it recurs. */
  readonly lastMs: number | null;
};

const MAX_UID_CHARS = 900;
/** Days begin at other moments in other zones. */
const MARGIN_MS = 2 * 86_400_000;
/** However costly hostile events are to follow, others come to their turn. */
const SERIES_AT_ONCE = 20;
const MOST_REMEMBERED = 5000;
/** What was parsed, by its etag, which is a hash of the text. */
const remembered = new Map<string, Series>();

/** The row of an event; `params` if it has no start that can be read. */
export async function eventRow(series: Series, zone: string): Promise<EventRow> {
  const event = seriesEvent(series, { zone, owner: "", etag: "" });
  if (!event)
    throw new ToolFault("params", `The event ${series.uid.slice(0, 100)} has no start that can be read.`);
  if (series.uid.length > MAX_UID_CHARS) throw new ToolFault("params", "The event's UID is too long.");
  const ics = await writeCalendar([series]);
  const isOne = event.recurrence === undefined && series.overrides.length === 0 && !hasMoreDates(series);
  return {
    uid: series.uid,
    ics,
    etag: createHash("sha256").update(ics).digest("hex").slice(0, 20),
    // A changed occurrence, or a date that is listed, can lie before the first.
    firstMs:
      series.overrides.length > 0 || hasMoreDates(series) ? 0 : findInstant(event.start, zone) - MARGIN_MS,
    lastMs: isOne ? findInstant(event.end, zone) + MARGIN_MS : null,
  };
}

function hasMoreDates(series: Series): boolean {
  return series.master?.[1].some(([name]) => name === "rdate") ?? false;
}

/** Adds an event; says whether there was none of its UID in the calendar. */
export function addEvent(database: EmbeddedDatabase, calendar: string, row: EventRow): boolean {
  const { changes } = database.db
    .prepare(
      "INSERT OR IGNORE INTO events (calendar, uid, first_ms, last_ms, ics, etag) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(calendar, row.uid, row.firstMs, row.lastMs, row.ics, row.etag);
  return Number(changes) > 0;
}

/** Puts an event in the place of the state it was made from; returns whether that state was still there. */
export function replaceEvent(
  database: EmbeddedDatabase,
  row: EventRow,
  etag: string,
  calendar = OWN_CALENDAR,
): boolean {
  const { changes } = database.db
    .prepare(
      "UPDATE events SET first_ms = ?, last_ms = ?, ics = ?, etag = ? WHERE calendar = ? AND uid = ? AND etag = ?",
    )
    .run(row.firstMs, row.lastMs, row.ics, row.etag, calendar, row.uid, etag);
  return Number(changes) > 0;
}

/** Removes an event in a known state; returns whether that state was still there. */
function removeEvent(database: EmbeddedDatabase, uid: string, etag: string): boolean {
  const { changes } = database.db
    .prepare("DELETE FROM events WHERE calendar = ? AND uid = ? AND etag = ?")
    .run(OWN_CALENDAR, uid, etag);
  return Number(changes) > 0;
}

/** The event of a UID, in the owner's calendar unless another is named. */
export async function findSeries(
  database: EmbeddedDatabase,
  uid: string,
  calendar = OWN_CALENDAR,
): Promise<StoredSeries | null> {
  const row = database.db
    .prepare("SELECT ics, etag FROM events WHERE calendar = ? AND uid = ?")
    .get(calendar, uid);
  return row ? { series: await parsed(String(row.ics), String(row.etag)), etag: String(row.etag) } : null;
}

/** Events of a calendar that may have an occurrence in a span of milliseconds; between them a call can be cancelled. */
async function* seriesNear(
  database: EmbeddedDatabase,
  { calendar, from, to }: { readonly calendar: string; readonly from: number; readonly to: number },
  signal: AbortSignal,
): AsyncGenerator<StoredSeries> {
  const rows = database.db
    .prepare(
      `SELECT ics, etag FROM events WHERE calendar = ? AND first_ms < ? AND (last_ms IS NULL OR last_ms > ?)
       ORDER BY uid`,
    )
    .all(calendar, to, from);
  for (const [at, { ics, etag }] of rows.entries()) {
    if (at % SERIES_AT_ONCE === 0) await breathe(signal);
    yield { series: await parsed(String(ics), String(etag)), etag: String(etag) };
  }
}

/** Whether somebody's calendar is in the store. */
function hasCalendar(database: EmbeddedDatabase, calendar: string): boolean {
  return database.db.prepare("SELECT 1 FROM events WHERE calendar = ? LIMIT 1").get(calendar) !== undefined;
}

async function parsed(ics: string, etag: string): Promise<Series> {
  const known = remembered.get(etag);
  if (known) return known;
  const [series] = (await parseCalendar(ics)).series;
  if (!series) throw new ToolFault("tool_error", "An event in the local store cannot be read.");
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(etag, series);
  return series;
}
