import type { CalendarEvent, CalendarProvider, Span } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { busySpans, byStart } from "../ical/busy.ts";
import { changeSeries, withoutOccurrence } from "../ical/change-event.ts";
import type { Series } from "../ical/parse-calendar.ts";
import { occurrenceEvent, occurrencesIn, splitId } from "../ical/read-event.ts";
import { newSeries } from "../ical/write-event.ts";
import { type CalendarObject, objectsIn, objectsOf } from "./calendar-objects.ts";
import { findCalendars } from "./dav-collections.ts";
import { davCall, keptOnce } from "./dav-fault.ts";
import type { DavServer } from "./dav-fetch.ts";
import { createFile, deleteFile, replaceFile } from "./write-object.ts";

/** Whose calendar it is. */
export type DavOwner = DavServer & { readonly address: string; readonly zone: string; now?(): number };

type Found = { readonly object: CalendarObject; readonly series: Series; readonly event: CalendarEvent };

const NOT_SEEN = "this calendar account shows only its owner's own time";

/** A calendar on a CalDAV server: reads all of the account's calendars, makes events in the first it may write. */
export function createDavCalendar(owner: DavOwner): CalendarProvider {
  const calendars = keptOnce((signal) => findCalendars(owner, signal));
  const reading = ({ etag }: { etag: string }) => ({ zone: owner.zone, owner: owner.address, etag });
  const writing = () => ({ owner: owner.address, now: owner.now?.() ?? Date.now(), zone: owner.zone });

  async function find(id: string, signal: AbortSignal): Promise<Found> {
    const { uid, key } = splitId(id);
    for (const wanted of key === undefined ? [id] : [id, uid])
      for (const calendar of await calendars(signal))
        for (const object of await objectsOf(owner, calendar.url, wanted, signal)) {
          const series = object.series.find((one) => one.uid === wanted);
          const event = series && occurrenceEvent(series, id, reading(object));
          if (series && event) return { object, series, event };
        }
    throw new ToolFault("params", `there is no event '${id.slice(0, 200)}' in this calendar`);
  }

  async function eventsIn(span: Span, signal: AbortSignal): Promise<CalendarEvent[]> {
    const events: CalendarEvent[] = [];
    for (const calendar of await calendars(signal))
      for (const object of await objectsIn(owner, calendar.url, span, signal))
        for (const series of object.series)
          events.push(...occurrencesIn(series, span, reading(object)).events);
    return events.sort(byStart(owner.zone));
  }

  /** Changes the events of one file, if it is still in the state the caller knows. */
  async function rewrite(found: Found, etag: string, series: Series, signal: AbortSignal): Promise<void> {
    const all = found.object.series.map((one) => (one === found.series ? series : one));
    await replaceFile(owner, { url: found.object.url, etag, series: all }, signal);
  }

  return {
    kind: "caldav",
    self: async () => ({ address: owner.address, zone: owner.zone }),
    list: ({ query, limit, ...span }, signal) =>
      davCall(signal, async () => {
        const events = (await eventsIn(span, signal)).filter((event) => !query || mentions(event, query));
        return { events: events.slice(0, limit), total: events.length };
      }),
    get: (id, signal) => davCall(signal, async () => (await find(id, signal)).event),
    create: (event, signal) =>
      davCall(signal, async () => {
        const [calendar] = await calendars(signal);
        if (!calendar?.isWritable)
          throw new ToolFault("permission", "there is no calendar in this account that may be written");
        await createFile(
          owner,
          { calendar: calendar.url, id: event.id, series: newSeries(event, writing()) },
          signal,
        );
        return (await find(event.id, signal)).event;
      }),
    update: (id, change, etag, signal) =>
      davCall(signal, async () => {
        const found = await find(id, signal);
        const key = found.event.id === found.series.uid ? undefined : splitId(id).key;
        await rewrite(found, etag, changeSeries(found.series, key, change, writing()), signal);
        return (await find(id, signal)).event;
      }),
    remove: (id, { etag }, signal) =>
      davCall(signal, async () => {
        const found = await find(id, signal);
        const key = found.event.id === found.series.uid ? undefined : splitId(id).key;
        if (key !== undefined)
          return rewrite(found, etag, withoutOccurrence(found.series, key, owner.zone), signal);
        const others = found.object.series.filter((one) => one !== found.series);
        if (others.length === 0) return deleteFile(owner, { url: found.object.url, etag }, signal);
        return replaceFile(owner, { url: found.object.url, etag, series: others }, signal);
      }),
    busy: (addresses, span, signal) =>
      davCall(signal, async () => {
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

function mentions(event: CalendarEvent, query: string): boolean {
  const people = event.attendees.flatMap(({ address, name }) => [address, name ?? ""]);
  const text = [event.title, event.location ?? "", event.description ?? "", ...people]
    .join("\n")
    .toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
