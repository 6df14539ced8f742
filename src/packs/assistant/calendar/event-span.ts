import { ToolFault } from "../errors/tool-fault.ts";
import { addDays, daysBetween, instantOfTime, readTime } from "../time/read-time.ts";
import type { Range } from "../time/time-range.ts";
import type { CalendarEvent, EventTime } from "./calendar-provider.ts";

/** Begin and end of an event; the end is exclusive. */
export type EventSpan = { readonly start: EventTime; readonly end: EventTime };

type Written = {
  readonly start: EventTime;
  readonly end?: string | undefined;
  readonly durationMinutes?: number | undefined;
  /** What the event lasts if nothing is said. */
  readonly usual?: number | undefined;
};

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** The span a caller means: to `end`, or for a duration, or for an hour or the whole day. */
export function readSpan({ start, end, durationMinutes, usual }: Written, zone: string): EventSpan {
  if (end !== undefined && durationMinutes !== undefined)
    throw new ToolFault("params", "give end or duration_minutes, not both");
  if (end !== undefined) return endingAt(start, readTime(end, "end", zone));
  if (start.kind === "day") {
    if (durationMinutes !== undefined)
      throw new ToolFault("params", "duration_minutes needs a datetime with a time of day");
    return { start, end: { kind: "day", day: addDays(start.day, usual ?? 1) } };
  }
  const minutes = durationMinutes ?? usual ?? HOUR_MINUTES;
  const at = new Date(Date.parse(start.at) + minutes * MINUTE_MS).toISOString();
  return { start, end: { kind: "instant", at, zone: start.zone } };
}

/** How long an event lasts: minutes, or days of a whole-day one. */
export function lengthOf({ start, end }: EventSpan): number {
  if (start.kind === "day" && end.kind === "day") return daysBetween(start.day, end.day);
  return (instantOfTime(end, "UTC") - instantOfTime(start, "UTC")) / MINUTE_MS;
}

/** The instants of a span; days begin at midnight in `zone`. */
export function rangeOf({ start, end }: EventSpan, zone: string): Range {
  return { from: instantOfTime(start, zone), to: instantOfTime(end, zone) };
}

/** Whether an event takes its owner's time. */
export function blocks({ free, status, attendees }: CalendarEvent, self: string): boolean {
  const declined = attendees.some(
    ({ address, response }) => address.toLowerCase() === self.toLowerCase() && response === "declined",
  );
  return !free && status !== "cancelled" && !declined;
}

function endingAt(start: EventTime, end: EventTime): EventSpan {
  if (start.kind !== end.kind)
    throw new ToolFault("params", "datetime and end must both be days or both be times");
  if (start.kind === "day" && end.kind === "day") {
    const last = end.day === start.day ? addDays(end.day, 1) : end.day;
    if (last < start.day) throw new ToolFault("params", "end is before datetime");
    return { start, end: { kind: "day", day: last } };
  }
  if (instantOfTime(end, "UTC") <= instantOfTime(start, "UTC"))
    throw new ToolFault("params", "end must be after datetime");
  return {
    start,
    end: start.kind === "instant" && end.kind === "instant" ? { ...end, zone: start.zone } : end,
  };
}
