import { expandRule } from "../recurrence/expand-rule.ts";
import { type Rule, ruleOf } from "../recurrence/rule.ts";
import { occurrenceKey, parseWall, wallDay } from "../recurrence/wall.ts";
import { type Moment, momentOf, type Times, timesOf } from "./event-times.ts";
import { type Component, propertiesOf, propertyOf } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";

const DAY_MS = 86_400_000;
const MAX_DATES = 5_000;

/** Whether an event has more than one time. */
export function recurs(event: Component): boolean {
  return propertyOf(event, "rrule") !== undefined || propertyOf(event, "rdate") !== undefined;
}

/** What names an occurrence within its series: the start it was planned for. */
export function keyOf(moment: Moment): string {
  return occurrenceKey(moment.isDay ? moment.wall : moment.instant, moment.isDay);
}

/** Occurrences that differ, by their key; of two for one key the later one in the text counts. */
export function overridesOf(series: Series, zone: string): Map<string, Component> {
  const overrides = new Map<string, Component>();
  for (const override of series.overrides) {
    const property = propertyOf(override, "recurrence-id");
    const moment = property && momentOf(property, property[3], { zones: series.zones, zone });
    if (moment) overrides.set(keyOf(moment), override);
  }
  return overrides;
}

/** Occurrences that differ and have a place in the series, as far as its rule can be followed. */
export function placedOverrides(series: Series, zone: string): Component[] {
  const { master } = series;
  const times = master && timesOf(master, { zones: series.zones, zone });
  return [...overridesOf(series, zone)].flatMap(([key, override]) => {
    const place = parseWall(key);
    if (!times || !place || place.isDay !== times.start.isDay) return [];
    const wall = place.isDay ? place.wall : times.start.clock.toWall(place.wall);
    const near = { from: times.start.clock.toInstant(wall), to: times.start.clock.toInstant(wall) + 1 };
    const { starts, cut } = startsIn(series, times, near, zone);
    return cut || starts.includes(wall) ? [override] : [];
  });
}

/**
 * The starts of a series near a window of instants, as walls of its own clock, without those it excludes. A rule that
 * cannot be followed leaves the first start and the dates that are listed.
 */
export function startsIn(
  series: Series,
  times: Times,
  window: { readonly from: number; readonly to: number },
  zone: string,
): { readonly starts: readonly number[]; readonly cut: boolean } {
  const { master } = series;
  if (!master) return { starts: [], cut: false };
  const { start, end } = times;
  const span = {
    from: start.clock.toWall(window.from) - (end.instant - start.instant) - DAY_MS,
    to: start.clock.toWall(window.to) + DAY_MS,
  };
  const starts = new Set<number>([start.wall]);
  let cut = false;
  for (const property of propertiesOf(master, "rrule").slice(0, 10)) {
    const rule = ruleOf(property[3]);
    if (!rule) continue;
    const until = untilWall(rule, start);
    const found = expandRule(rule, start.wall, { ...span, ...(until !== undefined && { until }) });
    for (const wall of found.starts) starts.add(wall);
    cut ||= found.cut;
  }
  for (const moment of datesOf(series, master, "rdate", zone))
    starts.add(start.isDay ? moment.wall : start.clock.toWall(moment.instant));
  // Some programs exclude a day by its midnight.
  const asStart = (moment: Moment): Moment =>
    start.isDay && !moment.isDay
      ? { ...start, wall: moment.clock.zone === "UTC" ? start.clock.toWall(moment.instant) : moment.wall }
      : moment;
  const excluded = new Set(datesOf(series, master, "exdate", zone).map((moment) => keyOf(asStart(moment))));
  const isExcluded = (wall: number) =>
    excluded.has(keyOf({ ...start, wall, instant: start.clock.toInstant(wall) })) ||
    excluded.has(wallDay(wall).replaceAll("-", ""));
  return { starts: [...starts].filter((wall) => !isExcluded(wall)), cut };
}

/** The last start that a rule means, as a wall of the event's clock; a bare date includes that day. */
function untilWall(rule: Rule, start: Moment): number | undefined {
  const until = rule.until === undefined ? undefined : parseWall(rule.until);
  if (!until) return undefined;
  if (until.isDay) return until.wall + DAY_MS - 1;
  return until.isUtc && !start.isDay ? start.clock.toWall(until.wall) : until.wall;
}

function datesOf(series: Series, event: Component, name: "rdate" | "exdate", zone: string): Moment[] {
  const moments: Moment[] = [];
  for (const property of propertiesOf(event, name)) {
    const [, , , ...values] = property;
    for (const value of values) {
      if (moments.length >= MAX_DATES) return moments;
      const moment = momentOf(property, Array.isArray(value) ? value[0] : value, {
        zones: series.zones,
        zone,
      });
      if (moment) moments.push(moment);
    }
  }
  return moments;
}
