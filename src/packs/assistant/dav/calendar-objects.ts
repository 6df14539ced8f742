import type { DAVResponse } from "tsdav";
import type { Span } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { parseCalendar, type Series } from "../ical/parse-calendar.ts";
import { type DavServer, davFetch } from "./dav-fetch.ts";

/** One file of a calendar: where it is, its state, and the events in it (one, unless a server is odd). */
export type CalendarObject = {
  readonly url: string;
  readonly etag: string;
  readonly series: readonly Series[];
};

/** The files of a calendar with events that touch a span; recurring ones are matched by the server. */
export function objectsIn(
  server: DavServer,
  calendar: string,
  span: Span,
  signal: AbortSignal,
): Promise<CalendarObject[]> {
  const range = { start: compact(span.start), end: compact(span.end) };
  return query(server, calendar, { "time-range": { _attributes: range } }, signal);
}

/** The files of a calendar that have an event of this UID. */
export async function objectsOf(
  server: DavServer,
  calendar: string,
  uid: string,
  signal: AbortSignal,
): Promise<CalendarObject[]> {
  const match = { _attributes: { collation: "i;octet" }, _text: uid };
  const filter = { "prop-filter": { _attributes: { name: "UID" }, "text-match": match } };
  const objects = await query(server, calendar, filter, signal);
  // A match may be a part of a longer UID.
  return objects.filter(({ series }) => series.some((one) => one.uid === uid));
}

function compact(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

async function query(
  server: DavServer,
  calendar: string,
  filter: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CalendarObject[]> {
  const { calendarQuery } = await import("tsdav");
  const responses = await calendarQuery({
    url: calendar,
    props: { "d:getetag": {}, "c:calendar-data": {} },
    filters: [
      {
        "comp-filter": {
          _attributes: { name: "VCALENDAR" },
          "comp-filter": { _attributes: { name: "VEVENT" }, ...filter },
        },
      },
    ],
    depth: "1",
    fetch: davFetch(server, signal),
  });
  const objects: CalendarObject[] = [];
  for (const response of responses) {
    const found = dataOf(response, "calendarData", calendar);
    if (!found) continue;
    const { series } = await parseCalendar(found.data);
    if (series.length > 0) objects.push({ url: found.url, etag: found.etag, series });
  }
  return objects;
}

/** The text of one file in an answer; undefined for what has none. */
export function dataOf(
  response: DAVResponse,
  name: "calendarData" | "addressData",
  collection: string,
): { readonly url: string; readonly etag: string; readonly data: string } | undefined {
  if (response.status >= 400)
    throw new ToolFault("tool_error", `${collection} answered ${response.status} ${response.statusText}`);
  const value: unknown = response.props?.[name];
  const inner: unknown =
    typeof value === "object" && value !== null && "_cdata" in value ? value._cdata : value;
  const data = Array.isArray(inner) ? inner.join("") : inner;
  if (typeof data !== "string" || response.href === undefined) return undefined;
  return { url: new URL(response.href, collection).href, etag: String(response.props?.getetag ?? ""), data };
}
