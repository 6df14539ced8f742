import { isoWithOffset } from "@retinue/core/text/zone";
import type { Services } from "../service-tools/call-service.ts";
import {
  readClocks,
  readTime,
  readZone,
  showTime,
  startOfDay,
  type TimeRange,
  weekday,
} from "../service-tools/read-time.ts";
import { readTool } from "../service-tools/service-tool.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { cutText, fitItems } from "../service-tools/tool-output.ts";
import { findConflicts } from "./event-data.ts";
import { type EventSpan, mergeSpans, overlaps, readEventSpan, toTimeRange } from "./event-spans.ts";
import { EVENT_PROPERTIES, findHousehold, planAttendees } from "./plan-event.ts";

type AvailabilityInput = {
  datetime?: string;
  start?: string;
  end?: string;
  duration_minutes?: number;
  attendees?: string[];
  timezone?: string;
};
type Person = { readonly who: string; readonly busy: readonly TimeRange[]; readonly unknown?: string };

const HOUR_MINUTES = 60;
const DAYS_AROUND = 7;
const MOST_DAYS = 62;
const DAY_MS = 86_400_000;
const SUGGESTIONS = 3;
const GRID_MS = 30 * 60_000;
const HOUR_MS = 3_600_000;
const FIRST_HOUR = 9;
const LAST_HOUR = 17;
const SATURDAY = 6;

/** What to look for when a time is taken. */
type SlotSearch = {
  readonly within: TimeRange;
  readonly durationMs: number;
  readonly busy: readonly TimeRange[];
  readonly zone: string;
  /** The wanted time; nearer slots come first. */
  readonly near: number;
  readonly now: number;
  readonly count: number;
};

/** The tool `calendar_check_availability`. */
export const checkAvailability = readTool<AvailabilityInput>({
  name: "calendar_check_availability",
  description:
    "Says whether the person, and the attendees if any, are free at a time; use it before calendar_create_event. For a whole day (2026-11-17) available says whether the duration fits into its working hours. conflicts are the person's own events, busy the taken times of everybody, unknown those whose calendars cannot be seen (available does not speak for them), suggestions free times near, on working days from 9 to 17.",
  group: "calendar",
  properties: {
    datetime: EVENT_PROPERTIES.datetime,
    start: { ...EVENT_PROPERTIES.datetime, description: "The same as datetime; give one of them." },
    end: EVENT_PROPERTIES.end,
    duration_minutes: EVENT_PROPERTIES.duration_minutes,
    attendees: {
      ...EVENT_PROPERTIES.attendees,
      description: "Who else must be free: mail addresses, contacts' names or lists' names.",
    },
    timezone: EVENT_PROPERTIES.timezone,
  },
  check: ({ datetime, start }) =>
    (datetime === undefined) === (start === undefined)
      ? "give datetime (or start), the time to look at"
      : null,
  run: async (input, services) => {
    const { zone: own } = services.assistant;
    const zone = readZone(input.timezone, own);
    const { span, durationMs } = wanted(input, zone);
    const range = toTimeRange(span, zone);
    if (range.to - range.from > MOST_DAYS * DAY_MS)
      throw new ToolFault("params", `at most ${MOST_DAYS} days can be looked at; ask for a shorter time`);
    const people = await busyPeople(input.attendees ?? [], range, { services, zone });
    const { conflicts, tainted } = await findConflicts(span, { services, zone });
    const search = { durationMs, busy: people.flatMap(({ busy }) => busy), zone: own };
    const around = { near: range.from, now: services.assistant.now(), count: SUGGESTIONS };
    const isDay = span.start.kind === "day";
    const taken = search.busy.some((busy) => overlaps(busy, range)) || conflicts.length > 0;
    const within = isDay ? findFreeSlots({ ...search, ...around, within: range }) : [];
    const isFree = isDay ? within.length > 0 : !taken;
    const slots = isFree ? within : findFreeSlots({ ...search, ...around, within: window(range, zone) });
    const shown = ({ from, to }: TimeRange) => ({
      start: isoWithOffset(from, zone),
      end: isoWithOffset(to, zone),
    });
    const busy = people.flatMap(({ who, busy: spans }) =>
      spans.filter((each) => overlaps(each, range)).map((each) => ({ who, ...shown(each) })),
    );
    const unknown = people.flatMap(({ who, unknown: reason }) =>
      reason === undefined ? [] : [{ who, reason: cutText(reason, 200) }],
    );
    const data = fitItems(busy, (kept) => ({
      available: isFree,
      start: showTime(span.start, zone),
      end: showTime(span.end, zone),
      timezone: zone,
      conflicts,
      busy: kept,
      ...(unknown.length > 0 && { unknown }),
      suggestions: slots.map(shown),
    }));
    return { data, tainted };
  },
});

function wanted(input: AvailabilityInput, zone: string): { span: EventSpan; durationMs: number } {
  const start = readTime(input.datetime ?? input.start ?? "", "datetime", zone);
  const { end, duration_minutes } = input;
  const isDay = start.kind === "day";
  const span = readEventSpan({ start, end, durationMinutes: isDay ? undefined : duration_minutes }, zone);
  const { from, to } = toTimeRange(span, zone);
  return { span, durationMs: isDay ? (duration_minutes ?? HOUR_MINUTES) * 60_000 : to - from };
}

/** Where suggestions are looked for. */
function window({ from, to }: TimeRange, zone: string): TimeRange {
  return { from: startOfDay(from, zone), to: startOfDay(to, zone, DAYS_AROUND) };
}

async function busyPeople(
  attendees: readonly string[],
  range: TimeRange,
  { services, zone }: { services: Services; zone: string },
): Promise<readonly Person[]> {
  const household = await findHousehold(services);
  const others = await planAttendees(attendees, services, household);
  const { from, to } = window(range, zone);
  const span = { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
  const addresses = [household.self, ...others.map(({ address }) => address)];
  const found = await services.calendar((calendar, signal) => calendar.busy(addresses, span, signal));
  return found.map(({ address, busy, unknown }) => {
    const spans = busy.map((each) => ({ from: Date.parse(each.start), to: Date.parse(each.end) }));
    return { who: address, busy: mergeSpans(spans), ...(unknown !== undefined && { unknown }) };
  });
}

/** Free slots in working hours (9 to 17, Monday to Friday, by the zone's clocks), the nearest chosen, in order of time. */
export function findFreeSlots(search: SlotSearch): readonly TimeRange[] {
  const { within, durationMs, zone, near, now, count } = search;
  const busy = mergeSpans(search.busy);
  const free: TimeRange[] = [];
  for (let day = startOfDay(within.from, zone); day < within.to; day = startOfDay(day, zone, 1)) {
    if (weekday(day, zone) >= SATURDAY) continue;
    for (const from of listGrid(day, zone)) {
      const slot = { from, to: from + durationMs };
      if (from < now || from < within.from || slot.to > within.to) continue;
      if (!endsInHours(slot, day, zone) || busy.some((span) => overlaps(span, slot))) continue;
      free.push(slot);
    }
  }
  return chooseNearest(free, near, count);
}

/** The nearest slots that do not overlap each other. */
function chooseNearest(free: readonly TimeRange[], near: number, count: number): readonly TimeRange[] {
  const chosen: TimeRange[] = [];
  const byDistance = free.toSorted(
    (a, b) => Math.abs(a.from - near) - Math.abs(b.from - near) || a.from - b.from,
  );
  for (const slot of byDistance) {
    if (chosen.length >= count) break;
    if (!chosen.some((other) => overlaps(other, slot))) chosen.push(slot);
  }
  return chosen.toSorted((a, b) => a.from - b.from);
}

/** Half hours of a day's working time; days on which clocks change are longer or shorter before it begins. */
function listGrid(day: number, zone: string): number[] {
  const starts: number[] = [];
  for (let at = day; at < day + 26 * HOUR_MS; at += GRID_MS) {
    const hour = readClocks(at, zone).getUTCHours();
    if (hour >= LAST_HOUR && starts.length > 0) break;
    if (hour >= FIRST_HOUR && hour < LAST_HOUR) starts.push(at);
  }
  return starts;
}

function endsInHours({ to }: TimeRange, day: number, zone: string): boolean {
  const endOfWork = readClocks(day, zone).setUTCHours(LAST_HOUR, 0, 0, 0);
  const end = readClocks(to, zone).getTime();
  return Math.floor(end / DAY_MS) === Math.floor(endOfWork / DAY_MS) && end < endOfWork + 1_000;
}
