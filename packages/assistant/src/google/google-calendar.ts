// A calendar at Google.

import type { calendar_v3 } from "@googleapis/calendar";
import {
  type Attendee,
  type Busy,
  type CalendarEvent,
  type CalendarProvider,
  type EventChange,
  type EventTime,
  parseResponse,
  parseStatus,
  parseVisibility,
  type TimeRange,
} from "../calendar/calendar-provider.ts";
import { eachPage } from "../service-tools/service-requests.ts";
import { toIso } from "../service-tools/times.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { GoogleApi, GoogleAsk, RequestOptions } from "./google-session.ts";

type Ask = GoogleAsk<"calendar">;
type Event = calendar_v3.Schema$Event;
type Moment = calendar_v3.Schema$EventDateTime;
type Guest = calendar_v3.Schema$EventAttendee;
type FreeBusy = calendar_v3.Schema$FreeBusyCalendar;
type Surroundings = { owner(signal: AbortSignal): Promise<string>; readonly zone: string };

const CALENDAR = "primary";
const PAGE = 250;
const MOST_PAGES = 4;
/** Google answers for at most so many calendars at once. */
const MOST_CALENDARS = 50;

/** The owner's main calendar at Google. */
export function createGoogleCalendar(
  api: GoogleApi<"calendar">,
  { owner, zone }: Surroundings,
): CalendarProvider {
  const known = (event: Event) => readEvent(event, zone);
  return {
    kind: "google",
    refresh: api.refresh,
    async self(signal) {
      const ask = api.during(signal);
      const { timeZone } = await ask("the calendar", (calendar, options) =>
        calendar.events.list({ calendarId: CALENDAR, maxResults: 1, fields: "timeZone" }, options),
      );
      return { address: await owner(signal), zone: timeZone ?? zone };
    },
    async list(query, signal) {
      const events = (await listRange(api.during(signal), query)).map(known);
      return { events: events.slice(0, query.limit), total: events.length };
    },
    get: async (id, signal) => known(await fetchEvent(api.during(signal), id)),
    async create(event, signal) {
      const ask = api.during(signal);
      const made = await ask(`event '${event.id}'`, (calendar, options) =>
        calendar.events.insert(
          { ...describeWrite(event.notify), requestBody: { id: event.id, ...buildBody(event) } },
          options,
        ),
      );
      return known(made);
    },
    update: async (id, change, etag, signal) =>
      known(await patchEvent(api.during(signal), { id, change, etag })),
    async remove(id, { etag, notify }, signal) {
      const ask = api.during(signal);
      await ask(`event '${id}'`, (calendar, options) =>
        calendar.events.delete(
          { ...describeWrite(notify), eventId: checkId(id) },
          requireUnchanged(options, etag),
        ),
      );
    },
    async busy(addresses, range, signal) {
      const self = (await owner(signal)).toLowerCase();
      const people = addresses.map((address) => ({
        address,
        id: address.toLowerCase() === self ? CALENDAR : address,
      }));
      const calendars = await queryBusy(api.during(signal), [...new Set(people.map(({ id }) => id))], range);
      return people.map(({ address, id }) => readBusy(address, calendars[id]));
    },
  };
}

/** The events of a range: whole pages, so that most totals are exact, until there are enough. */
async function listRange(
  ask: Ask,
  { from, to, query, limit }: TimeRange & { readonly query?: string; readonly limit: number },
): Promise<Event[]> {
  const asked = {
    ...{ calendarId: CALENDAR, singleEvents: true, orderBy: "startTime", maxResults: PAGE },
    ...{ timeMin: toIso(from), timeMax: toIso(to), q: query || undefined },
  };
  const fetchPage = (pageToken?: string) =>
    ask("the calendar", (calendar, options) => calendar.events.list({ ...asked, pageToken }, options));
  const items: Event[] = [];
  for await (const answer of eachPage(fetchPage, (page) => page.nextPageToken, MOST_PAGES)) {
    items.push(...(answer.items ?? []).filter(({ status }) => status !== "cancelled"));
    if (items.length >= limit) break;
  }
  return items;
}

async function fetchEvent(ask: Ask, id: string): Promise<Event> {
  return await ask(`event '${id}'`, (calendar, options) =>
    calendar.events.get({ calendarId: CALENDAR, eventId: checkId(id) }, options),
  );
}

/** The list of guests is written as a whole, so it is read first; the etag reveals a change made meanwhile. */
async function patchEvent(
  ask: Ask,
  { id, change, etag }: { id: string; change: EventChange; etag: string },
): Promise<Event> {
  const guests = change.attendees ? ((await fetchEvent(ask, id)).attendees ?? []) : [];
  return await ask(`event '${id}'`, (calendar, options) =>
    calendar.events.patch(
      {
        ...describeWrite(change.notify),
        eventId: checkId(id),
        requestBody: buildBody(change, guests),
      },
      requireUnchanged(options, etag),
    ),
  );
}

async function queryBusy(
  ask: Ask,
  ids: readonly string[],
  { from, to }: TimeRange,
): Promise<Record<string, FreeBusy>> {
  const found: Record<string, FreeBusy> = {};
  for (let first = 0; first < ids.length; first += MOST_CALENDARS) {
    const items = ids.slice(first, first + MOST_CALENDARS).map((id) => ({ id }));
    const requestBody = { timeMin: toIso(from), timeMax: toIso(to), timeZone: "UTC", items };
    const { calendars } = await ask("free and busy times", (calendar, options) =>
      calendar.freebusy.query({ requestBody }, options),
    );
    Object.assign(found, calendars);
  }
  return found;
}

function readBusy(address: string, answer: FreeBusy | undefined): Busy {
  const reason = answer?.errors?.[0]?.reason;
  if (!answer || reason) {
    const unseen = reason === "notFound" || !answer;
    const unknown = unseen ? "Google does not show their calendar to this account" : `Google says: ${reason}`;
    return { address, busy: [], unknown };
  }
  const busy = (answer.busy ?? []).map(({ start, end }) => ({
    from: parseMoment(start),
    to: parseMoment(end),
  }));
  return { address, busy };
}

/** Milliseconds since 1970; raises an error for what is no moment, which must not count as free time. */
function parseMoment(moment: string | null | undefined): number {
  const at = Date.parse(moment ?? "");
  if (Number.isNaN(at)) throw new RangeError("a moment cannot be read");
  return at;
}

/** The request succeeds only if the event is still in the state that was read. */
function requireUnchanged(options: RequestOptions, etag: string): RequestOptions {
  return etag ? { ...options, headers: { "If-Match": etag } } : options;
}

function describeWrite(notify: boolean) {
  return { calendarId: CALENDAR, sendUpdates: notify ? "all" : "none" };
}

function checkId(id: string): string {
  if (/^[\w@.-]{1,1024}$/.test(id)) return id;
  throw new ToolFault("params", `'${id}' is not the id of an event at Google`);
}

/** An event of Google's as the tools know it; `zone` is for events that name none. */
function readEvent(event: Event, zone: string): CalendarEvent {
  const rule = event.recurrence?.find((line) => /^RRULE:/i.test(line))?.replace(/^RRULE:/i, "");
  const { organizer } = event;
  return {
    id: event.id ?? "",
    seriesId: event.recurringEventId || undefined,
    title: event.summary ?? "",
    start: readMomentTime(event.start ?? event.originalStartTime, zone),
    end: readMomentTime(event.end ?? event.originalStartTime, zone),
    attendees: (event.attendees ?? []).filter(({ resource }) => !resource).map(readAttendee),
    visibility: parseVisibility(event.visibility),
    free: event.transparency === "transparent",
    status: parseStatus(event.status),
    etag: event.etag ?? "",
    location: event.location || undefined,
    description: event.description || undefined,
    organizer: organizer?.email ? { address: organizer.email, self: organizer.self ?? false } : undefined,
    recurrence: rule || undefined,
    link: event.htmlLink || undefined,
  };
}

/** The body that makes or changes an event: what is undefined stays as it is, and so do the answers of guests who stay. */
function buildBody(change: EventChange, guests: readonly Guest[] = []): Event {
  const { title: summary, start, end, attendees, location, description, recurrence, visibility } = change;
  return {
    ...{ summary, location, description, visibility },
    start: start && writeMomentTime(start),
    end: end && writeMomentTime(end),
    attendees: attendees?.map((address) => keepGuest(address, guests)),
    recurrence: recurrence ? [`RRULE:${trimRule(recurrence)}`] : recurrence === "" ? [] : undefined,
  };
}

function keepGuest(address: string, guests: readonly Guest[]): Guest {
  return guests.find(({ email }) => email?.toLowerCase() === address.toLowerCase()) ?? { email: address };
}

/** One line, so that a rule cannot contain other properties. */
function trimRule(rule: string): string {
  return rule.replace(/^RRULE:/i, "").replace(/\s+/g, "");
}

function readMomentTime(moment: Moment | undefined, zone: string): EventTime {
  if (moment?.date) return { kind: "day", day: moment.date };
  const at = toIso(parseMoment(moment?.dateTime));
  return { kind: "instant", at, zone: moment?.timeZone ?? zone };
}

/** Null takes away what an event had before its day became a time, or the reverse. */
function writeMomentTime(time: EventTime): Moment {
  return time.kind === "day"
    ? { date: time.day, dateTime: null, timeZone: null }
    : { date: null, dateTime: time.at, timeZone: time.zone };
}

function readAttendee({ email, displayName, responseStatus }: Guest): Attendee {
  return { address: email ?? "", name: displayName || undefined, response: parseResponse(responseStatus) };
}
