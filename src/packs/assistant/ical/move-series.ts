import type { EventTime } from "../calendar/calendar-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { parseRule, ruleText, WEEKDAYS } from "../recurrence/rule.ts";
import { parseWall, wallDay, wallTime } from "../recurrence/wall.ts";
import { type Times, timesOf } from "./event-times.ts";
import { type Component, type Property, propertiesOf, propertyOf, withProperties } from "./jcal.ts";
import type { Series } from "./parse-calendar.ts";

/** What moves: the master as it will be, its times before, and its new start. */
type Move = { readonly after: Component; readonly times: Times; readonly start: EventTime };

/**
 * What hangs on the start of a series, moved with it: excluded dates, the places of occurrences that differ, and a
 * weekly rule's only weekday. If days become times or the reverse, single occurrences lose their place and go.
 */
export function movedRest(series: Series, move: Move, how: { readonly zone: string }): Series {
  const { master } = series;
  const to = timesOf(move.after, { zones: series.zones, zone: how.zone })?.start;
  if (!master || !to) return series;
  const from = move.times.start;
  const rule = propertyOf(master, "rrule");
  const rules = rule ? [movedRule(rule, from.wall, to.wall)] : [];
  if (from.isDay !== to.isDay)
    return { ...series, overrides: [], master: withProperties(master, ["rrule", "exdate"], rules) };
  const start = propertyOf(move.after, "dtstart");
  if (!start) return series;
  const shift = (property: Property): Property => shifted(property, start, to.wall - from.wall);
  const overrides = series.overrides.map((override) =>
    withProperties(override, ["recurrence-id"], propertiesOf(override, "recurrence-id").map(shift)),
  );
  const dates = propertiesOf(master, "exdate").map(shift);
  return { ...series, overrides, master: withProperties(master, ["rrule", "exdate"], [...rules, ...dates]) };
}

/** Dates written by the clock of the series, by the form of its new start. */
function shifted(property: Property, start: Property, delta: number): Property {
  const [name, , , ...values] = property;
  const { tzid } = start[1];
  const moved = values.flatMap((value) => {
    const wall = parseWall(value);
    if (!wall) return [];
    const at = wall.wall + delta;
    if (wall.isDay || start[2] === "date") return [wallDay(at)];
    return [`${wallTime(at)}${wall.isUtc ? "Z" : ""}`];
  });
  const isUtc = values.some((value) => parseWall(value)?.isUtc);
  return [name, tzid === undefined || isUtc || start[2] === "date" ? {} : { tzid }, start[2], ...moved];
}

function movedRule(property: Property, from: number, to: number): Property {
  const [oldDay, newDay] = [new Date(from).getUTCDay(), new Date(to).getUTCDay()];
  const rule = parseRule(ruleText(property[3]));
  if (oldDay === newDay || rule.days.length === 0) return property;
  const [only] = rule.days;
  if (rule.days.length > 1 || only?.weekday !== oldDay || only.nth !== 0)
    throw new ToolFault(
      "params",
      "the new start is on another weekday than the series' rule names; give its recurrence as well",
    );
  const value = typeof property[3] === "object" ? property[3] : {};
  return ["rrule", property[1], "recur", { ...value, byday: WEEKDAYS[newDay] }];
}
