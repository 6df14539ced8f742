import type { Rule } from "./rule.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function dayStart(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** Where the period of this number begins; the period of the first start has number 0. */
export function periodStart(rule: Rule, first: number, index: number): number {
  const date = new Date(first);
  const steps = index * rule.interval;
  switch (rule.frequency) {
    case "YEARLY":
      return Date.UTC(date.getUTCFullYear() + steps, 0, 1);
    case "MONTHLY":
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + steps, 1);
    case "WEEKLY":
      return dayStart(first) - ((date.getUTCDay() - rule.weekStart + 7) % 7) * DAY_MS + steps * 7 * DAY_MS;
    case "DAILY":
      return dayStart(first) + steps * DAY_MS;
    case "HOURLY":
      return Math.floor(first / HOUR_MS) * HOUR_MS + steps * HOUR_MS;
  }
}

function periodDays(rule: Rule, period: number): number {
  const date = new Date(period);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  if (rule.frequency === "YEARLY") return (Date.UTC(year + 1, 0, 1) - period) / DAY_MS;
  if (rule.frequency === "MONTHLY") return (Date.UTC(year, month + 1, 1) - period) / DAY_MS;
  return rule.frequency === "WEEKLY" ? 7 : 1;
}

/** The days of a period that the rule names, as walls of their midnight, in order. */
export function daysOfPeriod(rule: Rule, first: number, period: number): number[] {
  const days: number[] = [];
  const begin = dayStart(period);
  const count = periodDays(rule, period);
  for (let at = 0; at < count; at++) {
    const day = begin + at * DAY_MS;
    if (isNamed(rule, first, day)) days.push(day);
  }
  return days;
}

function isNamed(rule: Rule, first: number, day: number): boolean {
  const date = new Date(day);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  if (rule.months.length > 0 && !rule.months.includes(month + 1)) return false;
  const monthDay = date.getUTCDate();
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  if (!counts(rule.monthDays, monthDay, daysInMonth)) return false;
  const yearDay = (day - Date.UTC(year, 0, 1)) / DAY_MS + 1;
  const daysInYear = (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / DAY_MS;
  if (!counts(rule.yearDays, yearDay, daysInYear)) return false;
  if (rule.weeks.length > 0 && !isInWeeks(rule, day)) return false;
  if (rule.days.length > 0) {
    const inYear = rule.frequency === "YEARLY" && rule.months.length === 0;
    const place = inYear ? { at: yearDay, of: daysInYear } : { at: monthDay, of: daysInMonth };
    return isNamedWeekday(rule, date.getUTCDay(), place);
  }
  return isLikeFirst(rule, new Date(first), date);
}

/** Whether a list names this number, counted from the start or, negative, from the end; an empty list names all. */
function counts(list: readonly number[], at: number, of: number): boolean {
  return list.length === 0 || list.includes(at) || list.includes(at - of - 1);
}

function isNamedWeekday(rule: Rule, weekday: number, place: { at: number; of: number }): boolean {
  const nth = Math.ceil(place.at / 7);
  const fromEnd = -Math.ceil((place.of - place.at + 1) / 7);
  const counted = (rule.frequency === "YEARLY" || rule.frequency === "MONTHLY") && rule.weeks.length === 0;
  return rule.days.some(
    (day) => day.weekday === weekday && (day.nth === 0 || !counted || day.nth === nth || day.nth === fromEnd),
  );
}

/** What the rule leaves open is as at the first start: its day of the month, its month, or its weekday. */
function isLikeFirst(rule: Rule, first: Date, date: Date): boolean {
  const sameWeekday = first.getUTCDay() === date.getUTCDay();
  if (rule.frequency === "WEEKLY") return sameWeekday;
  if (rule.frequency === "DAILY" || rule.frequency === "HOURLY") return true;
  if (rule.monthDays.length > 0 || rule.yearDays.length > 0) return true;
  if (rule.weeks.length > 0) return sameWeekday;
  if (first.getUTCDate() !== date.getUTCDate()) return false;
  return rule.frequency === "MONTHLY" || rule.months.length > 0 || first.getUTCMonth() === date.getUTCMonth();
}

/** Weeks as RFC 5545 counts them: the first has at least four days of the year. */
function isInWeeks(rule: Rule, day: number): boolean {
  const weekBegin = (wall: number) => wall - ((new Date(wall).getUTCDay() - rule.weekStart + 7) % 7) * DAY_MS;
  const week = weekBegin(day);
  const year = new Date(week + 3 * DAY_MS).getUTCFullYear();
  const firstWeek = weekBegin(Date.UTC(year, 0, 4));
  const weeks = (weekBegin(Date.UTC(year + 1, 0, 4)) - firstWeek) / (7 * DAY_MS);
  return counts(rule.weeks, (week - firstWeek) / (7 * DAY_MS) + 1, weeks);
}
