import { type Component, findParameter, findProperty, findText, parseComponents } from "./jcal.ts";

/** One event with its changed occurrences, and the zones it is written with. */
export type Series = {
  readonly uid: string;
  /** Absent if only single occurrences of the series were sent. */
  readonly master?: Component;
  /** Occurrences that differ, each with a RECURRENCE-ID. */
  readonly overrides: readonly Component[];
  readonly zones: readonly Component[];
};

const MAX_BYTES = 20_000_000;
const MAX_OVERRIDES = 2_000;
/** Every event is kept with its zones. The longest that are in use have some hundred changes of the clocks. */
const MAX_ZONE_CHARS = 100_000;

/**
 * The events of iCalendar text, by their UID. Something that cannot be read becomes a problem and hides nothing else.
 * Of two events with one UID the one with the higher SEQUENCE counts, else the later one.
 */
export async function parseCalendar(
  text: string,
): Promise<{ readonly series: readonly Series[]; readonly problems: readonly string[] }> {
  if (text.length > MAX_BYTES) return { series: [], problems: ["the calendar is larger than 20 MB"] };
  const { components, problems } = await parseComponents(text, "vcalendar", "VEVENT");
  const series = new Map<string, { master?: Component; overrides: Component[]; zones: Component[] }>();
  for (const calendar of components) {
    const written = calendar[2].filter(([name]) => name === "vtimezone");
    const zones = written.filter(isShort);
    for (const zone of written)
      if (!zones.includes(zone))
        problems.push(`the time zone ${findText(zone, "tzid")?.slice(0, 100)} is too long and was left out`);
    for (const event of calendar[2].filter(([name]) => name === "vevent")) {
      const uid = findText(event, "uid");
      if (uid === undefined || !findText(event, "dtstart")) {
        problems.push(
          `an event has no ${uid === undefined ? "UID" : "start"}: ${findText(event, "summary") ?? "no title"}`,
        );
        continue;
      }
      const one = series.get(uid) ?? { overrides: [], zones: [] };
      const used = usedZones(event);
      for (const zone of zones)
        if (used.has(findText(zone, "tzid") ?? "") && !one.zones.includes(zone)) one.zones.push(zone);
      if (findText(event, "recurrence-id") === undefined) {
        if (!one.master || readSequence(event) >= readSequence(one.master)) one.master = event;
      } else if (one.overrides.length < MAX_OVERRIDES) one.overrides.push(event);
      series.set(uid, one);
    }
  }
  if (components.length === 0 && problems.length === 0) problems.push("there is no calendar in it");
  return { series: [...series].map(([uid, one]) => ({ uid, ...one })), problems };
}

function isShort(zone: Component): boolean {
  try {
    return JSON.stringify(zone).length <= MAX_ZONE_CHARS;
  } catch {
    // It is nested deeper than calls can be.
    return false;
  }
}

function usedZones(event: Component): Set<string> {
  return new Set(event[1].flatMap((property) => findParameter(property, "tzid") ?? []));
}

/** How often the organiser changed an event. */
export function readSequence(event: Component | undefined): number {
  const value = event && findProperty(event, "sequence")?.[3];
  return typeof value === "number" ? value : 0;
}

/** Events as iCalendar text; what this program does not know of them is kept. */
export async function writeCalendar(series: readonly Series[]): Promise<string> {
  const { default: ical } = await import("ical.js");
  const zones = new Map<string, Component>();
  for (const { zones: own } of series) for (const zone of own) zones.set(findText(zone, "tzid") ?? "", zone);
  const events = series.flatMap(({ master, overrides }) => [...(master ? [master] : []), ...overrides]);
  const calendar: Component = [
    "vcalendar",
    [
      ["version", {}, "text", "2.0"],
      ["prodid", {}, "text", "-//Retinue//Assistant//EN"],
    ],
    [...zones.values(), ...events],
  ];
  return `${ical.stringify(calendar)}`.trimEnd().replace(/\r?\n/g, "\r\n").concat("\r\n");
}
