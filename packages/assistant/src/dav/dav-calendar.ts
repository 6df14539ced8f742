import type { CalendarEvent, CalendarProvider, CalendarSpan } from "../calendar/calendar-provider.ts";
import { changeSeries, removeOccurrence } from "../calendar/ical/change-event.ts";
import type { Series } from "../calendar/ical/parse-calendar.ts";
import {
  compareStarts,
  mentionsWords,
  occurrenceEvent,
  occurrencesIn,
  splitId,
} from "../calendar/ical/read-event.ts";
import { newSeries } from "../calendar/ical/write-event.ts";
import { busySpans } from "../service-tools/times.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { type DavServer, rememberFound, runDavCall } from "./dav-fetch.ts";
import {
  addCalendarObject,
  type CalendarObject,
  deleteCalendarObject,
  findCalendars,
  findObjects,
  listObjects,
  replaceCalendarObject,
} from "./dav-objects.ts";

/** Whose calendar it is. */
type DavOwner = DavServer & { readonly address: string; readonly zone: string; now?(): number };
type Found = { readonly object: CalendarObject; readonly series: Series; readonly event: CalendarEvent };

const NOT_SEEN = "this calendar account shows only its owner's own time";

/** A calendar on a CalDAV server: reads all of the account's calendars, makes events in the first it may write. */
export function createDavCalendar(owner: DavOwner): CalendarProvider {
  const calendars = rememberFound((signal) => findCalendars(owner, signal));
  const reading = ({ etag }: { etag: string }) => ({ zone: owner.zone, owner: owner.address, etag });
  const writing = () => ({ owner: owner.address, now: owner.now?.() ?? Date.now(), zone: owner.zone });

  async function find(id: string, signal: AbortSignal): Promise<Found> {
    const { uid, key } = splitId(id);
    for (const wanted of key === undefined ? [id] : [id, uid])
      for (const calendar of await calendars(signal))
        for (const object of await findObjects(owner, calendar.url, wanted, signal)) {
          const series = object.series.find((one) => one.uid === wanted);
          const event = series && occurrenceEvent(series, id, reading(object));
          if (series && event) return { object, series, event };
        }
    throw new ToolFault("params", `there is no event '${id.slice(0, 200)}' in this calendar`);
  }

  async function eventsIn(span: CalendarSpan, signal: AbortSignal): Promise<CalendarEvent[]> {
    const events: CalendarEvent[] = [];
    for (const calendar of await calendars(signal))
      for (const object of await listObjects(owner, calendar.url, span, signal))
        for (const series of object.series)
          events.push(...occurrencesIn(series, span, reading(object)).events);
    return events.sort(compareStarts(owner.zone));
  }

  /** Changes the events of one file, if it is still in the state the caller knows. */
  async function rewrite(found: Found, etag: string, series: Series, signal: AbortSignal): Promise<void> {
    const all = found.object.series.map((one) => (one === found.series ? series : one));
    await replaceCalendarObject(owner, { url: found.object.url, etag, series: all }, signal);
  }

  return {
    kind: "caldav",
    self: async () => ({ address: owner.address, zone: owner.zone }),
    list: ({ query = "", limit, ...span }, signal) =>
      runDavCall(signal, async () => {
        const events = (await eventsIn(span, signal)).filter((event) => mentionsWords(event, query));
        return { events: events.slice(0, limit), total: events.length };
      }),
    get: (id, signal) => runDavCall(signal, async () => (await find(id, signal)).event),
    create: (event, signal) =>
      runDavCall(signal, async () => {
        const [calendar] = await calendars(signal);
        if (!calendar?.isWritable)
          throw new ToolFault("permission", "there is no calendar in this account that may be written");
        await addCalendarObject(
          owner,
          { calendar: calendar.url, id: event.id, series: newSeries(event, writing()) },
          signal,
        );
        return (await find(event.id, signal)).event;
      }),
    update: (id, change, etag, signal) =>
      runDavCall(signal, async () => {
        const found = await find(id, signal);
        const key = found.event.id === found.series.uid ? undefined : splitId(id).key;
        await rewrite(found, etag, changeSeries(found.series, key, change, writing()), signal);
        return (await find(id, signal)).event;
      }),
    remove: (id, { etag }, signal) =>
      runDavCall(signal, async () => {
        const found = await find(id, signal);
        const key = found.event.id === found.series.uid ? undefined : splitId(id).key;
        if (key !== undefined)
          return rewrite(found, etag, removeOccurrence(found.series, key, owner.zone), signal);
        const others = found.object.series.filter((one) => one !== found.series);
        if (others.length === 0) return deleteCalendarObject(owner, { url: found.object.url, etag }, signal);
        return replaceCalendarObject(owner, { url: found.object.url, etag, series: others }, signal);
      }),
    busy: (addresses, span, signal) =>
      runDavCall(signal, async () => {
        const self = owner.address.toLowerCase();
        const isAsked = addresses.some((address) => address.toLowerCase() === self);
        const own = isAsked
          ? busySpans(await eventsIn(span, signal), span, { owner: self, zone: owner.zone })
          : [];
        return addresses.map((address) =>
          address.toLowerCase() === self ? { address, busy: own } : { address, busy: [], unknown: NOT_SEEN },
        );
      }),
  };
}
