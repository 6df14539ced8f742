import { readlinkSync } from "node:fs";

/** The machine's own zone. Its name is read from where systems keep it: to ask the locales for it costs several milliseconds at the start. */
export function findMachineZone(link = "/etc/localtime"): string {
  try {
    const name = /\/zoneinfo\/(?:Etc\/(?=UTC$))?([\w+-]+(?:\/[\w+-]+)*)$/.exec(readlinkSync(link))?.[1];
    if (name !== undefined) return name;
  } catch {
    // Not every system has it.
  }
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Null for a name that is no zone; remembered, because making a format is slow. */
function createFormat(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  let format: Intl.DateTimeFormat | null = null;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    format = null;
  }
  if (formats.size > 1_000) formats.clear();
  formats.set(zone, format);
  return format;
}

/** Whether this is the IANA name of a zone that is known here. */
export function isZone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && createFormat(name) !== null;
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds; 0 for an unknown zone. */
export function offsetAt(zone: string, instantMs: number): number {
  const format = createFormat(zone);
  if (!format || zone === "UTC") return 0;
  const parts: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(instantMs)) parts[type] = value;
  const year = parts.era?.startsWith("B") ? 1 - Number(parts.year) : Number(parts.year);
  const wall = new Date(0);
  wall.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  wall.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  return wall.getTime() - Math.floor(instantMs / 1000) * 1000;
}

/** What the clocks of a zone show at an instant, read as if it were UTC. */
export function instantToWall(zone: string, instantMs: number): number {
  return instantMs + offsetAt(zone, instantMs);
}

/** When the clocks of a zone show this: the first time if they show it twice, with the older offset if never. */
export function wallToInstant(zone: string, wallMs: number): number {
  const before = offsetAt(zone, wallMs - DAY_MS);
  const after = offsetAt(zone, wallMs + DAY_MS);
  if (before === after) return wallMs - before;
  if (offsetAt(zone, wallMs - before) === before) return wallMs - before;
  if (offsetAt(zone, wallMs - after) === after) return wallMs - after;
  return wallMs - before;
}

/** An instant as ISO 8601 with the zone's offset: `2026-11-17T14:00:00+01:00`. */
export function isoWithOffset(instantMs: number, zone: string): string {
  const minutes = Math.round(offsetAt(zone, instantMs) / 60_000);
  const size = Math.abs(minutes);
  const local = new Date(instantMs + minutes * 60_000).toISOString().slice(0, 19);
  return `${local}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
