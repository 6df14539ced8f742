/** A date or time as jCal writes it, before its zone is known. */
export type Wall = { readonly wall: number; readonly isDay: boolean; readonly isUtc: boolean };

const FORM = /^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})(Z?))?$/;

/** Reads `2026-11-17`, `2026-11-17T14:00:00`, with or without `Z`, dashes and colons; undefined if it is no date. */
export function parseWall(value: unknown): Wall | undefined {
  const [, year, month, day, hour, minute, second, zulu] =
    FORM.exec(typeof value === "string" ? value : "") ?? [];
  if (year === undefined || Number(year) < 1000) return undefined;
  const date = [Number(year), Number(month) - 1, Number(day)] as const;
  const midnight = Date.UTC(...date);
  const isReal =
    new Date(midnight).getUTCMonth() === date[1] && Number(hour ?? 0) < 24 && Number(minute ?? 0) < 60;
  if (!isReal) return undefined;
  const wall = Date.UTC(...date, Number(hour ?? 0), Number(minute ?? 0), Math.min(59, Number(second ?? 0)));
  return { wall, isDay: hour === undefined, isUtc: zulu === "Z" };
}

/** `2026-11-17` of a wall. */
export function wallDay(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}

/** `2026-11-17T14:00:00` of a wall. */
export function wallTime(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 19);
}

/** `20261117T130000Z` of an instant, or `20261117` of a day: names an occurrence within its series. */
export function occurrenceKey(ms: number, isDay: boolean): string {
  const text = new Date(ms).toISOString().replace(/[-:]/g, "");
  return isDay ? text.slice(0, 8) : `${text.slice(0, 15)}Z`;
}

const LENGTH = /^([+-]?)P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?$/;

/** Milliseconds of a duration such as `PT1H30M`; 0 if it is none or negative. */
export function durationMs(value: unknown): number {
  const [, sign, weeks, days, hours, minutes, seconds] =
    LENGTH.exec(typeof value === "string" ? value : "") ?? [];
  if (sign === undefined || sign === "-") return 0;
  const [w, d, h, m, s] = [weeks, days, hours, minutes, seconds].map((part) => Number(part ?? 0));
  return ((((w ?? 0) * 7 + (d ?? 0)) * 24 + (h ?? 0)) * 60 + (m ?? 0)) * 60_000 + (s ?? 0) * 1000;
}
