import { wallToInstant } from "../../../text/zone.ts";
import type { EventTime } from "../calendar/calendar-provider.ts";

/** The instant of an event's time; a day begins at midnight in `zone`. */
export function timeMs(time: EventTime, zone: string): number {
  return time.kind === "instant" ? Date.parse(time.at) : wallToInstant(zone, Date.parse(time.day));
}
