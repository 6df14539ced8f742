import { findWeekday, type Now, readWhen, shiftDate } from "./when.ts";

/** A stretch of days: from `start` up to and without `end`. */
export type DaySpan = {
  readonly start?: string;
  readonly end?: string;
  /** Days back from now, where the words count them. */
  readonly days?: number;
  /** The words themselves. */
  readonly words: string;
  /** What is left of the text. */
  readonly rest: string;
};

const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  couple: 2,
  few: 3,
};
const COUNTED =
  /\b(?:(?:in|over|from|within|during|for|of) )?(?:the )?(?:last|past) (\d+|two|three|four|five|six|couple of|few) (hours?|days?|weeks?|months?)\b/i;
const AHEAD =
  /\b(?:(?:in|over|for|of) )?(?:the )?(?:next|coming) (\d+|two|three|four|five|six|few) (days?|weeks?)\b/i;
const NAMED =
  /\b(?:(?:for|in|on|from|during|of|over|received|sent) )?(?:the )?(today|yesterday|tomorrow|(?:this|last|past|next|coming) (?:week|month)|the weekend|this weekend)\b(?:['’]s)?/i;
const BETWEEN = /\b(?:between|from) (\S+(?: \S+)?) (?:and|to|until|through) (\S+(?: \S+)?)/i;
const SINCE = /\b(?:since|after) (.+?)(?=$| (?:about|from|in|with|on) )/i;

/** The stretch of days that a text names, if it names one. */
export function readDaySpan(text: string, at: Now): DaySpan | undefined {
  const today = at.now.slice(0, 10);
  const without = (words: string) => ({ words, rest: text.replace(words, " ").replace(/\s+/g, " ").trim() });
  const counted = COUNTED.exec(text);
  if (counted) {
    const days = countDays(counted);
    return { start: shiftDate(today, -days), end: shiftDate(today, 1), days, ...without(counted[0]) };
  }
  const ahead = AHEAD.exec(text);
  if (ahead) return { start: today, end: shiftDate(today, countDays(ahead)), ...without(ahead[0]) };
  const since = SINCE.exec(text);
  if (since) {
    const start = sinceDay(since[1] ?? "", at);
    if (start) return { start, days: daysBetween(start, today), ...without(since[0]) };
  }
  const [between, first = "", last = ""] = BETWEEN.exec(text) ?? [];
  const [from, to] = [first, last].map((words) => readWhen(words, at).date);
  if (between && from && to) return { start: from, end: shiftDate(to, 1), ...without(between) };
  const named = NAMED.exec(text);
  if (named) return { ...findBounds((named[1] ?? "").toLowerCase(), today), ...without(named[0]) };
  const { date, rest, part } = readWhen(text, at);
  return date && !part ? { start: date, end: shiftDate(date, 1), words: date, rest } : undefined;
}

function countDays([, count = "", unit = ""]: RegExpExecArray): number {
  const number = NUMBERS[count.toLowerCase().replace(/ of$/, "")] ?? Number(count);
  if (/^hour/i.test(unit)) return Math.max(1, Math.ceil(number / 24));
  return number * (/^week/i.test(unit) ? 7 : /^month/i.test(unit) ? 30 : 1);
}

function findBounds(name: string, today: string): { start: string; end: string; days?: number } {
  const monday = shiftDate(today, -((findWeekday(today) + 6) % 7));
  const first = `${today.slice(0, 8)}01`;
  const from = (start: string, length: number) => ({ start, end: shiftDate(start, length) });
  if (name === "today") return { ...from(today, 1), days: 1 };
  if (name === "tomorrow") return from(shiftDate(today, 1), 1);
  if (name === "yesterday") return { ...from(shiftDate(today, -1), 1), days: 1 };
  if (name.endsWith("weekend")) return from(shiftDate(monday, 5), 2);
  if (name.endsWith("week"))
    return /^(?:last|past)/.test(name)
      ? { ...from(shiftDate(monday, -7), 7), days: 7 }
      : from(shiftDate(monday, /^(?:next|coming)/.test(name) ? 7 : 0), 7);
  if (/^(?:last|past)/.test(name)) return { start: monthStart(shiftDate(first, -1)), end: first, days: 30 };
  if (/^(?:next|coming)/.test(name)) {
    const next = monthStart(shiftDate(first, 31));
    return { start: next, end: monthStart(shiftDate(next, 31)) };
  }
  return { start: first, end: monthStart(shiftDate(first, 31)) };
}

function monthStart(date: string): string {
  return `${date.slice(0, 8)}01`;
}

function sinceDay(words: string, at: Now): string | undefined {
  const today = at.now.slice(0, 10);
  if (/^yesterday\b/i.test(words)) return shiftDate(today, -1);
  const named = /^(?:last )?(\w+day)\b/i.exec(words)?.[1];
  return readWhen(named ? `last ${named}` : words, at).date;
}

function daysBetween(from: string, to: string): number {
  return Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000));
}
