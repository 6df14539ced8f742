import type { EventTime } from "../calendar/calendar-provider.ts";
import { durationMs, parseWall, wallDay } from "../recurrence/wall.ts";
import { type Clock, clockOf, zoneClock } from "./clock.ts";
import { type Component, type Property, parameterOf, propertyOf } from "./jcal.ts";

const DAY_MS = 86_400_000;

/** A moment of an event with the clock it was written by; of a day the instant is its midnight in the owner's zone. */
export type Moment = {
  readonly wall: number;
  readonly isDay: boolean;
  readonly clock: Clock;
  readonly instant: number;
};

/** When an event is. */
export type Times = { readonly start: Moment; readonly end: Moment };

/** How the times of one calendar are read. */
export type TimeReading = { readonly zones: readonly Component[]; readonly zone: string };

/** One value of a property as a moment; undefined if it is no date. */
export function momentOf(property: Property, value: unknown, reading: TimeReading): Moment | undefined {
  const read = parseWall(value);
  if (!read) return undefined;
  if (read.isUtc) return { ...read, clock: zoneClock("UTC"), instant: read.wall };
  const clock = read.isDay
    ? zoneClock(reading.zone)
    : clockOf(parameterOf(property, "tzid"), reading.zones, reading.zone);
  return { ...read, clock, instant: clock.toInstant(read.wall) };
}

/** When an event is; undefined if its start is no date. An end before the start counts as the start. */
export function timesOf(event: Component, reading: TimeReading): Times | undefined {
  const start = propertyOf(event, "dtstart");
  const from = start && momentOf(start, start[3], reading);
  if (!from) return undefined;
  const end = propertyOf(event, "dtend");
  const to = end && momentOf(end, end[3], reading);
  if (to && to.isDay === from.isDay && to.instant > from.instant) return { start: from, end: to };
  const length = durationMs(propertyOf(event, "duration")?.[3]);
  if (from.isDay) return { start: from, end: movedDay(from, Math.max(1, Math.round(length / DAY_MS))) };
  return { start: from, end: atInstant(from, from.instant + length) };
}

/** The times of an event when it starts at another wall: a day keeps its number of days, others their length. */
export function timesAt(times: Times, wall: number): Times {
  const { start, end } = times;
  const moved = { ...start, wall, instant: start.clock.toInstant(wall) };
  return start.isDay
    ? { start: moved, end: movedDay(moved, Math.round((end.wall - start.wall) / DAY_MS)) }
    : { start: moved, end: atInstant(end, moved.instant + end.instant - start.instant) };
}

function movedDay(from: Moment, days: number): Moment {
  const wall = from.wall + days * DAY_MS;
  return { ...from, wall, instant: from.clock.toInstant(wall) };
}

function atInstant(like: Moment, instant: number): Moment {
  return { ...like, wall: like.clock.toWall(instant), instant };
}

/** A moment as the calendar's provider gives it. */
export function eventTime(moment: Moment): EventTime {
  return moment.isDay
    ? { kind: "day", day: wallDay(moment.wall) }
    : { kind: "instant", at: new Date(moment.instant).toISOString(), zone: moment.clock.zone };
}
