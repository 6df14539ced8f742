import { findInstant } from "../../service-tools/times.ts";
import { ToolFault } from "../../service-tools/tool-fault.ts";
import type { EventChange, EventTime } from "../calendar-provider.ts";
import { parseWall, wallDay, wallTime } from "./clock.ts";
import {
  type Component,
  findProperties,
  findProperty,
  findText,
  type Property,
  withProperties,
} from "./jcal.ts";
import { moveRest, writeLikeStart } from "./move-series.ts";
import { readSequence, type Series } from "./parse-calendar.ts";
import { readMailto } from "./read-event.ts";
import {
  buildKey,
  eventTime,
  findPlacedOverrides,
  mapOverrides,
  moveTimes,
  readTimes,
  type Times,
} from "./series-times.ts";
import {
  checkTimes,
  peopleProperties,
  ruleProperty,
  textProperties,
  timeProperty,
  visibilityProperties,
  type Writing,
  zonesFor,
} from "./write-event.ts";

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
  const [start, end] = newTimes(times, change, how.zone);
  const after = changed(before, change, { start, end, how });
  const zones = zonesFor(series.zones, change.start || change.end ? [start, end] : []);
  if (key === undefined) {
    if (!series.master) return { ...series, overrides: [after, ...series.overrides.slice(1)], zones };
    const hasNewRule = change.recurrence !== undefined;
    const moved = change.start ? moveRest(series, { after, times, start, hasNewRule }, how) : series;
    const whole = { ...moved, master: withRest(after, moved, change), zones };
    return change.start || hasNewRule ? { ...whole, overrides: findPlacedOverrides(whole, how.zone) } : whole;
  }
  const others = [...mapOverrides(series, how.zone)].filter(([other]) => other !== key).map(([, one]) => one);
  return { ...series, overrides: [...others, after], zones };
}

/** The master with the dates that hang on it as they moved, and the rule: as moved too, unless the change names another. */
function withRest(after: Component, { master }: Series, change: EventChange): Component {
  if (change.recurrence === "") return withProperties(after, ["exdate", "rdate"], []);
  if (!master || !change.start) return after;
  const rule = change.recurrence === undefined ? findProperty(master, "rrule") : findProperty(after, "rrule");
  return withProperties(
    after,
    ["exdate", "rdate", "rrule"],
    [...findProperties(master, "exdate"), ...findProperties(master, "rdate"), ...(rule ? [rule] : [])],
  );
}

function newTimes(times: Times, change: EventChange, zone: string): [EventTime, EventTime] {
  const start = change.start ?? eventTime(times.start);
  let end = change.end;
  if (!end && change.start) end = sameLength(times, change.start, zone);
  end ??= eventTime(times.end);
  checkTimes(start, end);
  return [start, end];
}

function sameLength(times: Times, start: EventTime, zone: string): EventTime {
  if (start.kind === "day") {
    const days = times.start.isDay ? times.end.wall - times.start.wall : 86_400_000;
    return { kind: "day", day: wallDay(Date.parse(start.day) + days) };
  }
  const length = times.start.isDay ? 3_600_000 : times.end.instant - times.start.instant;
  return { ...start, at: new Date(findInstant(start, zone) + length).toISOString() };
}

function changed(
  before: Component,
  change: EventChange,
  { start, end, how }: { start: EventTime; end: EventTime; how: Changing },
): Component {
  const without = ["dtstamp", "last-modified", "sequence"];
  const add: Property[] = [
    ["dtstamp", {}, "date-time", `${wallTime(how.now)}Z`],
    ["last-modified", {}, "date-time", `${wallTime(how.now)}Z`],
    ["sequence", {}, "integer", readSequence(before) + 1],
  ];
  const replace = (names: readonly string[], properties: readonly Property[]) => {
    without.push(...names);
    add.push(...properties);
  };
  if (change.start || change.end)
    replace(["dtstart", "dtend", "duration"], [timeProperty("dtstart", start), timeProperty("dtend", end)]);
  if (change.title !== undefined) replace(["summary"], textProperties({ summary: change.title }));
  if (change.location !== undefined) replace(["location"], textProperties({ location: change.location }));
  if (change.description !== undefined)
    replace(["description"], textProperties({ description: change.description }));
  if (change.visibility !== undefined) replace(["class"], visibilityProperties(change.visibility));
  if (change.recurrence !== undefined)
    replace(["rrule"], change.recurrence === "" ? [] : [ruleProperty(change.recurrence, start)]);
  const attendees =
    change.attendees ??
    findProperties(before, "attendee").flatMap((property) => readMailto(property[3]) ?? []);
  if (attendees.length > 0 || change.attendees)
    replace(
      ["attendee", "organizer"],
      [
        ...peopleProperties(attendees, { notify: change.notify, writing: how, before }),
        // A room or somebody without a mail address stays, unless the list is replaced.
        ...(change.attendees
          ? []
          : findProperties(before, "attendee").filter((property) => readMailto(property[3]) === undefined)),
      ],
    );
  return withProperties(before, without, add);
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
  return withProperties(
    master,
    ["rrule", "rdate", "exdate", "exrule", "dtstart", "dtend", "duration"],
    [
      writeLikeStart(start, "recurrence-id", at.start.wall),
      writeLikeStart(start, "dtstart", at.start.wall),
      ...(findProperty(master, "dtend")
        ? [timeProperty("dtend", eventTime(at.end))]
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
    master: withProperties(master, [], [writeLikeStart(start, "exdate", wall)]),
  };
}
