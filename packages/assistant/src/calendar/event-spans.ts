import { addDays, daysBetween, findInstant, readTime, type TimeRange } from "../service-tools/read-time.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { CalendarEvent, CalendarSpan, EventTime } from "./calendar-provider.ts";

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
export function readEventSpan({ start, end, durationMinutes, usual }: Written, zone: string): EventSpan {
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

function endingAt(start: EventTime, end: EventTime): EventSpan {
  if (start.kind !== end.kind)
    throw new ToolFault("params", "datetime and end must both be days or both be times");
  if (start.kind === "day" && end.kind === "day") {
    const last = end.day === start.day ? addDays(end.day, 1) : end.day;
    if (last < start.day) throw new ToolFault("params", "end is before datetime");
    return { start, end: { kind: "day", day: last } };
  }
  if (findInstant(end, "UTC") <= findInstant(start, "UTC"))
    throw new ToolFault("params", "end must be after datetime");
  return {
    start,
    end: start.kind === "instant" && end.kind === "instant" ? { ...end, zone: start.zone } : end,
  };
}

/** How long an event lasts: minutes, or days of a whole-day one. */
export function measureEvent({ start, end }: EventSpan): number {
  if (start.kind === "day" && end.kind === "day") return daysBetween(start.day, end.day);
  return (findInstant(end, "UTC") - findInstant(start, "UTC")) / MINUTE_MS;
}

/** The instants of a span; days begin at midnight in `zone`. */
export function toTimeRange({ start, end }: EventSpan, zone: string): TimeRange {
  return { from: findInstant(start, zone), to: findInstant(end, zone) };
}

/** Whether an event takes its owner's time. */
export function blocks({ free, status, attendees }: CalendarEvent, self: string): boolean {
  const declined = attendees.some(
    ({ address, response }) => address.toLowerCase() === self.toLowerCase() && response === "declined",
  );
  return !free && status !== "cancelled" && !declined;
}

/** Spans in order, those that overlap or touch made one; empty ones are dropped. */
export function mergeSpans(spans: readonly TimeRange[]): readonly TimeRange[] {
  const merged: { from: number; to: number }[] = [];
  const ordered = spans.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from);
  for (const { from, to } of ordered) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Whether two spans share time. */
export function overlaps(one: TimeRange, other: TimeRange): boolean {
  return one.from < other.to && other.from < one.to;
}

/** The time these events take of their owner, merged and cut to a span; free, cancelled and declined ones take none. */
export function busySpans(
  events: readonly CalendarEvent[],
  span: CalendarSpan,
  who: { readonly owner: string; readonly zone: string },
): CalendarSpan[] {
  const [from, to] = [Date.parse(span.start), Date.parse(span.end)];
  const taken = events
    .filter((event) => blocks(event, who.owner))
    .map((event) => toTimeRange(event, who.zone));
  const cut = taken.map((each) => ({ from: Math.max(from, each.from), to: Math.min(to, each.to) }));
  return mergeSpans(cut).map((each) => ({
    start: new Date(each.from).toISOString(),
    end: new Date(each.to).toISOString(),
  }));
}
