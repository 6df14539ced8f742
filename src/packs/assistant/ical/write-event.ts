import type { EventTime, NewEvent } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { wallTime } from "../recurrence/wall.ts";
import { timeMs } from "./event-instant.ts";
import {
  peopleProperties,
  ruleProperty,
  textProperties,
  timeProperty,
  visibilityProperties,
  type Writing,
} from "./event-properties.ts";
import { type Component, cleanLine, textOf } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";
import { writeZone } from "./write-zone.ts";

/** A new event whose UID is its id. Raises `params` for times, zones and rules that cannot be written. */
export function newSeries(event: NewEvent, writing: Writing): Series {
  checkTimes(event.start, event.end);
  const stamp = `${wallTime(writing.now)}Z`;
  const master: Component = [
    "vevent",
    [
      ["uid", {}, "text", cleanLine(event.id)],
      ["dtstamp", {}, "date-time", stamp],
      ["created", {}, "date-time", stamp],
      ["sequence", {}, "integer", 0],
      timeProperty("dtstart", event.start),
      timeProperty("dtend", event.end),
      ...(event.recurrence ? [ruleProperty(event.recurrence, event.start)] : []),
      ...textProperties({ summary: event.title, location: event.location, description: event.description }),
      ...visibilityProperties(event.visibility),
      ...peopleProperties(event.attendees, { notify: event.notify, writing }),
    ],
    [],
  ];
  return { uid: event.id, master, overrides: [], zones: zonesFor([], [event.start, event.end]) };
}

/** An event that ends before it starts, or mixes days with times, is refused. */
export function checkTimes(start: EventTime, end: EventTime): void {
  if (start.kind !== end.kind)
    throw new ToolFault("params", "an event has either days or times for its start and end, not one of each");
  const [from, to] = [timeMs(start, "UTC"), timeMs(end, "UTC")];
  if (!(start.kind === "day" ? to > from : to >= from))
    throw new ToolFault("params", "the event would end before it starts");
}

/** The zones a calendar has, and those these times need besides. */
export function zonesFor(zones: readonly Component[], times: readonly EventTime[]): Component[] {
  const all = [...zones];
  for (const time of times) {
    if (time.kind === "day" || time.zone === "UTC") continue;
    if (all.some((zone) => textOf(zone, "tzid") === time.zone)) continue;
    all.push(writeZone(time.zone, new Date(time.at).getUTCFullYear()));
  }
  return all;
}
