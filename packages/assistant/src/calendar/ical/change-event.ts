// Changes of events: of a whole series with what hangs on its start, or of one occurrence.

import { findInstant } from "../../service-tools/times.ts";
import { ToolFault } from "../../service-tools/tool-fault.ts";
import type { EventChange, EventTime } from "../calendar-provider.ts";
import {
  type Component,
  findProperties,
  findProperty,
  findText,
  type Property,
  replaceProperties,
} from "./jcal.ts";
import { readMailto } from "./read-event.ts";
import {
  isNamedStart,
  parseRecurrence,
  type RecurrenceRule,
  readRecurrence,
  WEEKDAYS,
  writeRecurrence,
} from "./recurrence.ts";
import {
  buildKey,
  type EventMoment,
  findPlacedOverrides,
  mapOverrides,
  moveTimes,
  readMoment,
  readSequence,
  readTimes,
  type Series,
  type Times,
  toEventTime,
} from "./series.ts";
import {
  addZones,
  buildPeople,
  buildRuleProperty,
  buildTextProperties,
  buildTimeProperty,
  buildVisibility,
  checkTimes,
  type Writing,
} from "./write-event.ts";
import { formatWallDay, formatWallTime, parseWall } from "./zone-clock.ts";

/** Who changes an event, and the zone of times that name none. */
type Changing = Writing & { readonly zone: string };

/** A series with one change: of the occurrence that `key` names, or of the whole. Raises `params` if it cannot be. */
export function changeSeries(
  series: Series,
  key: string | undefined,
  change: EventChange,
  how: Changing,
): Series {
  const before =
    key === undefined ? (series.master ?? series.overrides[0]) : cutOccurrence(series, key, how.zone);
  const times = before && readTimes(before, { zones: series.zones, zone: how.zone });
  if (!before || !times) throw new ToolFault("params", "there is no such event");
  if (key !== undefined && change.recurrence !== undefined)
    throw new ToolFault("params", "a single occurrence has no recurrence; change the series");
  const [start, end] = chooseTimes(times, change, how.zone);
  const after = buildChanged(before, change, { start, end, how });
  const zones = addZones(series.zones, change.start || change.end ? [start, end] : []);
  if (key === undefined) {
    if (!series.master) return { ...series, overrides: [after, ...series.overrides.slice(1)], zones };
    const hasNewRule = change.recurrence !== undefined;
    const moved = change.start ? moveRest(series, { after, times, start, hasNewRule }, how) : series;
    const whole = { ...moved, master: keepRest(after, moved, change), zones };
    return change.start || hasNewRule ? { ...whole, overrides: findPlacedOverrides(whole, how.zone) } : whole;
  }
  const others = [...mapOverrides(series, how.zone)].filter(([other]) => other !== key).map(([, one]) => one);
  return { ...series, overrides: [...others, after], zones };
}

/** The master with the dates that hang on it as they moved, and the rule: as moved too, unless the change names another. */
function keepRest(after: Component, { master }: Series, change: EventChange): Component {
  if (change.recurrence === "") return replaceProperties(after, ["exdate", "rdate"], []);
  if (!master || !change.start) return after;
  const rule = change.recurrence === undefined ? findProperty(master, "rrule") : findProperty(after, "rrule");
  return replaceProperties(
    after,
    ["exdate", "rdate", "rrule"],
    [...findProperties(master, "exdate"), ...findProperties(master, "rdate"), ...(rule ? [rule] : [])],
  );
}

function chooseTimes(times: Times, change: EventChange, zone: string): [EventTime, EventTime] {
  const start = change.start ?? toEventTime(times.start);
  let end = change.end;
  if (!end && change.start) end = keepLength(times, change.start, zone);
  end ??= toEventTime(times.end);
  checkTimes(start, end);
  return [start, end];
}

function keepLength(times: Times, start: EventTime, zone: string): EventTime {
  if (start.kind === "day") {
    const days = times.start.isDay ? times.end.wall - times.start.wall : 86_400_000;
    return { kind: "day", day: formatWallDay(Date.parse(start.day) + days) };
  }
  const length = times.start.isDay ? 3_600_000 : times.end.instant - times.start.instant;
  return { ...start, at: new Date(findInstant(start, zone) + length).toISOString() };
}

function buildChanged(
  before: Component,
  change: EventChange,
  { start, end, how }: { start: EventTime; end: EventTime; how: Changing },
): Component {
  const without = ["dtstamp", "last-modified", "sequence"];
  const add: Property[] = [
    ["dtstamp", {}, "date-time", `${formatWallTime(how.now)}Z`],
    ["last-modified", {}, "date-time", `${formatWallTime(how.now)}Z`],
    ["sequence", {}, "integer", readSequence(before) + 1],
  ];
  const replace = (names: readonly string[], properties: readonly Property[]) => {
    without.push(...names);
    add.push(...properties);
  };
  if (change.start || change.end)
    replace(
      ["dtstart", "dtend", "duration"],
      [buildTimeProperty("dtstart", start), buildTimeProperty("dtend", end)],
    );
  if (change.title !== undefined) replace(["summary"], buildTextProperties({ summary: change.title }));
  if (change.location !== undefined)
    replace(["location"], buildTextProperties({ location: change.location }));
  if (change.description !== undefined)
    replace(["description"], buildTextProperties({ description: change.description }));
  if (change.visibility !== undefined) replace(["class"], buildVisibility(change.visibility));
  if (change.recurrence !== undefined)
    replace(["rrule"], change.recurrence === "" ? [] : [buildRuleProperty(change.recurrence, start)]);
  const attendees =
    change.attendees ??
    findProperties(before, "attendee").flatMap((property) => readMailto(property[3]) ?? []);
  if (attendees.length > 0 || change.attendees)
    replace(
      ["attendee", "organizer"],
      [
        ...buildPeople(attendees, { notify: change.notify, writing: how, before }),
        // A room or somebody without a mail address stays, unless the list is replaced.
        ...(change.attendees
          ? []
          : findProperties(before, "attendee").filter((property) => readMailto(property[3]) === undefined)),
      ],
    );
  return replaceProperties(before, without, add);
}

/** One occurrence as an event of its own: the one that differs already, or one made from the series. */
function cutOccurrence(series: Series, key: string, zone: string): Component | undefined {
  const known = mapOverrides(series, zone).get(key);
  const { master } = series;
  const times = master && readTimes(master, { zones: series.zones, zone });
  const place = parseWall(key);
  if (known || !master || !times || !place) return known;
  const at = moveTimes(times, place.isDay ? place.wall : times.start.clock.toWall(place.wall));
  if (buildKey(at.start) !== key) return undefined;
  const start = findProperty(master, "dtstart");
  if (!start) return undefined;
  return replaceProperties(
    master,
    ["rrule", "rdate", "exdate", "exrule", "dtstart", "dtend", "duration"],
    [
      writeLikeStart(start, "recurrence-id", at.start.wall),
      writeLikeStart(start, "dtstart", at.start.wall),
      ...(findProperty(master, "dtend")
        ? [buildTimeProperty("dtend", toEventTime(at.end))]
        : findProperties(master, "duration")),
    ],
  );
}

/** A series without one occurrence; raises `params` if the key names none. */
export function removeOccurrence(series: Series, key: string, zone: string): Series {
  const overrides = [...mapOverrides(series, zone)].filter(([other]) => other !== key).map(([, one]) => one);
  const { master } = series;
  if (!master) return { ...series, overrides };
  const times = readTimes(master, { zones: series.zones, zone });
  const start = findProperty(master, "dtstart");
  const place = parseWall(key);
  if (!times || !start || !place)
    throw new ToolFault("params", `${findText(master, "uid")} has no occurrence ${key}`);
  const wall = place.isDay ? place.wall : times.start.clock.toWall(place.wall);
  return {
    ...series,
    overrides,
    master: replaceProperties(master, [], [writeLikeStart(start, "exdate", wall)]),
  };
}

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
function moveRest(series: Series, move: Move, how: { readonly zone: string }): Series {
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
    return { ...series, overrides: [], master: replaceProperties(master, hanging, rules) };
  const moved = (component: Component, name: string): Property[] =>
    findProperties(component, name).flatMap((property) => {
      const [, , , ...values] = property;
      const moments = values.flatMap((value) => readMoment(property, [value].flat()[0], reading) ?? []);
      return moments.length > 0 ? [moveDates(name, moments, shift, start)] : [];
    });
  const overrides = series.overrides.map((override) =>
    replaceProperties(override, ["recurrence-id"], moved(override, "recurrence-id")),
  );
  const dates = [...moved(master, "rdate"), ...moved(master, "exdate")];
  return { ...series, overrides, master: replaceProperties(master, hanging, [...rules, ...dates]) };
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
    return [
      name,
      {},
      "date",
      ...moments.map(({ wall }) => formatWallDay(wall + Math.round(by / DAY_MS) * DAY_MS)),
    ];
  const walls = moments.map((moment) => (from.isDay ? moment.wall : from.clock.toWall(moment.instant)) + by);
  const [, parameters, type] = writeLikeStart(start, name, from.wall);
  return [name, parameters, type, ...walls.map((wall) => writeLikeStart(start, name, wall)[3])];
}

/** A property of the same form as the start: a day, a time in UTC, or one with the same TZID. */
function writeLikeStart(start: Property, name: string, wall: number): Property {
  const [, parameters, type, value] = start;
  const zulu = typeof value === "string" && value.endsWith("Z") ? "Z" : "";
  const { tzid } = parameters;
  const text = type === "date" ? formatWallDay(wall) : `${formatWallTime(wall)}${zulu}`;
  return [name, tzid === undefined ? {} : { tzid }, type, text];
}

function moveRule(property: Property, shift: Shift, start: EventTime): Property {
  const rule = parseRecurrence(writeRecurrence(property[3]));
  const value = { ...(typeof property[3] === "object" ? property[3] : {}), ...moveDay(rule, shift) };
  if (shift.from.isDay !== shift.to.isDay) return buildRuleProperty(writeRecurrence(value), start);
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

/** The end of a rule, moved so that the last start, which may be at that very second, stays one. */
function moveUntil(rule: RecurrenceRule, { from, to, by }: Shift): string | undefined {
  const until = rule.until === undefined ? undefined : parseWall(rule.until);
  if (!until) return undefined;
  if (until.isDay) return formatWallDay(until.wall + Math.round(by / DAY_MS) * DAY_MS);
  if (!until.isUtc) return formatWallTime(until.wall + by);
  if (from.isDay) return `${formatWallTime(until.wall + by)}Z`;
  return `${formatWallTime(to.clock.toInstant(from.clock.toWall(until.wall) + by))}Z`;
}
