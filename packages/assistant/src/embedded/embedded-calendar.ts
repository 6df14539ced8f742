// The calendars of the local store: the owner's, and those of people whose files were imported.

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { CalendarProvider, TimeRange } from "../calendar/calendar-provider.ts";
import { readSeriesEvent } from "../calendar/ical/read-event.ts";
import { parseCalendar, type Series, writeCalendar } from "../calendar/ical/series.ts";
import { createSeriesCalendar, refuseChangedEvent, type StoredSeries } from "../calendar/series-calendar.ts";
import { findInstant } from "../service-tools/times.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { EmbeddedDatabase, Row } from "./embedded-database.ts";

/** The owner's own calendar; another person's is named by their address. */
export const OWN_CALENDAR = "";

/** The columns of an event: its text, the state that names, and when it can matter. */
type EventRow = {
  readonly uid: string;
  readonly ics: string;
  readonly etag: string;
  readonly first_ms: number;
  /** Null if it recurs. */
  readonly last_ms: number | null;
};

const MAX_UID_CHARS = 900;
/** Days begin at other moments in other zones. */
const MARGIN_MS = 2 * 86_400_000;
/** After so many series other work gets its turn: hostile events are costly to expand. */
const SERIES_AT_ONCE = 20;
const MOST_REMEMBERED = 5000;
/** Parsed series by their etag, which is a hash of the text. */
const remembered = new Map<string, Series>();

/** The calendar in the store. Nobody is told of an event: the store sends nothing. */
export function createEmbeddedCalendar(database: EmbeddedDatabase): CalendarProvider {
  return createSeriesCalendar<StoredSeries>({
    kind: "embedded",
    owner: () => database.owner(),
    now: database.now,
    unseen: "no account sees this person's calendar",
    findNear(range, person, signal) {
      const calendar = person ?? OWN_CALENDAR;
      const hasCalendar = database.get("SELECT 1 FROM events WHERE calendar = ? LIMIT 1", [calendar]);
      if (person !== null && !hasCalendar) return null;
      return findSeriesNear(database, { calendar, ...range }, signal);
    },
    async *findByUid(uid) {
      const found = await findSeries(database, uid);
      if (found) yield found;
    },
    async add(series) {
      if (!addEvent(database, OWN_CALENDAR, await buildEventRow(series, database.owner().zone)))
        throw new ToolFault("params", `there is an event '${series.uid.slice(0, 100)}' already`);
    },
    async replace({ series: { uid } }, etag, series) {
      const row = series && (await buildEventRow(series, database.owner().zone));
      const isDone = row
        ? replaceEvent(database, row, etag)
        : database.run("DELETE FROM events WHERE calendar = ? AND uid = ? AND etag = ?", [
            OWN_CALENDAR,
            uid,
            etag,
          ]);
      if (!isDone) throw refuseChangedEvent();
    },
  });
}

/** The row of an event; `params` if it has no start that can be read. */
export async function buildEventRow(series: Series, zone: string): Promise<EventRow> {
  const event = readSeriesEvent(series, { zone, owner: "", etag: "" });
  if (!event)
    throw new ToolFault("params", `The event ${series.uid.slice(0, 100)} has no start that can be read.`);
  if (series.uid.length > MAX_UID_CHARS) throw new ToolFault("params", "The event's UID is too long.");
  const ics = await writeCalendar([series]);
  const hasDates = series.master?.[1].some(([name]) => name === "rdate") ?? false;
  const isIrregular = series.overrides.length > 0 || hasDates;
  return {
    uid: series.uid,
    ics,
    etag: createHash("sha256").update(ics).digest("hex").slice(0, 20),
    // A changed occurrence, or a date that is listed, can lie before the first.
    first_ms: isIrregular ? 0 : findInstant(event.start, zone) - MARGIN_MS,
    last_ms: isIrregular || event.recurrence !== undefined ? null : findInstant(event.end, zone) + MARGIN_MS,
  };
}

/** Adds an event; says whether there was none of its UID in the calendar. */
export function addEvent(database: EmbeddedDatabase, calendar: string, row: EventRow): boolean {
  return database.insert("events", { calendar, ...row }) !== null;
}

/** Puts an event in the place of the state it was made from; returns whether that state was still there. */
export function replaceEvent(
  database: EmbeddedDatabase,
  row: EventRow,
  etag: string,
  calendar = OWN_CALENDAR,
): boolean {
  return database.run(
    "UPDATE events SET first_ms = ?, last_ms = ?, ics = ?, etag = ? WHERE calendar = ? AND uid = ? AND etag = ?",
    [row.first_ms, row.last_ms, row.ics, row.etag, calendar, row.uid, etag],
  );
}

/** The event of a UID, in the owner's calendar unless another is named. */
export async function findSeries(
  database: EmbeddedDatabase,
  uid: string,
  calendar = OWN_CALENDAR,
): Promise<StoredSeries | null> {
  const row = database.get("SELECT ics, etag FROM events WHERE calendar = ? AND uid = ?", [calendar, uid]);
  return row ? parseRow(row) : null;
}

/** Events of a calendar that may have an occurrence in a range; between them a call can be cancelled. */
async function* findSeriesNear(
  database: EmbeddedDatabase,
  { calendar, from, to }: TimeRange & { readonly calendar: string },
  signal: AbortSignal,
): AsyncGenerator<StoredSeries> {
  const rows = database.all(
    `SELECT ics, etag FROM events WHERE calendar = ? AND first_ms < ? AND (last_ms IS NULL OR last_ms > ?)
     ORDER BY uid`,
    [calendar, to, from],
  );
  for (const [at, row] of rows.entries()) {
    if (at % SERIES_AT_ONCE === 0) await setImmediate();
    if (signal.aborted) throw new ToolFault("tool_error", "the call was stopped");
    yield await parseRow(row);
  }
}

async function parseRow(row: Row): Promise<StoredSeries> {
  const etag = String(row.etag);
  const series = remembered.get(etag) ?? (await parseCalendar(String(row.ics))).series[0];
  if (!series) throw new ToolFault("tool_error", "An event in the local store cannot be read.");
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(etag, series);
  return { series, etag };
}
