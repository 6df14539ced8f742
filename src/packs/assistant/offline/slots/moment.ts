import type { Now, When } from "./when.ts";

const ZONE = /(?:Z|[+-]\d\d:\d\d)$/;
const DAY_MS = 86_400_000;

/** A time as tools take it: on the person's clock, or with the offset that was named; a bare date is a whole day. */
export function momentOf({ date, time, offset }: Pick<When, "date" | "time" | "offset">): string {
  return time ? `${date}T${time}:00${offset ?? ""}` : String(date);
}

/** Whether a time on the person's clock, or with an offset, is behind. A day is over when it ends. */
export function isPast(datetime: string, { now }: Now): boolean {
  const [offset = "Z"] = ZONE.exec(now) ?? [];
  const time = datetime.length > 10 ? datetime : `${datetime}T23:59:59`;
  return Date.parse(ZONE.test(time) ? time : `${time}${offset}`) < Date.parse(now);
}

/** A date so many days later. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The day of the week of a date, Sunday 0. */
export function weekdayOf(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay();
}

/** A date and time as a person writes them: `Tue 17 Nov 2026 14:00`. */
export function spokenTime(date: string, time?: string): string {
  const shown = new Date(`${date}T00:00:00Z`).toLocaleDateString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
  return `${shown.replace(",", "")}${time ? ` ${time}` : ""}`;
}

/** The clock of an ISO time; empty of a bare date. */
export function clockIn(iso: string): string {
  return /T(\d\d:\d\d)/.exec(iso)?.[1] ?? "";
}

/** A span as a person writes it: `Tue 17 Nov 2026 14:00-15:00`. */
export function spokenSpan(start: string, end: string): string {
  const from = /^\d{4}-\d\d-\d\d/.test(start) ? spokenTime(start.slice(0, 10), clockIn(start)) : start;
  return clockIn(end) && clockIn(start) ? `${from}-${clockIn(end)}` : from;
}
