import { createHash } from "node:crypto";
import { parseCalendar, type Series, writeCalendar } from "../calendar/ical/parse-calendar.ts";
import { seriesEvent } from "../calendar/ical/read-event.ts";
import { findInstant } from "../service-tools/read-time.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { breathe, type EmbeddedDatabase } from "./embedded-database.ts";

/** The owner's own calendar; another person's is named by their address. */
export const OWN_CALENDAR = "";

/** An event with its occurrences as it is kept. */
export type StoredSeries = { readonly series: Series; readonly etag: string };

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
export function removeEvent(database: EmbeddedDatabase, uid: string, etag: string): boolean {
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
export async function* seriesNear(
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
export function hasCalendar(database: EmbeddedDatabase, calendar: string): boolean {
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
