import type { DAVAddressBook, DAVCalendar, DAVResponse } from "tsdav";
import type { CalendarSpan } from "../calendar/calendar-provider.ts";
import { parseCalendar, type Series, writeCalendar } from "../calendar/ical/parse-calendar.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { createDavFetch, type DavServer, parseServerUrl } from "./dav-fetch.ts";

const MAX_COLLECTIONS = 20;
const WRITING: readonly string[] = ["write", "writeContent", "bind", "all"];

/** A calendar of the account. */
type OwnCalendar = { readonly url: string; readonly isWritable: boolean };

/** One file of a calendar: where it is, its state, and the events in it (one, unless a server is odd). */
export type CalendarObject = {
  readonly url: string;
  readonly etag: string;
  readonly series: readonly Series[];
};

const CHANGED = "the event has changed since it was read; read it again and decide anew";

/** The calendars of an account that hold events, those it may write first. */
export async function findCalendars(server: DavServer, signal: AbortSignal): Promise<OwnCalendar[]> {
  const { fetchCalendars } = await import("tsdav");
  const account = await findAccount(server, "caldav", signal);
  const calendars = await fetchCalendars({
    account,
    props: {
      "d:displayname": {},
      "d:resourcetype": {},
      "c:supported-calendar-component-set": {},
      "d:current-user-privilege-set": {},
    },
    projectedProps: { currentUserPrivilegeSet: true },
    fetch: createDavFetch(server, signal),
  });
  const own = calendars
    .filter(({ components }) => !components?.length || components.includes("VEVENT"))
    .slice(0, MAX_COLLECTIONS)
    .map((calendar) => ({ url: withSlash(calendar), isWritable: isWritable(calendar) }));
  if (own.length === 0)
    throw new ToolFault("tool_error", `there is no calendar of ${server.user} at ${server.url}`);
  return own.sort((a, b) => Number(b.isWritable) - Number(a.isWritable));
}

/** The addresses of an account's address books. */
export async function findAddressBooks(server: DavServer, signal: AbortSignal): Promise<string[]> {
  const { fetchAddressBooks } = await import("tsdav");
  const account = await findAccount(server, "carddav", signal);
  const books = await fetchAddressBooks({ account, fetch: createDavFetch(server, signal) });
  if (books.length === 0)
    throw new ToolFault("tool_error", `there is no address book of ${server.user} at ${server.url}`);
  return books.slice(0, MAX_COLLECTIONS).map(withSlash);
}

async function findAccount(server: DavServer, accountType: "caldav" | "carddav", signal: AbortSignal) {
  const { createAccount } = await import("tsdav");
  return await createAccount({
    account: { accountType, serverUrl: parseServerUrl(server.url).href },
    fetch: createDavFetch(server, signal),
  });
}

function withSlash({ url }: DAVCalendar | DAVAddressBook): string {
  return url.endsWith("/") ? url : `${url}/`;
}

/** A server that does not say what may be done is asked by doing it. */
function isWritable({ projectedProps }: DAVCalendar): boolean {
  const set = projectedProps?.currentUserPrivilegeSet;
  const privilege = typeof set === "object" && set !== null && "privilege" in set ? set.privilege : undefined;
  if (privilege === undefined) return true;
  return [privilege].flat().some((one) => {
    return typeof one === "object" && one !== null && Object.keys(one).some((name) => WRITING.includes(name));
  });
}

/** The files of a calendar with events that touch a span; recurring ones are matched by the server. */
export function listObjects(
  server: DavServer,
  calendar: string,
  span: CalendarSpan,
  signal: AbortSignal,
): Promise<CalendarObject[]> {
  const range = { start: compact(span.start), end: compact(span.end) };
  return query(server, calendar, { "time-range": { _attributes: range } }, signal);
}

/** The files of a calendar that have an event of this UID. */
export async function findObjects(
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
    fetch: createDavFetch(server, signal),
  });
  const objects: CalendarObject[] = [];
  for (const response of responses) {
    const found = readObjectText(response, "calendarData", calendar);
    if (!found) continue;
    const { series } = await parseCalendar(found.data);
    if (series.length > 0) objects.push({ url: found.url, etag: found.etag, series });
  }
  return objects;
}

/** The text of one file in an answer; undefined for what has none. */
export function readObjectText(
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

/** Puts a new event into a calendar; `params` if there is one of this id already. */
export async function addCalendarObject(
  server: DavServer,
  { calendar, id, series }: { readonly calendar: string; readonly id: string; readonly series: Series },
  signal: AbortSignal,
): Promise<void> {
  const { createObject } = await import("tsdav");
  const response = await createObject({
    url: new URL(`${encodeURIComponent(id)}.ics`, calendar).href,
    data: await writeCalendar([series]),
    headers: { "content-type": "text/calendar; charset=utf-8", "If-None-Match": "*" },
    fetch: createDavFetch(server, signal),
  });
  if (response.status === 412 || response.status === 409)
    throw new ToolFault("params", `there is an event '${id}' already`);
  check(response);
}

/** Replaces a file that is in the state of the etag; `params` if it has changed. */
export async function replaceCalendarObject(
  server: DavServer,
  file: { readonly url: string; readonly etag: string; readonly series: readonly Series[] },
  signal: AbortSignal,
): Promise<void> {
  refuseStateless(file);
  const { updateObject } = await import("tsdav");
  const response = await updateObject({
    url: file.url,
    etag: file.etag,
    data: await writeCalendar(file.series),
    headers: { "content-type": "text/calendar; charset=utf-8" },
    fetch: createDavFetch(server, signal),
  });
  if (response.status === 412) throw new ToolFault("params", CHANGED);
  check(response);
}

/** Deletes a file that is in the state of the etag; `params` if it has changed. */
export async function deleteCalendarObject(
  server: DavServer,
  file: { readonly url: string; readonly etag: string },
  signal: AbortSignal,
): Promise<void> {
  refuseStateless(file);
  const { deleteObject } = await import("tsdav");
  const response = await deleteObject({ ...file, fetch: createDavFetch(server, signal) });
  if (response.status === 412) throw new ToolFault("params", CHANGED);
  check(response);
}

/** Without an etag the request would carry no condition, and undo what others did meanwhile. */
function refuseStateless({ etag }: { readonly etag: string }): void {
  if (etag !== "") return;
  throw new ToolFault("tool_error", "the server does not tell the event's state, so it is not changed");
}

function check(response: Response): void {
  if (response.ok) return;
  const said = `the calendar server answered ${response.status} ${response.statusText}`.trim();
  throw new ToolFault(response.status === 404 ? "params" : "tool_error", said);
}
