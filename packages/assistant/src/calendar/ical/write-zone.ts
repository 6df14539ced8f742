import { offsetAt } from "@retinue/core/text/zone";
import { wallTime } from "./clock.ts";
import type { Component, Property } from "./jcal.ts";
import { WEEKDAYS } from "./rule.ts";

/** No zone changes its clocks there and back within it. */
const STEP_MS = 5 * 86_400_000;
/** How many years are written out for a zone whose changes follow no yearly rule. */
const LISTED_YEARS = 10;

type Change = { readonly at: number; readonly from: number; readonly to: number };

/** A VTIMEZONE for a zone, right from the year before `year` on. */
export function writeZone(zone: string, year: number): Component {
  const first = year - 1;
  const changes = changesIn(zone, first);
  const byRule =
    changes.length === 2 && [first + 1, first + 5].every((later) => repeats(changes, zone, later));
  const listed = byRule
    ? changes
    : Array.from({ length: LISTED_YEARS }, (_, at) => changesIn(zone, first + at)).flat();
  const base = offsetAt(zone, Date.UTC(first, 0, 1));
  const observances = [
    ...(byRule ? [] : [observance({ at: Date.UTC(1970, 0, 1), from: base, to: base }, undefined)]),
    ...listed.map((change) => observance(change, byRule ? yearlyRule(change) : undefined)),
  ];
  return ["vtimezone", [["tzid", {}, "text", zone]], observances];
}

function observance(change: Change, rule: Record<string, unknown> | undefined): Component {
  const properties: Property[] = [
    ["dtstart", {}, "date-time", wallTime(change.at + change.from)],
    ["tzoffsetfrom", {}, "utc-offset", offsetText(change.from)],
    ["tzoffsetto", {}, "utc-offset", offsetText(change.to)],
    ...(rule ? [["rrule", {}, "recur", rule] satisfies Property] : []),
  ];
  return [change.to > change.from ? "daylight" : "standard", properties, []];
}

/** All changes of a zone's clocks in a year, to the second. */
function changesIn(zone: string, year: number): Change[] {
  const changes: Change[] = [];
  const end = Date.UTC(year + 1, 0, 1);
  let from = offsetAt(zone, Date.UTC(year, 0, 1));
  for (let begin = Date.UTC(year, 0, 1); begin < end; begin += STEP_MS) {
    const next = Math.min(end, begin + STEP_MS);
    const to = offsetAt(zone, next);
    if (to === from) continue;
    let [low, high] = [begin, next];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (offsetAt(zone, middle) === from) low = middle;
      else high = middle;
    }
    changes.push({ at: high, from, to });
    from = to;
  }
  return changes;
}

function repeats(changes: readonly Change[], zone: string, year: number): boolean {
  const later = changesIn(zone, year);
  return (
    later.length === changes.length &&
    changes.every((change, at) => {
      const other = later[at];
      return other !== undefined && ruleKey(change) === ruleKey(other);
    })
  );
}

function ruleKey(change: Change): string {
  const wall = new Date(change.at + change.from);
  return JSON.stringify([
    yearlyRule(change),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    change.from,
    change.to,
  ]);
}

/** The same weekday of the same month each year: the last one if it can be, else counted from the start. */
function yearlyRule(change: Change): Record<string, unknown> {
  const wall = new Date(change.at + change.from);
  const day = wall.getUTCDate();
  const daysInMonth = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate();
  const nth = day > daysInMonth - 7 ? -1 : Math.ceil(day / 7);
  return { freq: "YEARLY", bymonth: wall.getUTCMonth() + 1, byday: `${nth}${WEEKDAYS[wall.getUTCDay()]}` };
}

function offsetText(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${offsetMs < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
