import { instantToWall, wallToInstant } from "../../../text/zone.ts";

/** A time as a clock on the wall shows it. */
export type LocalTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

/** What clocks in a zone show at an instant. */
export function localTime(at: number, zone: string): LocalTime {
  const wall = new Date(instantToWall(zone, at));
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
  };
}

/**
 * The instant at which clocks in a zone show a time. Of two such instants it is the first; a time that clocks skip is
 * as much later as they skip.
 */
export function instantOf({ year, month, day, hour, minute, second }: LocalTime, zone: string): number {
  return wallToInstant(zone, Date.UTC(year, month - 1, day, hour, minute, second));
}

/** Midnight of the day that an instant falls on, moved by whole days. */
export function startOfDay(at: number, zone: string, days = 0): number {
  const { year, month, day } = localTime(at, zone);
  const moved = new Date(Date.UTC(year, month - 1, day + days));
  return instantOf(
    {
      year: moved.getUTCFullYear(),
      month: moved.getUTCMonth() + 1,
      day: moved.getUTCDate(),
      hour: 0,
      minute: 0,
      second: 0,
    },
    zone,
  );
}

/** The day of the week an instant falls on: 1 for Monday to 7 for Sunday. */
export function weekday(at: number, zone: string): number {
  const { year, month, day } = localTime(at, zone);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() || 7;
}
