import { instantToWall, isZone, wallToInstant } from "../../../text/zone.ts";
import type { EventTime, NewEvent } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { parseRule } from "../recurrence/rule.ts";
import { parseWall, wallDay, wallTime } from "../recurrence/wall.ts";
import { addressOf } from "./event-fields.ts";
import { type Component, cleanLine, cleanText, type Property, propertiesOf } from "./jcal.ts";

const DAY_MS = 86_400_000;

/** Who writes an event, and when. */
export type Writing = {
  readonly owner: string;
  readonly ownerName?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** A time of an event as a property. */
export function timeProperty(name: string, time: EventTime): Property {
  if (time.kind === "day") {
    if (!parseWall(time.day)?.isDay)
      throw new ToolFault("params", `'${time.day}' is no day such as 2026-11-17`);
    return [name, {}, "date", time.day];
  }
  const instant = Date.parse(time.at);
  if (Number.isNaN(instant)) throw new ToolFault("params", `'${time.at}' is no time`);
  if (!isZone(time.zone))
    throw new ToolFault("params", `'${time.zone}' is no time zone such as Europe/Berlin`);
  const wall = instantToWall(time.zone, instant);
  // An hour that the clocks show twice is meant the first time; the second can only be said in UTC.
  if (time.zone === "UTC" || wallToInstant(time.zone, wall) !== instant)
    return [name, {}, "date-time", `${wallTime(instant)}Z`];
  return [name, { tzid: time.zone }, "date-time", wallTime(wall)];
}

/** Texts as properties; an empty one is left out, so that it removes what was there. */
export function textProperties(texts: Readonly<Record<string, string | undefined>>): Property[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    text ? [[name, {}, "text", cleanText(text)] satisfies Property] : [],
  );
}

/** A visibility as a property; none for the calendar's default. */
export function visibilityProperties(visibility: NewEvent["visibility"]): Property[] {
  return visibility === "private" || visibility === "public"
    ? [["class", {}, "text", visibility.toUpperCase()]]
    : [];
}

/** A checked recurrence as a property; its UNTIL is written as the standard wants it for this start. */
export function ruleProperty(text: string, start: EventTime): Property {
  const rule = parseRule(text);
  const value: Record<string, unknown> = {};
  for (const part of text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, "")
    .split(";")
    .filter(Boolean)) {
    const [key = "", list = ""] = part.split("=");
    value[key.toLowerCase()] = list.includes(",") ? list.split(",") : list;
  }
  if (rule.until !== undefined) value.until = untilText(rule.until, start);
  return ["rrule", {}, "recur", value];
}

function untilText(text: string, start: EventTime): string {
  const until = parseWall(text);
  if (!until) throw new ToolFault("params", `UNTIL=${text} is no date`);
  if (start.kind === "day") return wallDay(until.wall);
  if (until.isUtc) return `${wallTime(until.wall)}Z`;
  const wall = until.isDay ? until.wall + DAY_MS - 1000 : until.wall;
  return `${wallTime(wallToInstant(start.zone, wall))}Z`;
}

/**
 * Organizer and attendees as properties; answers of those who stay are kept. Without `notify` a calendar server is
 * asked to send nothing by itself (RFC 6638).
 */
export function peopleProperties(
  addresses: readonly string[],
  how: { readonly notify: boolean; readonly writing: Writing; readonly before?: Component },
): Property[] {
  if (addresses.length === 0) return [];
  const known = how.before ? propertiesOf(how.before, "attendee") : [];
  const organizer = how.before ? propertiesOf(how.before, "organizer") : [];
  const { owner, ownerName } = how.writing;
  const own: Property = [
    "organizer",
    ownerName ? { cn: cleanLine(ownerName) } : {},
    "cal-address",
    `mailto:${cleanLine(owner)}`,
  ];
  const attendees = [...new Set(addresses.map((address) => cleanLine(address).toLowerCase()))].map(
    (address): Property => {
      const [, kept] = known.find((property) => addressOf(property[3]) === address) ?? [];
      const { "schedule-agent": _, ...parameters } = kept ?? newcomer();
      const agent: Property[1] = how.notify ? {} : { "schedule-agent": "CLIENT" };
      return ["attendee", { ...parameters, ...agent }, "cal-address", `mailto:${address}`];
    },
  );
  return [organizer[0] ?? own, ...attendees];
}

function newcomer(): Record<string, string | string[]> {
  return { role: "REQ-PARTICIPANT", partstat: "NEEDS-ACTION", rsvp: "TRUE" };
}
