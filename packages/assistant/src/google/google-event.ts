import type { calendar_v3 } from "@googleapis/calendar";
import {
  type Attendee,
  type CalendarEvent,
  type EventChange,
  type EventTime,
  type NewEvent,
  parseResponse,
  parseStatus,
  parseVisibility,
} from "../calendar/calendar-provider.ts";

type Event = calendar_v3.Schema$Event;
type Moment = calendar_v3.Schema$EventDateTime;
type Guest = calendar_v3.Schema$EventAttendee;

/** An event of Google's as the tools know it; `zone` is for events that name none. */
export function readEvent(event: Event, zone: string): CalendarEvent {
  const rule = event.recurrence?.find((line) => /^RRULE:/i.test(line))?.replace(/^RRULE:/i, "");
  const { location, description, recurringEventId, htmlLink, organizer } = event;
  return {
    id: event.id ?? "",
    title: event.summary ?? "",
    start: readTime(event.start ?? event.originalStartTime, zone),
    end: readTime(event.end ?? event.originalStartTime, zone),
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
export function eventBody(event: NewEvent): Event {
  return {
    id: event.id,
    summary: event.title,
    start: writeTime(event.start),
    end: writeTime(event.end),
    attendees: event.attendees.map((email) => ({ email })),
    ...(event.location ? { location: event.location } : {}),
    ...(event.description ? { description: event.description } : {}),
    ...(event.recurrence ? { recurrence: [`RRULE:${bareRule(event.recurrence)}`] } : {}),
    ...(event.visibility ? { visibility: event.visibility } : {}),
  };
}

/** The body that changes an event; guests who stay keep their answers. */
export function changeBody(change: EventChange, guests: readonly Guest[]): Event {
  const { title, start, end, attendees, location, description, recurrence, visibility } = change;
  return {
    ...(title === undefined ? {} : { summary: title }),
    ...(start ? { start: { dateTime: null, date: null, timeZone: null, ...writeTime(start) } } : {}),
    ...(end ? { end: { dateTime: null, date: null, timeZone: null, ...writeTime(end) } } : {}),
    ...(attendees ? { attendees: attendees.map((address) => keepGuest(address, guests)) } : {}),
    ...(location === undefined ? {} : { location }),
    ...(description === undefined ? {} : { description }),
    ...(recurrence === undefined ? {} : { recurrence: recurrence ? [`RRULE:${bareRule(recurrence)}`] : [] }),
    ...(visibility === undefined ? {} : { visibility }),
  };
}

function keepGuest(address: string, guests: readonly Guest[]): Guest {
  return guests.find(({ email }) => email?.toLowerCase() === address.toLowerCase()) ?? { email: address };
}

/** One line, so that a rule cannot bring other properties along. */
function bareRule(rule: string): string {
  return rule.replace(/^RRULE:/i, "").replace(/\s+/g, "");
}

function readTime(moment: Moment | undefined, zone: string): EventTime {
  if (moment?.date) return { kind: "day", day: moment.date };
  const at = new Date(moment?.dateTime ?? Number.NaN).toISOString();
  return { kind: "instant", at, zone: moment?.timeZone ?? zone };
}

function writeTime(time: EventTime): Moment {
  return time.kind === "day" ? { date: time.day } : { dateTime: time.at, timeZone: time.zone };
}

function readAttendee({ email, displayName, responseStatus }: Guest): Attendee {
  return {
    address: email ?? "",
    ...(displayName ? { name: displayName } : {}),
    response: parseResponse(responseStatus),
  };
}
