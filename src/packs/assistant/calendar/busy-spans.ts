import { isoWithOffset } from "../../../text/zone.ts";
import type { Range } from "../time/time-range.ts";
import { localTime, startOfDay, weekday } from "../time/zone-time.ts";

const GRID_MS = 30 * 60_000;
const HOUR_MS = 3_600_000;
const FIRST_HOUR = 9;
const LAST_HOUR = 17;
const SATURDAY = 6;

/** Spans in order, those that overlap or touch made one; empty ones are dropped. */
export function mergeSpans(spans: readonly Range[]): readonly Range[] {
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
export function overlaps(one: Range, other: Range): boolean {
  return one.from < other.to && other.from < one.to;
}

/** What to look for when a time is taken. */
export type SlotSearch = {
  readonly within: Range;
  readonly durationMs: number;
  readonly busy: readonly Range[];
  readonly zone: string;
  /** The wanted time; nearer slots come first. */
  readonly near: number;
  readonly now: number;
  readonly count: number;
};

/** Free slots in working hours (9 to 17, Monday to Friday, by the zone's clocks), the nearest chosen, in order of time. */
export function freeSlots(search: SlotSearch): readonly Range[] {
  const { within, durationMs, zone, near, now, count } = search;
  const busy = mergeSpans(search.busy);
  const free: Range[] = [];
  for (let day = startOfDay(within.from, zone); day < within.to; day = startOfDay(day, zone, 1)) {
    if (weekday(day, zone) >= SATURDAY) continue;
    for (const from of gridOf(day, zone)) {
      const slot = { from, to: from + durationMs };
      if (from < now || from < within.from || slot.to > within.to) continue;
      if (!endsInHours(slot, day, zone) || busy.some((span) => overlaps(span, slot))) continue;
      free.push(slot);
    }
  }
  return nearest(free, near, count);
}

/** The nearest slots that do not overlap each other. */
function nearest(free: readonly Range[], near: number, count: number): readonly Range[] {
  const chosen: Range[] = [];
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
function gridOf(day: number, zone: string): number[] {
  const starts: number[] = [];
  for (let at = day; at < day + 26 * HOUR_MS; at += GRID_MS) {
    const { hour } = localTime(at, zone);
    if (hour >= LAST_HOUR && starts.length > 0) break;
    if (hour >= FIRST_HOUR && hour < LAST_HOUR) starts.push(at);
  }
  return starts;
}

function endsInHours({ to }: Range, day: number, zone: string): boolean {
  const end = localTime(to, zone);
  if (isoWithOffset(to, zone).slice(0, 10) !== isoWithOffset(day, zone).slice(0, 10)) return false;
  return end.hour < LAST_HOUR || (end.hour === LAST_HOUR && end.minute === 0 && end.second === 0);
}
