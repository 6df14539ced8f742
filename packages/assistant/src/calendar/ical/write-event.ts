// New events, and the parts of events, as iCalendar.

import { instantToWall, isZone, wallToInstant } from "@retinue/core/text/zone";
import { findInstant } from "../../service-tools/times.ts";
import { ToolFault } from "../../service-tools/tool-fault.ts";
import type { EventTime, NewEvent } from "../calendar-provider.ts";
import { type Component, cleanLine, cleanValue, findProperties, findText, type Property } from "./jcal.ts";
import { readMailto } from "./read-event.ts";
import { parseRecurrence, splitRule } from "./recurrence.ts";
import type { Series } from "./series.ts";
import { formatWallDay, formatWallTime, parseWall, writeZone } from "./zone-clock.ts";

const DAY_MS = 86_400_000;

/** Who writes an event, and when. */
export type Writing = {
  readonly owner: string;
  readonly ownerName?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** A new event whose UID is its id. Raises `params` for times, zones and rules that cannot be written. */
export function createSeries(event: NewEvent, writing: Writing): Series {
  checkTimes(event.start, event.end);
  const stamp = `${formatWallTime(writing.now)}Z`;
  const master: Component = [
    "vevent",
    [
      ["uid", {}, "text", cleanLine(event.id)],
      ["dtstamp", {}, "date-time", stamp],
      ["created", {}, "date-time", stamp],
      ["sequence", {}, "integer", 0],
      buildTimeProperty("dtstart", event.start),
      buildTimeProperty("dtend", event.end),
      ...(event.recurrence ? [buildRuleProperty(event.recurrence, event.start)] : []),
      ...buildTextProperties({
        summary: event.title,
        location: event.location,
        description: event.description,
      }),
      ...buildVisibility(event.visibility),
      ...buildPeople(event.attendees, { notify: event.notify, writing }),
    ],
    [],
  ];
  return { uid: event.id, master, overrides: [], zones: addZones([], [event.start, event.end]) };
}

/** An event that ends before it starts, or mixes days with times, is refused. */
export function checkTimes(start: EventTime, end: EventTime): void {
  if (start.kind !== end.kind)
    throw new ToolFault("params", "an event has either days or times for its start and end, not one of each");
  const [from, to] = [findInstant(start, "UTC"), findInstant(end, "UTC")];
  if (!(start.kind === "day" ? to > from : to >= from))
    throw new ToolFault("params", "the event would end before it starts");
}

/** The zones that a calendar has, and those that these times need as well. */
export function addZones(zones: readonly Component[], times: readonly EventTime[]): Component[] {
  const all = [...zones];
  for (const time of times) {
    if (time.kind === "day" || time.zone === "UTC") continue;
    if (all.some((zone) => findText(zone, "tzid") === time.zone)) continue;
    all.push(writeZone(time.zone, new Date(time.at).getUTCFullYear()));
  }
  return all;
}

/** A time of an event as a property. */
export function buildTimeProperty(name: string, time: EventTime): Property {
  if (time.kind === "day") {
    if (!parseWall(time.day)?.isDay)
      throw new ToolFault("params", `'${time.day}' is not a day such as 2026-11-17`);
    return [name, {}, "date", time.day];
  }
  const instant = Date.parse(time.at);
  if (Number.isNaN(instant)) throw new ToolFault("params", `'${time.at}' is not a time`);
  if (!isZone(time.zone))
    throw new ToolFault("params", `'${time.zone}' is not a time zone such as Europe/Berlin`);
  const wall = instantToWall(time.zone, instant);
  // An hour that the clocks show twice is meant the first time; the second can only be said in UTC.
  if (time.zone === "UTC" || wallToInstant(time.zone, wall) !== instant)
    return [name, {}, "date-time", `${formatWallTime(instant)}Z`];
  return [name, { tzid: time.zone }, "date-time", formatWallTime(wall)];
}

/** Texts as properties; an empty one is left out, so that it removes what was there. */
export function buildTextProperties(texts: Readonly<Record<string, string | undefined>>): Property[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    text ? [[name, {}, "text", cleanValue(text)] satisfies Property] : [],
  );
}

/** A visibility as a property; none for the calendar's default. */
export function buildVisibility(visibility: NewEvent["visibility"]): Property[] {
  return visibility === "private" || visibility === "public"
    ? [["class", {}, "text", visibility.toUpperCase()]]
    : [];
}

/** A checked recurrence as a property; its UNTIL is written as the standard wants it for this start. */
export function buildRuleProperty(text: string, start: EventTime): Property {
  const rule = parseRecurrence(text);
  const value: Record<string, unknown> = {};
  for (const [key, list] of splitRule(text))
    value[key.toLowerCase()] = list.includes(",") ? list.split(",") : list;
  if (rule.until !== undefined) value.until = writeUntil(rule.until, start);
  return ["rrule", {}, "recur", value];
}

function writeUntil(text: string, start: EventTime): string {
  const until = parseWall(text);
  if (!until) throw new ToolFault("params", `UNTIL=${text} is not a date`);
  if (start.kind === "day") return formatWallDay(until.wall);
  if (until.isUtc) return `${formatWallTime(until.wall)}Z`;
  const wall = until.isDay ? until.wall + DAY_MS - 1000 : until.wall;
  return `${formatWallTime(wallToInstant(start.zone, wall))}Z`;
}

/**
 * Organizer and attendees as properties; answers of those who stay are kept. Without `notify` a calendar server is
 * asked to send nothing by itself (RFC 6638).
 */
export function buildPeople(
  addresses: readonly string[],
  how: { readonly notify: boolean; readonly writing: Writing; readonly before?: Component },
): Property[] {
  if (addresses.length === 0) return [];
  const known = how.before ? findProperties(how.before, "attendee") : [];
  const organizer = how.before ? findProperties(how.before, "organizer") : [];
  const { owner, ownerName } = how.writing;
  const own: Property = [
    "organizer",
    ownerName ? { cn: cleanLine(ownerName) } : {},
    "cal-address",
    `mailto:${cleanLine(owner)}`,
  ];
  const attendees = [...new Set(addresses.map((address) => cleanLine(address).toLowerCase()))].map(
    (address): Property => {
      const [, kept] = known.find((property) => readMailto(property[3]) === address) ?? [];
      const { "schedule-agent": _, ...parameters } = kept ?? describeNewcomer();
      const agent: Property[1] = how.notify ? {} : { "schedule-agent": "CLIENT" };
      return ["attendee", { ...parameters, ...agent }, "cal-address", `mailto:${address}`];
    },
  );
  return [organizer[0] ?? own, ...attendees];
}

function describeNewcomer(): Record<string, string | string[]> {
  return { role: "REQ-PARTICIPANT", partstat: "NEEDS-ACTION", rsvp: "TRUE" };
}
