import { capitalise } from "./offline-words.ts";

/** When a request is read: ISO 8601 with the offset of the person's zone. */
export type Now = { readonly now: string };

/** The time of a request; any where the prompt names none, to see only whether the request can be read. */
export function readNow({ now = "2000-01-01T00:00:00+00:00" }: Partial<Now>): Now {
  return { now };
}

/** The words in the gaps of a sentence, with quotations put back. */
export type Gaps = Readonly<Record<string, string | undefined>>;

const DAY_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  few: 3,
};
const COUNT = "(?:\\d{1,3}|an?|one|two|three|four|five|six)";
const WEEKDAY = "(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?";
const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const DATE = `(?:\\d{4}-\\d\\d-\\d\\d|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}(?:,? \\d{4})?|${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?)`;
/** Source of the same pattern for words in any case, except in the gaps `{name}`. V8's own `(?i:…)` misses matches in long patterns. */
export function anyCase(source: string): string {
  return source.replace(/\\p\{\w+\}|\\u\w{4}|\\.|\(\?<\w+>|\[[^\]]*\]|\{\w+\}|[a-z]/g, (piece) =>
    /^[a-z]$/.test(piece) ? `[${piece}${piece.toUpperCase()}]` : piece,
  );
}

/** Source of a pattern for a day. */
export const DAY = anyCase(
  `(?:today|tomorrow|yesterday|(?:the )?day after tomorrow|${DATE}|${WEEKDAY},? ${DATE}|(?:next |this |coming |last )?${WEEKDAY}(?: next week)?)\\b`,
);
/** Source of a pattern for a stretch of days. */
export const SPAN = `(?:${anyCase(
  `(?:(?:this|next|last|past|coming) (?:week|month)|(?:the )?(?:last|past|next) (?:${COUNT}|few) (?:hours?|days?|weeks?|months?))\\b`,
)}|[sS]ince ${DAY}|[bB]etween ${DAY} and ${DAY}|${DAY})`;

const CLOCK = anyCase(
  "(?:noon|midnight|(?:1[0-2]|0?[1-9])(?::[0-5]\\d)? ?(?:a|p)\\.?m\\b\\.?|(?:[01]?\\d|2[0-3]):[0-5]\\d\\b)",
);
const HOUR = `(?:${CLOCK}|(?:1\\d|2[0-3]|\\d)\\b(?![:.]))`;
/** Sources of patterns for times and lengths, by gap. */
export const TIME: Readonly<Record<string, string>> = {
  clock: CLOCK,
  hour: HOUR,
  until: HOUR,
  duration: anyCase(`(?:${COUNT}|half an?)[ -](?:hours?|hrs?|minutes?|mins?)\\b`),
};
/** How a request tells a moment, as parts of a sentence. */
export const MOMENT_PARTS: readonly string[] = [
  "(?:on )?{day}",
  "(?:from|between) {hour} (?:to|and|until|till) {until}",
  "(?:at )?{clock}",
  "at {hour}",
  "(?:for )?{duration}",
];

/** A point in time as a request tells it, on the clock of the person's zone. */
export type Moment = {
  /** `2026-11-17`. */
  readonly date?: string;
  /** `14:00`. */
  readonly time?: string;
  readonly minutes?: number;
  readonly assumptions: readonly string[];
};

/** Reads the moment in the gaps of a sentence; a text says why it cannot be one. */
export function readWhen(gaps: Gaps, at: Now): Moment | string {
  const today = at.now.slice(0, 10);
  const { day, clock, hour, until, duration } = gaps;
  if (clock && hour) return "Two times are named.";
  const date = day === undefined ? undefined : readDay(day, today);
  if (date === null) return `'${day}' is no such day.`;
  const said = clock ?? hour;
  const time = said && readClockTime(said);
  const isAfternoon = said !== undefined && !until && isEarly(said);
  const minutes = until && time ? measure(time, readClockTime(until)) : duration ? countMinutes(duration) : 0;
  if (until && minutes <= 0) return "The time ends before it begins.";
  return {
    date,
    time: time && isAfternoon ? moveClock(time, 12) : time,
    minutes: minutes > 0 ? minutes : undefined,
    assumptions: [
      ...(day && isWeekday(day) ? [`Took '${day}' as ${date}.`] : []),
      ...(time && isAfternoon ? [`Took ${Number(time.slice(0, 2))} o'clock as ${moveClock(time, 12)}.`] : []),
    ],
  };
}

function isWeekday(words: string): boolean {
  return new RegExp(`^(?:(?:next|this|coming|last) )?${WEEKDAY}(?: next week)?$`, "i").test(words);
}

/** The date of a day: of a weekday the first to come; null if there is no such day. */
function readDay(words: string, today: string): string | null {
  const text = words.toLowerCase();
  const near =
    { yesterday: -1, today: 0, tomorrow: 1 }[text] ?? (text.endsWith("day after tomorrow") ? 2 : undefined);
  if (near !== undefined) return shiftDate(today, near);
  const index = DAY_NAMES.findIndex((day) => new RegExp(`\\b${day.slice(0, 3)}`).test(text));
  if (!isWeekday(text)) {
    const date = readDate(text, today);
    return date && (index < 0 || findWeekday(date) === index) ? date : null;
  }
  const ahead = (index - findWeekday(today) + 7) % 7;
  if (text.startsWith("last")) return shiftDate(today, ahead === 0 ? -7 : ahead - 7);
  if (text.endsWith("next week")) return shiftDate(findMonday(today), 7 + ((index + 6) % 7));
  return shiftDate(today, ahead === 0 && /^(?:next|coming)/.test(text) ? 7 : ahead);
}

/** A date with or without its year; without one, the next such day. */
function readDate(text: string, today: string): string | null {
  const [iso] = /\d{4}-\d\d-\d\d/.exec(text) ?? [];
  if (iso) return keepDate(iso);
  const month = MONTHS.findIndex((name) => new RegExp(`\\b${name}`).test(text)) + 1;
  const day = Number(/\b(\d{1,2})(?:st|nd|rd|th)?\b(?!\d)/.exec(text)?.[1]);
  const year = /\b\d{4}\b/.exec(text)?.[0];
  const write = (of: number) => `${of}-${pad(month)}-${pad(day)}`;
  const soon = write(Number(today.slice(0, 4)));
  return keepDate(year ? write(Number(year)) : soon < today ? write(Number(today.slice(0, 4)) + 1) : soon);
}

/** Null of a date that no calendar has. */
function keepDate(date: string): string | null {
  return Number.isNaN(Date.parse(date)) || shiftDate(date, 0) !== date ? null : date;
}

function readClockTime(words: string): string {
  if (/noon/i.test(words)) return "12:00";
  if (/midnight/i.test(words)) return "00:00";
  const [, hour = "0", minute = "00"] = /^(\d{1,2})(?::(\d\d))?/.exec(words) ?? [];
  const late =
    /p\.?m/i.test(words) && Number(hour) < 12 ? 12 : /a\.?m/i.test(words) && hour === "12" ? -12 : 0;
  return `${pad(Number(hour) + late)}:${minute}`;
}

/** `at 4` in a working day is the afternoon. */
function isEarly(words: string): boolean {
  return /^[1-7](?::\d\d)?$/.test(words);
}

function moveClock(time: string, hours: number): string {
  return `${pad(Number(time.slice(0, 2)) + hours)}${time.slice(2)}`;
}

function measure(from: string, to: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = [...from.split(":"), ...to.split(":")].map(Number);
  return c * 60 + d - (a * 60 + b);
}

function countMinutes(words: string): number {
  const [, count = "", unit = ""] = /^(.+?)[ -]((?:h|m)\w+)/i.exec(words) ?? [];
  const number = /^half/i.test(count) ? 0.5 : (NUMBERS[count.toLowerCase()] ?? Number(count));
  return Math.round(number * (/^h/i.test(unit) ? 60 : 1));
}

/** A stretch of days: from `start` up to and without `end`; `days` back from now where the words count them. */
type DaySpan = { readonly start: string; readonly end?: string; readonly days?: number };

/** The stretch of days that the words of a gap name; a text says why they name none. */
export function readSpan(words: string, at: Now): DaySpan | string {
  const today = at.now.slice(0, 10);
  const text = words.toLowerCase().replace(/^the /, "");
  const [, which = "", count, unit = ""] =
    /^(this|next|last|past|coming) (?:(\w+) )?(hour|day|week|month)s?$/.exec(text) ?? [];
  const isBack = /^(?:last|past)$/.test(which);
  if (count !== undefined) {
    const number = NUMBERS[count] ?? Number(count);
    const days =
      unit === "hour" ? Math.ceil(number / 24) : number * (unit === "week" ? 7 : unit === "month" ? 30 : 1);
    return isBack
      ? { start: shiftDate(today, -days), end: shiftDate(today, 1), days }
      : { start: today, end: shiftDate(today, days) };
  }
  if (unit === "week") {
    const start = shiftDate(findMonday(today), isBack ? -7 : which === "this" ? 0 : 7);
    return { start, end: shiftDate(start, 7), days: isBack ? 7 : undefined };
  }
  if (unit === "month") {
    const first = `${today.slice(0, 8)}01`;
    const start = isBack
      ? firstOfMonth(shiftDate(first, -1))
      : which === "this"
        ? first
        : firstOfMonth(shiftDate(first, 31));
    return { start, end: firstOfMonth(shiftDate(start, 31)), days: isBack ? 30 : undefined };
  }
  const [, since, from, to] = /^(?:since (.+)|between (.+) and (.+))$/.exec(text) ?? [];
  const last = since && isWeekday(since) && !since.startsWith("last") ? `last ${since}` : since;
  const start = readDay(last ?? from ?? words, today);
  const until = to === undefined ? start : readDay(to, today);
  if (start === null || until === null) return `'${words}' names no such day.`;
  if (last) return { start, days: Math.max(1, Math.round((Date.parse(today) - Date.parse(start)) / DAY_MS)) };
  const days = text === "yesterday" || text === "today" ? 1 : undefined;
  return { start, end: shiftDate(until, 1), days };
}

function firstOfMonth(date: string): string {
  return `${date.slice(0, 8)}01`;
}

function findMonday(date: string): string {
  return shiftDate(date, -((findWeekday(date) + 6) % 7));
}

function findWeekday(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay();
}

const DAY_MS = 86_400_000;

/** A date so many days later. */
export function shiftDate(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Whether a time on the person's clock is behind; a day is over when it ends. */
export function isPast(datetime: string, { now }: Now): boolean {
  const [offset = "Z"] = /(?:Z|[+-]\d\d:\d\d)$/.exec(now) ?? [];
  return Date.parse(`${datetime.length > 10 ? datetime : `${datetime}T23:59:59`}${offset}`) < Date.parse(now);
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

/** The clock of an ISO time; empty of a bare date. */
export function readClock(iso: string): string {
  return /T(\d\d:\d\d)/.exec(iso)?.[1] ?? "";
}

/** A span as a person writes it: `Tue 17 Nov 2026 14:00-15:00`. */
export function speakSpan(start: string, end: string): string {
  if (!/^\d{4}-\d\d-\d\d/.test(start)) return start;
  const date = start.slice(0, 10);
  const day = (DAY_NAMES[findWeekday(date)] ?? "").slice(0, 3);
  const month = MONTHS[Number(date.slice(5, 7)) - 1] ?? "";
  const said = `${capitalise(day)} ${Number(date.slice(8))} ${capitalise(month)} ${date.slice(0, 4)}`;
  const [from, to] = [readClock(start), readClock(end)];
  return `${said}${from && ` ${from}${to && `-${to}`}`}`;
}
