import { findOwn } from "../../../schema/find-own.ts";
import { instantToWall, isZone, wallToInstant } from "../../../text/zone.ts";
import { expandRule } from "../recurrence/expand-rule.ts";
import { ruleOf } from "../recurrence/rule.ts";
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
  const names = [
    tzid,
    findOwn(WINDOWS_ZONES, tzid),
    own && textOf(own, "x-lic-location"),
    ...endingsOf(tzid),
  ];
  const known = names.find((name) => name !== undefined && isZone(name));
  if (known !== undefined) return zoneClock(known);
  return own ? writtenClock(own) : zoneClock(ownZone);
}

function endingsOf(tzid: string): string[] {
  const parts = tzid.split("/").slice(-3);
  return parts.map((_, at) => parts.slice(at).join("/")).filter((name) => name.includes("/"));
}

const MAX_OBSERVANCES = 200;
const MAX_DATES = 2_000;
const MAX_YEARS = 300;

/** When clocks change, and to which offset. */
type Onset = { readonly wall: number; readonly offset: number };

const writtenClocks = new WeakMap<Component, Clock>();

/** A clock from a VTIMEZONE, for zones that exist nowhere else; remembered, because following its rules is slow. */
function writtenClock(zone: Component): Clock {
  const known = writtenClocks.get(zone);
  if (known) return known;
  const observances = zone[2].slice(0, MAX_OBSERVANCES);
  const [first] = observances;
  const otherwise = first ? offsetMs(first, "tzoffsetfrom") : 0;
  const years = new Map<number, readonly Onset[]>();
  const offsetOfWall = (wall: number): number => {
    const year = new Date(wall).getUTCFullYear();
    if (years.size > MAX_YEARS) years.clear();
    const onsets = years.get(year) ?? observances.flatMap((each) => onsetsUpTo(each, year));
    years.set(year, onsets);
    let best: Onset | undefined;
    for (const onset of onsets) if (onset.wall <= wall && (!best || onset.wall > best.wall)) best = onset;
    return best?.offset ?? otherwise;
  };
  const clock = {
    zone: "UTC",
    toInstant: (wall: number) => wall - offsetOfWall(wall),
    toWall: (instant: number) => instant + offsetOfWall(instant + offsetOfWall(instant)),
  };
  writtenClocks.set(zone, clock);
  return clock;
}

/** The changes that an observance lists up to the end of a year, and those of its rule in the years just before. */
function onsetsUpTo(observance: Component, year: number): Onset[] {
  const first = parseWall(propertyOf(observance, "dtstart")?.[3])?.wall;
  if (first === undefined) return [];
  const listed = propertiesOf(observance, "rdate")
    .slice(0, MAX_DATES)
    .flatMap(([, , , ...dates]) => dates)
    .slice(0, MAX_DATES);
  const walls = [first, ...listed.flatMap((date) => parseWall(date)?.wall ?? [])];
  walls.push(...ruledOnsets(observance, first, year));
  const offset = offsetMs(observance, "tzoffsetto");
  return walls.filter((wall) => wall >= first).map((wall) => ({ wall, offset }));
}

/** Clocks change by yearly rules; one of another kind, or that cannot be followed, adds nothing. */
function ruledOnsets(observance: Component, first: number, year: number): readonly number[] {
  const rule = ruleOf(propertyOf(observance, "rrule")?.[3]);
  if (rule?.frequency !== "YEARLY" || rule.hours.length + rule.minutes.length + rule.seconds.length > 0)
    return [];
  const end = rule.until === undefined ? undefined : parseWall(rule.until);
  // The end is said in UTC, the changes by the clocks before them.
  const until = end && (end.isUtc ? end.wall + offsetMs(observance, "tzoffsetfrom") : end.wall);
  const window = { from: Date.UTC(year - 2, 0, 1), to: Date.UTC(year + 1, 0, 1) };
  return expandRule(rule, first, { ...window, ...(until !== undefined && { until }) }).starts;
}

function offsetMs(observance: Component, name: string): number {
  const [, sign = "+", hours = "0", minutes = "0"] =
    /^([+-])(\d{2}):?(\d{2})/.exec(textOf(observance, name) ?? "") ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
