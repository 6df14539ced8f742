import { instantToWall, isZone, wallToInstant } from "../../../text/zone.ts";
import { expandRule } from "../recurrence/expand-rule.ts";
import { parseRule, ruleText } from "../recurrence/rule.ts";
import { parseWall } from "../recurrence/wall.ts";
import { type Component, propertiesOf, propertyOf, textOf } from "./jcal.ts";
import { WINDOWS_ZONES } from "./windows-zones.ts";

/** The clocks a time of an event was written by. */
export type Clock = {
  /** IANA name to show times in; `UTC` for clocks that no zone describes. */
  readonly zone: string;
  toInstant(wallMs: number): number;
  toWall(instantMs: number): number;
};

/** The clock of a known zone. */
export function zoneClock(zone: string): Clock {
  return {
    zone,
    toInstant: (wall) => wallToInstant(zone, wall),
    toWall: (instant) => instantToWall(zone, instant),
  };
}

/**
 * The clock a TZID names: a zone of that name, of the name's ending (`/vendor.example/2024/Europe/Berlin`), or by its
 * Windows name; else what the calendar's own VTIMEZONE says; else the owner's zone.
 */
export function clockOf(tzid: string | undefined, zones: readonly Component[], ownZone: string): Clock {
  if (tzid === undefined) return zoneClock(ownZone);
  const own = zones.find((zone) => textOf(zone, "tzid") === tzid);
  const names = [tzid, WINDOWS_ZONES[tzid], own && textOf(own, "x-lic-location"), ...endingsOf(tzid)];
  const known = names.find((name) => name !== undefined && isZone(name));
  if (known !== undefined) return zoneClock(known);
  return own ? writtenClock(own) : zoneClock(ownZone);
}

function endingsOf(tzid: string): string[] {
  const parts = tzid.split("/").slice(-3);
  return parts.map((_, at) => parts.slice(at).join("/")).filter((name) => name.includes("/"));
}

const LOOK_BACK_MS = 2 * 366 * 86_400_000;

/** A clock from a VTIMEZONE, for zones that exist nowhere else. */
function writtenClock(zone: Component): Clock {
  const offsetOfWall = (wall: number): number => {
    let best: { onset: number; offset: number } | undefined;
    for (const observance of zone[2].slice(0, 50)) {
      const onset = lastOnset(observance, wall);
      const offset = offsetMs(observance, "tzoffsetto");
      if (onset !== undefined && (!best || onset > best.onset)) best = { onset, offset };
    }
    const first = zone[2][0];
    return best?.offset ?? (first ? offsetMs(first, "tzoffsetfrom") : 0);
  };
  return {
    zone: "UTC",
    toInstant: (wall) => wall - offsetOfWall(wall),
    toWall: (instant) => instant + offsetOfWall(instant + offsetOfWall(instant)),
  };
}

function lastOnset(observance: Component, wall: number): number | undefined {
  const first = parseWall(propertyOf(observance, "dtstart")?.[3])?.wall;
  if (first === undefined || first > wall) return undefined;
  const onsets = [first];
  for (const [, , , ...dates] of propertiesOf(observance, "rdate").slice(0, 200))
    for (const date of dates.slice(0, 200)) onsets.push(parseWall(date)?.wall ?? first);
  const rule = propertyOf(observance, "rrule")?.[3];
  if (rule !== undefined) {
    try {
      const window = { from: wall - LOOK_BACK_MS, to: wall + 1 };
      onsets.push(...expandRule(parseRule(ruleText(rule)), first, window).starts);
    } catch {
      // A rule that cannot be followed adds no change of the clocks.
    }
  }
  return Math.max(...onsets.filter((onset) => onset <= wall));
}

function offsetMs(observance: Component, name: string): number {
  const [, sign = "+", hours = "0", minutes = "0"] =
    /^([+-])(\d{2}):?(\d{2})/.exec(textOf(observance, name) ?? "") ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
