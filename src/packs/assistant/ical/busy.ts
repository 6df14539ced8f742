import type { CalendarEvent, Span } from "../calendar/calendar-provider.ts";
import { timeMs } from "./event-instant.ts";

/** Orders events by their start, days as midnight in `zone`. */
export function byStart(zone: string): (a: CalendarEvent, b: CalendarEvent) => number {
  return (a, b) => timeMs(a.start, zone) - timeMs(b.start, zone) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** The time these events take of their owner, merged and cut to a span; free, cancelled and declined ones take none. */
export function busySpans(
  events: readonly CalendarEvent[],
  span: Span,
  who: { readonly owner: string; readonly zone: string },
): Span[] {
  const [from, to] = [Date.parse(span.start), Date.parse(span.end)];
  const owner = who.owner.toLowerCase();
  const taken = events
    .filter((event) => !event.free && event.status !== "cancelled")
    .filter((event) => !event.attendees.some((one) => one.address === owner && one.response === "declined"))
    .map(
      (event) =>
        [Math.max(from, timeMs(event.start, who.zone)), Math.min(to, timeMs(event.end, who.zone))] as const,
    )
    .filter(([start, end]) => end > start)
    .sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [start, end] of taken) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged.map(([start, end]) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
  }));
}
