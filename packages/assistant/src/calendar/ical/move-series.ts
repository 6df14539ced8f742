import { ToolFault } from "../../service-tools/tool-fault.ts";
import type { EventTime } from "../calendar-provider.ts";
import { parseWall, wallDay, wallTime } from "./clock.ts";
import { isNamedStart } from "./expand-rule.ts";
import { type Component, findProperties, findProperty, type Property, withProperties } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";
import { parseRecurrence, type RecurrenceRule, readRecurrence, WEEKDAYS, writeRecurrence } from "./rule.ts";
import { type EventMoment, readMoment, readTimes, type Times } from "./series-times.ts";
import { ruleProperty } from "./write-event.ts";

/** What moves: the master as it will be, its times before, its new start, and whether it gets another rule anyway. */
type Move = {
  readonly after: Component;
  readonly times: Times;
  readonly start: EventTime;
  readonly hasNewRule: boolean;
};

/** From where to where a series moves: its start before and after, and how far its single dates go with it. */
type Shift = { readonly from: EventMoment; readonly to: EventMoment; readonly by: number };

const DAY_MS = 86_400_000;

/**
 * What hangs on the start of a series, moved with it: listed and excluded dates, the places of occurrences that differ,
 * the rule's end and a weekly rule's only weekday. If days become times or the reverse, single occurrences lose
 * their place and go.
 */
export function moveRest(series: Series, move: Move, how: { readonly zone: string }): Series {
  const { master } = series;
  const reading = { zones: series.zones, zone: how.zone };
  const to = readTimes(move.after, reading)?.start;
  const start = findProperty(move.after, "dtstart");
  if (!master || !to || !start) return series;
  const from = move.times.start;
  const rule = findProperty(master, "rrule");
  const shift = { from, to, by: measureShift(rule, to.wall - from.wall) };
  const rules = rule && !move.hasNewRule ? [moveRule(rule, shift, move.start)] : [];
  const hanging = ["rrule", "rdate", "exdate"];
  if (from.isDay !== to.isDay)
    return { ...series, overrides: [], master: withProperties(master, hanging, rules) };
  const moved = (component: Component, name: string): Property[] =>
    findProperties(component, name).flatMap((property) => {
      const [, , , ...values] = property;
      const moments = values.flatMap((value) => readMoment(property, [value].flat()[0], reading) ?? []);
      return moments.length > 0 ? [moveDates(name, moments, shift, start)] : [];
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
function measureShift(rule: Property | undefined, delta: number): number {
  const frequency = rule && readRecurrence(rule[3])?.frequency;
  const days = frequency === "WEEKLY" ? 7 : frequency === "DAILY" || frequency === "HOURLY" ? 1 : 28;
  if (!frequency || Math.abs(delta) < days * DAY_MS) return delta;
  const period = (days === 28 ? 1 : days) * DAY_MS;
  return delta - Math.round(delta / period) * period;
}

/** Dates by the clock and in the form of the new start; a day that is excluded of a series of times stays a day. */
function moveDates(name: string, moments: readonly EventMoment[], shift: Shift, start: Property): Property {
  const { from, by } = shift;
  if (moments.some(({ isDay }) => isDay) && !from.isDay)
    return [name, {}, "date", ...moments.map(({ wall }) => wallDay(wall + Math.round(by / DAY_MS) * DAY_MS))];
  const walls = moments.map((moment) => (from.isDay ? moment.wall : from.clock.toWall(moment.instant)) + by);
  const [, parameters, type] = writeLikeStart(start, name, from.wall);
  return [name, parameters, type, ...walls.map((wall) => writeLikeStart(start, name, wall)[3])];
}

/** A property of the same form as the start: a day, a time in UTC, or one with the same TZID. */
export function writeLikeStart(start: Property, name: string, wall: number): Property {
  const [, parameters, type, value] = start;
  const zulu = typeof value === "string" && value.endsWith("Z") ? "Z" : "";
  const { tzid } = parameters;
  const text = type === "date" ? wallDay(wall) : `${wallTime(wall)}${zulu}`;
  return [name, tzid === undefined ? {} : { tzid }, type, text];
}

function moveRule(property: Property, shift: Shift, start: EventTime): Property {
  const rule = parseRecurrence(writeRecurrence(property[3]));
  const value = { ...(typeof property[3] === "object" ? property[3] : {}), ...moveDay(rule, shift) };
  if (shift.from.isDay !== shift.to.isDay) return ruleProperty(writeRecurrence(value), start);
  const until = moveUntil(rule, shift);
  return ["rrule", property[1], "recur", { ...value, ...(until !== undefined && { until }) }];
}

/** The only weekday of a rule goes with the start; a start that a rule with other parts does not name is refused. */
function moveDay(rule: RecurrenceRule, { from, to }: Shift): { byday?: string | undefined } {
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
function moveUntil(rule: RecurrenceRule, { from, to, by }: Shift): string | undefined {
  const until = rule.until === undefined ? undefined : parseWall(rule.until);
  if (!until) return undefined;
  if (until.isDay) return wallDay(until.wall + Math.round(by / DAY_MS) * DAY_MS);
  if (!until.isUtc) return wallTime(until.wall + by);
  if (from.isDay) return `${wallTime(until.wall + by)}Z`;
  return `${wallTime(to.clock.toInstant(from.clock.toWall(until.wall) + by))}Z`;
}
