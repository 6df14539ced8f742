import type { EventTime } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { isNamedStart } from "../recurrence/expand-rule.ts";
import { parseRule, type Rule, ruleOf, ruleText, WEEKDAYS } from "../recurrence/rule.ts";
import { parseWall, wallDay, wallTime } from "../recurrence/wall.ts";
import { ruleProperty } from "./event-properties.ts";
import { type Moment, momentOf, type Times, timesOf } from "./event-times.ts";
import { type Component, type Property, propertiesOf, propertyOf, withProperties } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";

/** What moves: the master as it will be, its times before, its new start, and whether it gets another rule anyway. */
type Move = {
  readonly after: Component;
  readonly times: Times;
  readonly start: EventTime;
  readonly hasNewRule: boolean;
};

/** From where to where a series moves: its start before and after, and how far its single dates go with it. */
type Shift = { readonly from: Moment; readonly to: Moment; readonly by: number };

const DAY_MS = 86_400_000;

/**
 * What hangs on the start of a series, moved with it: listed and excluded dates, the places of occurrences that differ,
 * the rule's end and a weekly rule's only weekday. If days become times or the reverse, single occurrences lose
 * their place and go.
 */
export function movedRest(series: Series, move: Move, how: { readonly zone: string }): Series {
  const { master } = series;
  const reading = { zones: series.zones, zone: how.zone };
  const to = timesOf(move.after, reading)?.start;
  const start = propertyOf(move.after, "dtstart");
  if (!master || !to || !start) return series;
  const from = move.times.start;
  const rule = propertyOf(master, "rrule");
  const shift = { from, to, by: distanceOf(rule, to.wall - from.wall) };
  const rules = rule && !move.hasNewRule ? [movedRule(rule, shift, move.start)] : [];
  const hanging = ["rrule", "rdate", "exdate"];
  if (from.isDay !== to.isDay)
    return { ...series, overrides: [], master: withProperties(master, hanging, rules) };
  const moved = (component: Component, name: string): Property[] =>
    propertiesOf(component, name).flatMap((property) => {
      const [, , , ...values] = property;
      const moments = values.flatMap((value) => momentOf(property, [value].flat()[0], reading) ?? []);
      return moments.length > 0 ? [movedDates(name, moments, shift, start)] : [];
    });
  const overrides = series.overrides.map((override) =>
    withProperties(override, ["recurrence-id"], moved(override, "recurrence-id")),
  );
  const dates = [...moved(master, "rdate"), ...moved(master, "exdate")];
  return { ...series, overrides, master: withProperties(master, hanging, [...rules, ...dates]) };
}

/**
 * How far single dates go when the start goes by `delta`. A start that moves by whole periods of its rule begins the
 * series sooner or later, and its dates stay where they are.
 */
function distanceOf(rule: Property | undefined, delta: number): number {
  const frequency = rule && ruleOf(rule[3])?.frequency;
  const days = frequency === "WEEKLY" ? 7 : frequency === "DAILY" || frequency === "HOURLY" ? 1 : 28;
  if (!frequency || Math.abs(delta) < days * DAY_MS) return delta;
  const period = (days === 28 ? 1 : days) * DAY_MS;
  return delta - Math.round(delta / period) * period;
}

/** Dates by the clock and in the form of the new start; a day that is excluded of a series of times stays a day. */
function movedDates(name: string, moments: readonly Moment[], shift: Shift, start: Property): Property {
  const { from, by } = shift;
  if (moments.some(({ isDay }) => isDay) && !from.isDay)
    return [name, {}, "date", ...moments.map(({ wall }) => wallDay(wall + Math.round(by / DAY_MS) * DAY_MS))];
  const walls = moments.map((moment) => (from.isDay ? moment.wall : from.clock.toWall(moment.instant)) + by);
  const [, parameters, type] = likeStart(start, name, from.wall);
  return [name, parameters, type, ...walls.map((wall) => likeStart(start, name, wall)[3])];
}

/** A property of the same form as the start: a day, a time in UTC, or one with the same TZID. */
export function likeStart(start: Property, name: string, wall: number): Property {
  const [, parameters, type, value] = start;
  const zulu = typeof value === "string" && value.endsWith("Z") ? "Z" : "";
  const { tzid } = parameters;
  const text = type === "date" ? wallDay(wall) : `${wallTime(wall)}${zulu}`;
  return [name, tzid === undefined ? {} : { tzid }, type, text];
}

function movedRule(property: Property, shift: Shift, start: EventTime): Property {
  const rule = parseRule(ruleText(property[3]));
  const value = { ...(typeof property[3] === "object" ? property[3] : {}), ...movedDay(rule, shift) };
  if (shift.from.isDay !== shift.to.isDay) return ruleProperty(ruleText(value), start);
  const until = movedUntil(rule, shift);
  return ["rrule", property[1], "recur", { ...value, ...(until !== undefined && { until }) }];
}

/** The only weekday of a rule goes with the start; a start that a rule with other parts does not name is refused. */
function movedDay(rule: Rule, { from, to }: Shift): { byday?: string | undefined } {
  const [oldDay, newDay] = [new Date(from.wall).getUTCDay(), new Date(to.wall).getUTCDay()];
  const [only] = rule.days;
  const hasOne = rule.days.length === 1 && only?.weekday === oldDay && only.nth === 0;
  const byday = hasOne && oldDay !== newDay ? { byday: WEEKDAYS[newDay] } : {};
  const days = hasOne ? [{ weekday: newDay, nth: 0 }] : rule.days;
  const leavesDays = days.length > 0 && !hasOne && oldDay !== newDay;
  if (leavesDays || (isNamedStart(rule, from.wall) && !isNamedStart({ ...rule, days }, to.wall)))
    throw new ToolFault(
      "params",
      "the new start is on another weekday, day or time than the series' rule names; give its recurrence as well",
    );
  return byday;
}

/** The end of a rule, so that the last start, which may stand there to the second, stays one. */
function movedUntil(rule: Rule, { from, to, by }: Shift): string | undefined {
  const until = rule.until === undefined ? undefined : parseWall(rule.until);
  if (!until) return undefined;
  if (until.isDay) return wallDay(until.wall + Math.round(by / DAY_MS) * DAY_MS);
  if (!until.isUtc) return wallTime(until.wall + by);
  if (from.isDay) return `${wallTime(until.wall + by)}Z`;
  return `${wallTime(to.clock.toInstant(from.clock.toWall(until.wall) + by))}Z`;
}
