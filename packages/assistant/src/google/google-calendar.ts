// A calendar at Google.

import type { calendar_v3 } from "@googleapis/calendar";
import {
  type Attendee,
  type Busy,
  type CalendarEvent,
  type CalendarProvider,
  type CalendarSpan,
  type EventChange,
  type EventTime,
  type NewEvent,
  parseResponse,
  parseStatus,
  parseVisibility,
} from "../calendar/calendar-provider.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { GoogleApi, RequestOptions } from "./google-session.ts";

type Api = GoogleApi<"calendar">;
type Surroundings = { owner(signal: AbortSignal): Promise<string>; readonly zone: string };

const CALENDAR = "primary";
const PAGE = 250;
const MOST_PAGES = 4;
/** Google answers for at most so many calendars at once. */
const MOST_CALENDARS = 50;

/** The owner's main calendar at Google. */
export function createGoogleCalendar(api: Api, { owner, zone }: Surroundings): CalendarProvider {
  const known = (event: calendar_v3.Schema$Event) => readEvent(event, zone);
  return {
    kind: "google",
    refresh: api.refresh,
    async self(signal) {
      const { timeZone } = await api.request("the calendar", signal, (calendar, options) =>
        calendar.events.list({ calendarId: CALENDAR, maxResults: 1, fields: "timeZone" }, options),
      );
      return { address: await owner(signal), zone: timeZone ?? zone };
    },
    async list(span, signal) {
      const events = (await listSpan(api, span, signal)).map(known);
      return { events: events.slice(0, span.limit), total: events.length };
    },
    get: async (id, signal) => known(await fetchEvent(api, id, signal)),
    async create(event, signal) {
      const made = await api.request(`event '${event.id}'`, signal, (calendar, options) =>
        calendar.events.insert(
          {
            calendarId: CALENDAR,
            sendUpdates: sendUpdatesTo(event.notify),
            requestBody: buildEventBody(event),
          },
          options,
        ),
      );
      return known(made);
    },
    update: async (id, change, etag, signal) => known(await patchEvent(api, { id, change, etag }, signal)),
    async remove(id, { etag, notify }, signal) {
      await api.request(`event '${id}'`, signal, (calendar, options) =>
        calendar.events.delete(
          { calendarId: CALENDAR, eventId: checkId(id), sendUpdates: sendUpdatesTo(notify) },
          requireUnchanged(options, etag),
        ),
      );
    },
    async busy(addresses, span, signal) {
      const self = (await owner(signal)).toLowerCase();
      const people = addresses.map((address) => ({
        address,
        id: address.toLowerCase() === self ? CALENDAR : address,
      }));
      const calendars = await queryBusy(api, [...new Set(people.map(({ id }) => id))], span, signal);
      return people.map(({ address, id }) => readBusy(address, calendars[id]));
    },
  };
}

/** A span's events; more than the limit are read as far as one page goes, so that most totals are exact. */
async function listSpan(
  api: Api,
  span: CalendarSpan & { readonly query?: string; readonly limit: number },
  signal: AbortSignal,
): Promise<calendar_v3.Schema$Event[]> {
  const items: calendar_v3.Schema$Event[] = [];
  const asked = {
    calendarId: CALENDAR,
    singleEvents: true,
    orderBy: "startTime",
    timeMin: span.start,
    timeMax: span.end,
    maxResults: PAGE,
    ...(span.query ? { q: span.query } : {}),
  };
  let pageToken: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await api.request("the calendar", signal, (calendar, options) =>
      calendar.events.list({ ...asked, ...(pageToken ? { pageToken } : {}) }, options),
    );
    items.push(...(answer.items ?? []).filter(({ status }) => status !== "cancelled"));
    pageToken = answer.nextPageToken ?? undefined;
    if (!pageToken || items.length >= span.limit) break;
  }
  return items;
}

async function fetchEvent(api: Api, id: string, signal: AbortSignal): Promise<calendar_v3.Schema$Event> {
  return await api.request(`event '${id}'`, signal, (calendar, options) =>
    calendar.events.get({ calendarId: CALENDAR, eventId: checkId(id) }, options),
  );
}

/** The list of guests is written as a whole, so it is read first; the etag reveals a change made meanwhile. */
async function patchEvent(
  api: Api,
  { id, change, etag }: { id: string; change: EventChange; etag: string },
  signal: AbortSignal,
): Promise<calendar_v3.Schema$Event> {
  const guests = change.attendees ? ((await fetchEvent(api, id, signal)).attendees ?? []) : [];
  return await api.request(`event '${id}'`, signal, (calendar, options) =>
    calendar.events.patch(
      {
        calendarId: CALENDAR,
        eventId: checkId(id),
        sendUpdates: sendUpdatesTo(change.notify),
        requestBody: buildChangeBody(change, guests),
      },
      requireUnchanged(options, etag),
    ),
  );
}

async function queryBusy(
  api: Api,
  ids: readonly string[],
  { start, end }: CalendarSpan,
  signal: AbortSignal,
): Promise<Record<string, calendar_v3.Schema$FreeBusyCalendar>> {
  const found: Record<string, calendar_v3.Schema$FreeBusyCalendar> = {};
  for (let first = 0; first < ids.length; first += MOST_CALENDARS) {
    const items = ids.slice(first, first + MOST_CALENDARS).map((id) => ({ id }));
    const requestBody = { timeMin: start, timeMax: end, timeZone: "UTC", items };
    const { calendars } = await api.request("free and busy times", signal, (calendar, options) =>
      calendar.freebusy.query({ requestBody }, options),
    );
    Object.assign(found, calendars);
  }
  return found;
}

function readBusy(address: string, answer: calendar_v3.Schema$FreeBusyCalendar | undefined): Busy {
  const reason = answer?.errors?.[0]?.reason;
  if (!answer || reason) {
    const unseen = reason === "notFound" || !answer;
    const unknown = unseen ? "Google does not show their calendar to this account" : `Google says: ${reason}`;
    return { address, busy: [], unknown };
  }
  const busy = (answer.busy ?? []).map(({ start, end }) => ({ start: toUtc(start), end: toUtc(end) }));
  return { address, busy };
}

function toUtc(moment: string | null | undefined): string {
  return new Date(moment ?? Number.NaN).toISOString();
}

/** Only if the event is still in the state that was read. */
function requireUnchanged(options: RequestOptions, etag: string): RequestOptions {
  return etag ? { ...options, headers: { "If-Match": etag } } : options;
}

function sendUpdatesTo(notify: boolean): "all" | "none" {
  return notify ? "all" : "none";
}

function checkId(id: string): string {
  if (/^[\w@.-]{1,1024}$/.test(id)) return id;
  throw new ToolFault("params", `'${id}' is no id of an event at Google`);
}

type Event = calendar_v3.Schema$Event;
type Moment = calendar_v3.Schema$EventDateTime;
type Guest = calendar_v3.Schema$EventAttendee;

/** An event of Google's as the tools know it; `zone` is for events that name none. */
function readEvent(event: Event, zone: string): CalendarEvent {
  const rule = event.recurrence?.find((line) => /^RRULE:/i.test(line))?.replace(/^RRULE:/i, "");
  const { location, description, recurringEventId, htmlLink, organizer } = event;
  return {
    id: event.id ?? "",
    title: event.summary ?? "",
    start: readMomentTime(event.start ?? event.originalStartTime, zone),
    end: readMomentTime(event.end ?? event.originalStartTime, zone),
    attendees: (event.attendees ?? []).filter(({ resource }) => !resource).map(readAttendee),
    visibility: parseVisibility(event.visibility),
    free: event.transparency === "transparent",
    status: parseStatus(event.status),
    etag: event.etag ?? "",
    ...(recurringEventId ? { seriesId: recurringEventId } : {}),
    ...(location ? { location } : {}),
    ...(description ? { description } : {}),
    ...(organizer?.email ? { organizer: { address: organizer.email, self: organizer.self ?? false } } : {}),
    ...(rule ? { recurrence: rule } : {}),
    ...(htmlLink ? { link: htmlLink } : {}),
  };
}

/** The body that makes an event. */
function buildEventBody(event: NewEvent): Event {
  return {
    id: event.id,
    summary: event.title,
    start: writeMomentTime(event.start),
    end: writeMomentTime(event.end),
    attendees: event.attendees.map((email) => ({ email })),
    ...(event.location ? { location: event.location } : {}),
    ...(event.description ? { description: event.description } : {}),
    ...(event.recurrence ? { recurrence: [`RRULE:${trimRule(event.recurrence)}`] } : {}),
    ...(event.visibility ? { visibility: event.visibility } : {}),
  };
}

/** The body that changes an event; guests who stay keep their answers. */
function buildChangeBody(change: EventChange, guests: readonly Guest[]): Event {
  const { title, start, end, attendees, location, description, recurrence, visibility } = change;
  return {
    ...(title === undefined ? {} : { summary: title }),
    ...(start ? { start: { dateTime: null, date: null, timeZone: null, ...writeMomentTime(start) } } : {}),
    ...(end ? { end: { dateTime: null, date: null, timeZone: null, ...writeMomentTime(end) } } : {}),
    ...(attendees ? { attendees: attendees.map((address) => keepGuest(address, guests)) } : {}),
    ...(location === undefined ? {} : { location }),
    ...(description === undefined ? {} : { description }),
    ...(recurrence === undefined ? {} : { recurrence: recurrence ? [`RRULE:${trimRule(recurrence)}`] : [] }),
    ...(visibility === undefined ? {} : { visibility }),
  };
}

function keepGuest(address: string, guests: readonly Guest[]): Guest {
  return guests.find(({ email }) => email?.toLowerCase() === address.toLowerCase()) ?? { email: address };
}

/** One line, so that a rule cannot bring other properties along. */
function trimRule(rule: string): string {
  return rule.replace(/^RRULE:/i, "").replace(/\s+/g, "");
}

function readMomentTime(moment: Moment | undefined, zone: string): EventTime {
  if (moment?.date) return { kind: "day", day: moment.date };
  const at = new Date(moment?.dateTime ?? Number.NaN).toISOString();
  return { kind: "instant", at, zone: moment?.timeZone ?? zone };
}

function writeMomentTime(time: EventTime): Moment {
  return time.kind === "day" ? { date: time.day } : { dateTime: time.at, timeZone: time.zone };
}

function readAttendee({ email, displayName, responseStatus }: Guest): Attendee {
  return {
    address: email ?? "",
    ...(displayName ? { name: displayName } : {}),
    response: parseResponse(responseStatus),
  };
}
