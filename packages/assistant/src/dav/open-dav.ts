// Calendars (CalDAV) and address books (CardDAV) on a server, through tsdav.

import type { DAVAddressBook, DAVCalendar, DAVResponse } from "tsdav";
import type { ServiceProviders } from "../accounts/accounts.ts";
import type { CalendarProvider } from "../calendar/calendar-provider.ts";
import { parseCalendar, type Series, writeCalendar } from "../calendar/ical/series.ts";
import { createSeriesCalendar, refuseChangedEvent, type StoredSeries } from "../calendar/series-calendar.ts";
import { type ContactsProvider, createAddressBook } from "../contacts/contacts-provider.ts";
import { type Card, parseCards, resolveMembers } from "../contacts/vcard.ts";
import { keepFresh } from "../service-tools/service-requests.ts";
import { toIso } from "../service-tools/times.ts";
import { guardProvider, ToolFault } from "../service-tools/tool-fault.ts";
import { createDavFetch, type DavServer, parseServerUrl } from "./dav-fetch.ts";

/** An account on a server for calendars, contacts or both. */
type DavOptions = DavServer & {
  /** The owner's mail address, as organizer of events. */
  readonly address: string;
  /** IANA name of the owner's zone. */
  readonly zone: string;
  readonly kinds: readonly ("calendar" | "contacts")[];
  /** Milliseconds since 1970. */
  now?(): number;
};

/** An event, the file it is in, and what else is in that file (usually nothing). */
type StoredFile = StoredSeries & { readonly url: string; readonly others: readonly Series[] };

const MAX_COLLECTIONS = 20;
const MAX_CARDS = 10_000;
/** One request for several look-ups in a row, as a call with many names makes them. */
const FRESH_MS = 30_000;
const WRITING: readonly string[] = ["write", "writeContent", "bind", "all"];
const USELESS = "the server's answer cannot be used";

/** The wanted providers of a DAV account. Nothing is connected or loaded before the first call. */
export function openDav(options: DavOptions): Partial<Pick<ServiceProviders, "calendar" | "contacts">> {
  const { kinds } = options;
  return {
    ...(kinds.includes("calendar") && { calendar: guardProvider(createDavCalendar(options), USELESS) }),
    ...(kinds.includes("contacts") && { contacts: guardProvider(createDavContacts(options), USELESS) }),
  };
}

/** Reads all of the account's calendars, makes events in the first it may write. */
function createDavCalendar(options: DavOptions): CalendarProvider {
  const findCalendars = keepFresh((signal) => fetchEventCalendars(options, signal));
  async function* query(filter: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<StoredFile> {
    for (const { url } of await findCalendars(signal)) yield* queryCalendar(options, url, filter, signal);
  }
  return createSeriesCalendar<StoredFile>({
    kind: "caldav",
    owner: () => ({ address: options.address, zone: options.zone }),
    now: () => options.now?.() ?? Date.now(),
    unseen: "this calendar account shows only its owner's own time",
    // Recurring events are matched by the server.
    findNear: ({ from, to }, person, signal) =>
      person === null
        ? query(
            { "time-range": { _attributes: { start: writeCompactTime(from), end: writeCompactTime(to) } } },
            signal,
          )
        : null,
    async *findByUid(uid, signal) {
      const match = { _attributes: { collation: "i;octet" }, _text: uid };
      const filter = { "prop-filter": { _attributes: { name: "UID" }, "text-match": match } };
      // A match may be a part of a longer UID.
      for await (const file of query(filter, signal)) if (file.series.uid === uid) yield file;
    },
    async add(series, signal) {
      const [calendar] = await findCalendars(signal);
      if (!calendar?.isWritable)
        throw new ToolFault("permission", "there is no calendar in this account that may be written");
      const { createObject } = await import("tsdav");
      const response = await createObject({
        url: new URL(`${encodeURIComponent(series.uid)}.ics`, calendar.url).href,
        data: await writeCalendar([series]),
        headers: { "content-type": "text/calendar; charset=utf-8", "If-None-Match": "*" },
        fetch: createDavFetch(options, signal),
      });
      if (response.status === 412 || response.status === 409)
        throw new ToolFault("params", `there is an event '${series.uid}' already`);
      checkWritten(response);
    },
    async replace({ url, others }, etag, series, signal) {
      // Without an etag the request would carry no condition, and undo what others did meanwhile.
      if (etag === "")
        throw new ToolFault("tool_error", "the server does not tell the event's state, so it is not changed");
      const { deleteObject, updateObject } = await import("tsdav");
      const rest = series ? [...others, series] : others;
      const file = { url, etag, fetch: createDavFetch(options, signal) };
      const headers = { "content-type": "text/calendar; charset=utf-8" };
      const response =
        rest.length === 0
          ? await deleteObject(file)
          : await updateObject({ ...file, headers, data: await writeCalendar(rest) });
      if (response.status === 412) throw refuseChangedEvent();
      checkWritten(response);
    },
  });
}

/** The calendars of an account that hold events, those it may write first. */
async function fetchEventCalendars(server: DavServer, signal: AbortSignal) {
  const { fetchCalendars } = await import("tsdav");
  const calendars = await fetchCalendars({
    account: await findAccount(server, "caldav", signal),
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
    .map((calendar) => ({ url: addSlash(calendar), isWritable: isWritable(calendar) }));
  if (own.length === 0)
    throw new ToolFault("tool_error", `there is no calendar of ${server.user} at ${server.url}`);
  return own.sort((a, b) => Number(b.isWritable) - Number(a.isWritable));
}

/** A server that does not say what is allowed is assumed to allow it. */
function isWritable({ projectedProps }: DAVCalendar): boolean {
  const set = projectedProps?.currentUserPrivilegeSet;
  const privilege = typeof set === "object" && set !== null && "privilege" in set ? set.privilege : undefined;
  if (privilege === undefined) return true;
  return [privilege].flat().some((one) => {
    return typeof one === "object" && one !== null && Object.keys(one).some((name) => WRITING.includes(name));
  });
}

function writeCompactTime(at: number): string {
  return `${toIso(at).slice(0, 19).replace(/[-:]/g, "")}Z`;
}

async function* queryCalendar(
  server: DavServer,
  calendar: string,
  filter: Record<string, unknown>,
  signal: AbortSignal,
): AsyncGenerator<StoredFile> {
  const { calendarQuery } = await import("tsdav");
  const events = { "comp-filter": { _attributes: { name: "VEVENT" }, ...filter } };
  const responses = await calendarQuery({
    url: calendar,
    props: { "d:getetag": {}, "c:calendar-data": {} },
    filters: [{ "comp-filter": { _attributes: { name: "VCALENDAR" }, ...events } }],
    depth: "1",
    fetch: createDavFetch(server, signal),
  });
  for (const response of responses) {
    const file = readFile(response, "calendarData", calendar);
    const { series: all } = file ? await parseCalendar(file.data) : { series: [] };
    for (const series of all)
      if (file) yield { ...file, series, others: all.filter((other) => other !== series) };
  }
}

function checkWritten(response: Response): void {
  if (response.ok) return;
  const said = `the calendar server answered ${response.status} ${response.statusText}`.trim();
  throw new ToolFault(response.status === 404 ? "params" : "tool_error", said);
}

/** All books of the account are read, and searched here. */
function createDavContacts(options: DavOptions): ContactsProvider {
  const findBooks = keepFresh((signal) => fetchBooks(options, signal));
  return createAddressBook({
    kind: "carddav",
    freshMs: FRESH_MS,
    now: options.now,
    async load(signal) {
      const cards: Card[] = [];
      for (const book of await findBooks(signal)) cards.push(...(await fetchCards(options, book, signal)));
      return resolveMembers(cards.slice(0, MAX_CARDS)).sort((a, b) => a.name.localeCompare(b.name, "en"));
    },
  });
}

async function fetchBooks(server: DavServer, signal: AbortSignal): Promise<string[]> {
  const { fetchAddressBooks } = await import("tsdav");
  const account = await findAccount(server, "carddav", signal);
  const books = await fetchAddressBooks({ account, fetch: createDavFetch(server, signal) });
  if (books.length === 0)
    throw new ToolFault("tool_error", `there is no address book of ${server.user} at ${server.url}`);
  return books.slice(0, MAX_COLLECTIONS).map(addSlash);
}

async function fetchCards(server: DavServer, book: string, signal: AbortSignal): Promise<Card[]> {
  const { addressBookQuery } = await import("tsdav");
  const responses = await addressBookQuery({
    url: book,
    props: { "d:getetag": {}, "card:address-data": {} },
    filters: { "prop-filter": { _attributes: { name: "FN" } } },
    depth: "1",
    fetch: createDavFetch(server, signal),
  });
  const cards: Card[] = [];
  for (const response of responses) {
    const file = readFile(response, "addressData", book);
    if (file) cards.push(...(await parseCards(file.data)).cards);
  }
  return cards;
}

async function findAccount(server: DavServer, accountType: "caldav" | "carddav", signal: AbortSignal) {
  const { createAccount } = await import("tsdav");
  return await createAccount({
    account: { accountType, serverUrl: parseServerUrl(server.url).href },
    fetch: createDavFetch(server, signal),
  });
}

function addSlash({ url }: DAVCalendar | DAVAddressBook): string {
  return url.endsWith("/") ? url : `${url}/`;
}

/** The text of one file in an answer; undefined for what has none. */
function readFile(
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
