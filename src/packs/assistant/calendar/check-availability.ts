import { isoWithOffset } from "../../../text/zone.ts";
import type { Tool } from "../../../tools/tool.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { readTime, readZone, showTime } from "../time/read-time.ts";
import type { Range } from "../time/time-range.ts";
import { startOfDay } from "../time/zone-time.ts";
import { readTool } from "../tool/service-tool.ts";
import type { Desk, Services } from "../tool/services.ts";
import { cutText, fitItems } from "../tool/tool-output.ts";
import { freeSlots, mergeSpans, overlaps } from "./busy-spans.ts";
import { conflictsWith } from "./event-data.ts";
import { type EventSpan, rangeOf, readSpan } from "./event-span.ts";
import { EVENT_PROPERTIES, householdOf, planAttendees } from "./plan-event.ts";

type AvailabilityInput = {
  datetime?: string;
  start?: string;
  end?: string;
  duration_minutes?: number;
  attendees?: string[];
  timezone?: string;
};
type Person = { readonly who: string; readonly busy: readonly Range[]; readonly unknown?: string };

const HOUR_MINUTES = 60;
const DAYS_AROUND = 7;
const MOST_DAYS = 62;
const DAY_MS = 86_400_000;
const SUGGESTIONS = 3;

/** The tool `calendar_check_availability`. */
export function checkAvailability(desk: Desk): Tool<AvailabilityInput> {
  return readTool<AvailabilityInput>(desk, {
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
      const range = rangeOf(span, zone);
      if (range.to - range.from > MOST_DAYS * DAY_MS)
        throw new ToolFault("params", `at most ${MOST_DAYS} days can be looked at; ask for a shorter time`);
      const people = await busyPeople(input.attendees ?? [], range, { services, zone });
      const { conflicts, tainted } = await conflictsWith(span, { services, zone });
      const search = { durationMs, busy: people.flatMap(({ busy }) => busy), zone: own };
      const around = { near: range.from, now: services.assistant.now(), count: SUGGESTIONS };
      const isDay = span.start.kind === "day";
      const taken = search.busy.some((busy) => overlaps(busy, range)) || conflicts.length > 0;
      const within = isDay ? freeSlots({ ...search, ...around, within: range }) : [];
      const isFree = isDay ? within.length > 0 : !taken;
      const slots = isFree ? within : freeSlots({ ...search, ...around, within: window(range, zone) });
      const shown = ({ from, to }: Range) => ({
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
}

function wanted(input: AvailabilityInput, zone: string): { span: EventSpan; durationMs: number } {
  const start = readTime(input.datetime ?? input.start ?? "", "datetime", zone);
  const { end, duration_minutes } = input;
  const isDay = start.kind === "day";
  const span = readSpan({ start, end, durationMinutes: isDay ? undefined : duration_minutes }, zone);
  const { from, to } = rangeOf(span, zone);
  return { span, durationMs: isDay ? (duration_minutes ?? HOUR_MINUTES) * 60_000 : to - from };
}

/** Where suggestions are looked for. */
function window({ from, to }: Range, zone: string): Range {
  return { from: startOfDay(from, zone), to: startOfDay(to, zone, DAYS_AROUND) };
}

async function busyPeople(
  attendees: readonly string[],
  range: Range,
  { services, zone }: { services: Services; zone: string },
): Promise<readonly Person[]> {
  const household = await householdOf(services);
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
