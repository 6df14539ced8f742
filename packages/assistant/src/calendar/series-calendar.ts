// A calendar whose events are kept as iCalendar: in the local store, or on a CalDAV server.

import { listBusyRanges } from "../service-tools/times.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { Busy, CalendarEvent, CalendarProvider, TimeRange } from "./calendar-provider.ts";
import { changeSeries, removeOccurrence } from "./ical/change-event.ts";
import { findText } from "./ical/jcal.ts";
import { compareStarts, findOccurrence, listOccurrences, mentionsWords, splitId } from "./ical/read-event.ts";
import type { Series } from "./ical/series.ts";
import { createSeries } from "./ical/write-event.ts";

/** An event with its occurrences as it is kept, and the state that names. */
export type StoredSeries = { readonly series: Series; readonly etag: string };

/** Where the events of a calendar are kept. */
type SeriesStore<Stored extends StoredSeries> = {
  readonly kind: CalendarProvider["kind"];
  owner(): { readonly address: string; readonly name?: string; readonly zone: string };
  /** Milliseconds since 1970. */
  now(): number;
  /** The owner's events that may touch a range, or another person's; null if theirs cannot be seen. */
  findNear(range: TimeRange, person: string | null, signal: AbortSignal): AsyncIterable<Stored> | null;
  /** Why other people's time is unknown. */
  readonly unseen: string;
  findByUid(uid: string, signal: AbortSignal): AsyncIterable<Stored>;
  /** `params` if there is an event of this UID already. */
  add(series: Series, signal: AbortSignal): Promise<void>;
  /** Replaces an event that is still in the state of the etag, or removes it if it is to become null. */
  replace(stored: Stored, etag: string, series: Series | null, signal: AbortSignal): Promise<void>;
};

/** The most occurrences that one list has. */
const MOST_OCCURRENCES = 10_000;

/** The fault for an event that is in another state than the caller knows. */
export function refuseChangedEvent(): ToolFault {
  return new ToolFault(
    "params",
    "the event has changed since it was read; read it again before you change it",
  );
}

/** The calendar over such a store. */
export function createSeriesCalendar<Stored extends StoredSeries>(
  store: SeriesStore<Stored>,
): CalendarProvider {
  async function listEvents(
    range: TimeRange,
    person: string | null,
    signal: AbortSignal,
  ): Promise<CalendarEvent[] | null> {
    if (!(range.from <= range.to)) throw new ToolFault("params", "the span must end after it starts");
    const { zone, address } = store.owner();
    const events: CalendarEvent[] = [];
    const near = store.findNear(range, person, signal);
    if (!near) return null;
    for await (const { series, etag } of near) {
      const found = listOccurrences(series, range, { zone, owner: person ?? address, etag });
      // What is left out would count as free time.
      if (found.cut) throw refuseTooMany(`the event ${nameSeries(series)} recurs too often to be listed`);
      events.push(...found.events);
      if (events.length > MOST_OCCURRENCES) throw refuseTooMany(`more than ${MOST_OCCURRENCES} events`);
    }
    return events.sort(compareStarts(zone));
  }

  async function find(id: string, signal: AbortSignal) {
    const { zone, address } = store.owner();
    const { uid, key } = splitId(id);
    // A UID may itself end like the key of an occurrence.
    for (const wanted of new Set([id, uid]))
      for await (const stored of store.findByUid(wanted, signal)) {
        const { series, etag } = stored;
        const event = findOccurrence(series, id, { zone, owner: address, etag });
        if (event) return { stored, event, key: wanted === id ? undefined : key };
      }
    throw new ToolFault(
      "params",
      `there is no event ${JSON.stringify(id.slice(0, 200))} in this calendar; a list gives the ids`,
    );
  }

  function describeWriter() {
    const { address: owner, name: ownerName, zone } = store.owner();
    return { owner, ownerName, zone, now: store.now() };
  }

  async function findBusy(address: string, range: TimeRange, signal: AbortSignal): Promise<Busy> {
    const { address: own, zone } = store.owner();
    const owner = address.toLowerCase();
    const events = await listEvents(range, owner === own.toLowerCase() ? null : owner, signal);
    if (!events) return { address, busy: [], unknown: store.unseen };
    return { address, busy: listBusyRanges(events, range, { owner, zone }) };
  }

  return {
    kind: store.kind,
    async self() {
      const { address, zone } = store.owner();
      return { address, zone };
    },
    async list({ query, limit, ...range }, signal) {
      const events = (await listEvents(range, null, signal)) ?? [];
      const fitting = events.filter((event) => mentionsWords(event, query));
      return { events: fitting.slice(0, limit), total: fitting.length };
    },
    get: async (id, signal) => (await find(id, signal)).event,
    async create(event, signal) {
      await store.add(createSeries(event, describeWriter()), signal);
      return (await find(event.id, signal)).event;
    },
    async update(id, change, etag, signal) {
      const { stored, key } = await find(id, signal);
      await store.replace(stored, etag, changeSeries(stored.series, key, change, describeWriter()), signal);
      return (await find(id, signal)).event;
    },
    async remove(id, { etag }, signal) {
      const { stored, key } = await find(id, signal);
      const rest = key === undefined ? null : removeOccurrence(stored.series, key, store.owner().zone);
      const isLeft = rest && (rest.master || rest.overrides.length > 0);
      await store.replace(stored, etag, isLeft ? rest : null, signal);
    },
    async busy(addresses, range, signal) {
      const all: Busy[] = [];
      for (const address of addresses) all.push(await findBusy(address, range, signal));
      return all;
    },
  };
}

function nameSeries({ uid, master }: Series): string {
  return JSON.stringify(((master && findText(master, "summary")) ?? uid).slice(0, 100));
}

function refuseTooMany(what: string): ToolFault {
  return new ToolFault("params", `${what}; ask for a shorter span`);
}
