import { showAddress } from "../recipients/parse-address.ts";
import type { Services } from "../service-tools/call-service.ts";
import { showTime } from "../service-tools/read-time.ts";
import { cutText } from "../service-tools/tool-output.ts";
import type { CalendarEvent, EventTime } from "./calendar-provider.ts";
import { blocks, type EventSpan, overlaps, toTimeRange } from "./event-spans.ts";

/** Events of the owner's that take the same time. */
export type Conflicts = {
  readonly conflicts: readonly { title: string; start: string; end: string }[];
  /** Some were made by others, so that their titles are others' words. */
  readonly tainted: boolean;
};

const MAX_TITLE = 300;
const MAX_LISTED = 50;

/** The fields that every output about one event has. */
export function describeEvent(event: CalendarEvent, zone: string) {
  return {
    event_id: event.id,
    title: cutText(event.title, MAX_TITLE),
    datetime: showTime(event.start, zone),
    end: showTime(event.end, zone),
    timezone: zone,
    attendees: event.attendees.slice(0, MAX_LISTED).map(({ address }) => address),
  };
}

/** One event in a list. */
export function describeListedEvent(event: CalendarEvent, zone: string) {
  const { event_id, title, datetime, end } = describeEvent(event, zone);
  return {
    event_id,
    title,
    datetime,
    end,
    ...(event.location && { location: cutText(event.location, MAX_TITLE) }),
    attendees: event.attendees.slice(0, MAX_LISTED).map(showAddress),
    ...(event.organizer && { organizer: event.organizer.address }),
    recurring: event.seriesId !== undefined || event.recurrence !== undefined,
  };
}

/** Whether an event's words may be somebody else's. */
export function isForeign({ organizer, attendees }: CalendarEvent): boolean {
  return organizer ? !organizer.self : attendees.length > 0;
}

/** What else the owner has at that time. */
export async function findConflicts(
  span: EventSpan,
  { services, zone, except }: { services: Services; zone: string; except?: string },
): Promise<Conflicts> {
  const wanted = toTimeRange(span, zone);
  const { address } = await services.calendar((calendar, signal) => calendar.self(signal));
  const { events } = await services.calendar((calendar, signal) =>
    calendar.list({ start: iso(wanted.from), end: iso(wanted.to), limit: MAX_LISTED }, signal),
  );
  const taken = events.filter(
    (event) =>
      event.id !== except &&
      (except === undefined || event.seriesId !== except) &&
      blocks(event, address) &&
      // A whole day is one of the owner's, in whatever zone the question is put.
      overlaps(toTimeRange(event, services.assistant.zone), wanted),
  );
  const shown = (time: EventTime) => showTime(time, zone);
  return {
    conflicts: taken.map(({ title, start, end }) => ({
      title: cutText(title, MAX_TITLE),
      start: shown(start),
      end: shown(end),
    })),
    tainted: taken.some(isForeign),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
