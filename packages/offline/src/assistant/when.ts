import { createRequire } from "node:module";
import type { ParsedResult } from "chrono-node";

/** When a request is read: the moment, with its offset, and the person's zone. */
export type Now = { readonly now: string; readonly timezone?: string };

/** A point in time as a request tells it, on the clock of the person's zone unless it names an offset. */
export type When = {
  /** `2026-11-17`; absent if the request names no day. */
  readonly date?: string;
  /** `14:00`; absent if it names none. */
  readonly time?: string;
  readonly minutes?: number;
  /** RRULE without its name. */
  readonly recurrence?: string;
  /** A part of a day such as `afternoon`, where no time is given. */
  readonly part?: DayPart;
  /** `+01:00`, if the request names a zone. */
  readonly offset?: string;
  readonly assumptions: readonly string[];
  /** Why the time can be read in two ways. */
  readonly twoWays?: string;
  /** What is left of the text without times. */
  readonly rest: string;
};

type DayPart = "morning" | "afternoon" | "evening" | "day";
type Chrono = { parse(text: string, reference: object, options: object): ParsedResult[] };

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const DAY_NAMES =
  "sun(?:day)?|mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?";
const WEEKDAY = new RegExp(
  `\\b(?:on )?(?:(next|this|coming|last|past) )?(${DAY_NAMES})(?:['’]s)?( next week| the week after next)?\\b(?!,? \\d{1,2}\\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))(?!,? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\\w* \\d)`,
  "gi",
);
const NEXT_WEEK_DAY = new RegExp(`\\bnext week(?:,| on)? (${DAY_NAMES})\\b`, "gi");
const AMBIGUOUS_DATE = /\b(\d{1,2})[/.](\d{1,2})[/.](?:\d{4}|\d{2})\b/;
const DURATION =
  /\b(?:for |lasting )?(?:about )?(\d+(?:\.\d+)?|an?|one|two|three|four|half an?|an? half)[ -]?(hours?|hrs?|h|minutes?|mins?|min)\b(?: long)?( and a half)?/i;
const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4 };
const EVERY = new RegExp(
  `\\bevery (other )?(day|weekday|week|month|(?:${DAY_NAMES})(?:(?:,| and|, and) (?:${DAY_NAMES}))*)\\b`,
  "i",
);
const ADVERB = /\b()()(daily|weekly|biweekly|monthly)\b/i;
const PARTS = /\b(?:in the |this )?(morning|afternoon|evening|all day)\b/i;
const PART_HOURS = { morning: 9, afternoon: 13, evening: 17, day: 9 } as const;
const PART_MINUTES = { morning: 180, afternoon: 240, evening: 180, day: 480 } as const;

let chrono: Chrono | undefined;

/** Reads days, times, lengths and recurrences out of a text. */
export function readWhen(text: string, at: Now): When {
  const assumptions: string[] = [];
  const today = at.now.slice(0, 10);
  const every = EVERY.exec(text) ?? ADVERB.exec(text);
  const recurrence = every ? readRule(every, today) : undefined;
  let rest = every ? withoutRule(text, every) : text;
  const length = DURATION.exec(rest);
  const spoken = length && !/\bin $/i.test(rest.slice(0, length.index)) ? length : null;
  if (spoken) rest = rest.replace(spoken[0], " ");
  const twoWays = explainAmbiguity(rest);
  rest = replaceDayNames(rest, today, assumptions, every !== null);
  rest = rest.replace(/\bbetween (\S+) and (\S+)/i, "from $1 to $2");
  const spans = parse(rest, at);
  const part = findDayPart(rest, spans);
  const read = mergeSpans(spans, part !== undefined, assumptions);
  for (const { text: span } of spans) rest = rest.replace(span, " ");
  rest = rest
    .replace(PARTS, " ")
    .replace(/\b(?:on|at|from|by|for|in)\s+(?=\b(?:on|at|from|with|for|in|about)\b|$|,)/gi, " ");
  const minutes = read.minutes ?? (spoken ? countMinutes(spoken) : undefined);
  const date = read.date ?? (recurrence && read.time ? today : undefined);
  return {
    ...read,
    ...(date && { date }),
    ...(minutes && { minutes }),
    ...(recurrence && { recurrence }),
    ...(part && !read.time && { part }),
    ...(twoWays && { twoWays }),
    ...(read.twoWays && { twoWays: read.twoWays }),
    assumptions,
    rest: rest
      .replace(/(?:^|\s)['’]s\b/g, " ")
      .replace(/\s+/g, " ")
      .trim(),
  };
}

/** The hours that a part of a day stands for. */
export function findHours(part: DayPart): { time: string; minutes: number } {
  return { time: `${pad(PART_HOURS[part])}:00`, minutes: PART_MINUTES[part] };
}

/** Loaded at the first time that is read; only English, which is a tenth of the whole. */
function parse(text: string, { now }: Now): ParsedResult[] {
  chrono ??= createRequire(import.meta.url)("chrono-node/en") as Chrono;
  const offset = /([+-])(\d\d):(\d\d)$/.exec(now);
  const timezone = offset ? Number(`${offset[1]}1`) * (Number(offset[2]) * 60 + Number(offset[3])) : 0;
  const reference = { instant: new Date(now), timezone };
  return chrono.parse(maskWords(text), reference, { forwardDate: true });
}

/** Addresses, channels and ids hold no times, though they may look like it; what stands for them has their length. */
function maskWords(text: string): string {
  return text.replace(/\S*[@#_]\S*|\ue000\d+\ue001/g, (word) => "_".repeat(word.length));
}

function explainAmbiguity(text: string): string | undefined {
  const [all, first = "", second = ""] = AMBIGUOUS_DATE.exec(text) ?? [];
  const separate = all?.includes("/") && Number(first) <= 12 && Number(second) <= 12 && first !== second;
  return separate ? `'${all}' can be read as two dates` : undefined;
}

/** Puts dates in the place of weekdays: the first such day to come. `next Tuesday` said on a Monday is tomorrow. */
function replaceDayNames(text: string, today: string, assumptions: string[], recurring: boolean): string {
  const monday = shiftDate(today, -((findWeekday(today) + 6) % 7));
  const inNextWeek = (name: string) => shiftDate(monday, 7 + ((dayIndex(name) + 6) % 7));
  const plain = text
    .replace(/\b(?:the )?day after tomorrow\b/gi, () => shiftDate(today, 2))
    .replace(NEXT_WEEK_DAY, (_, name: string) => ` on ${inNextWeek(name)}`);
  return plain.replace(WEEKDAY, (all, which: string | undefined, name: string, week: string | undefined) => {
    const short = name.length < 4;
    if (short && !/^[A-Z]/.test(name) && !which) return all;
    const ahead = (dayIndex(name) - findWeekday(today) + 7) % 7;
    if (which && /last|past/i.test(which)) return shiftDate(today, ahead === 0 ? -7 : ahead - 7);
    const days = ahead === 0 && which && /next|coming/i.test(which) ? 7 : ahead;
    const date = week ? inNextWeek(name) : shiftDate(today, days);
    if (!recurring) assumptions.push(`Took '${all.replace(/^on /i, "").trim()}' as ${date}.`);
    return ` on ${date}`;
  });
}

/** A weekday that recurs is also the first day; the other words say nothing more. */
function withoutRule(text: string, every: RegExpExecArray): string {
  const [all, , unit = ""] = every;
  const [first = ""] = unit.split(/,| and/, 1);
  return text.replace(all, dayIndex(first) >= 0 ? first : " ").replace(ADVERB, " ");
}

function dayIndex(name: string): number {
  if (!new RegExp(`^(?:${DAY_NAMES})$`, "i").test(name)) return -1;
  return DAYS.findIndex((day) => day.startsWith(name.toLowerCase().slice(0, 3)));
}

function readRule(match: RegExpExecArray, today: string): string {
  const [, other, unit = "", word = ""] = match;
  const step = other || /^biweekly$/i.test(word) ? ";INTERVAL=2" : "";
  const what = (unit || word).toLowerCase();
  if (/^(?:day|daily)$/.test(what)) return `FREQ=DAILY${step}`;
  if (what === "weekday") return "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";
  if (/^month/.test(what)) return `FREQ=MONTHLY;BYMONTHDAY=${Number(today.slice(8))}${step}`;
  if (/^(?:week|weekly|biweekly)$/.test(what)) return `FREQ=WEEKLY${step}`;
  const days = [...what.matchAll(new RegExp(`\\b(?:${DAY_NAMES})\\b`, "g"))];
  const codes = days.map(([name]) => (DAYS[dayIndex(name)] ?? "").slice(0, 2).toUpperCase());
  return `FREQ=WEEKLY;BYDAY=${codes.join(",")}${step}`;
}

function countMinutes([, count = "", unit = "", half]: RegExpExecArray): number {
  const number = /half/i.test(count) ? 0.5 : (NUMBERS[count.toLowerCase()] ?? Number(count));
  return Math.round((number + (half ? 0.5 : 0)) * (/^h/i.test(unit) ? 60 : 1));
}

function findDayPart(text: string, spans: readonly ParsedResult[]): DayPart | undefined {
  const said = PARTS.exec(text)?.[1]?.toLowerCase();
  if (spans.length === 0 && said !== "all day") return undefined;
  if (said === "morning" || said === "afternoon" || said === "evening") return said;
  return said === "all day" ? "day" : undefined;
}

type Read = Pick<When, "date" | "time" | "minutes" | "offset" | "twoWays">;

/** One moment out of the pieces that were found: a day here, a time there. */
function mergeSpans(spans: readonly ParsedResult[], hasPart: boolean, assumptions: string[]): Read {
  const days = spans.filter(({ start }) => hasDay(start));
  const times = spans.filter(({ start }) => start.isCertain("hour"));
  if (new Set(days.map(({ start }) => formatDate(start))).size > 1)
    return { twoWays: `two days are named: ${days.map(({ text }) => `'${text}'`).join(" and ")}` };
  const misnamed = days.find(({ start }) => isMisnamed(start));
  if (misnamed) return { twoWays: `'${misnamed.text}' is no such day of the week` };
  if (times.length > 1)
    return { twoWays: `two times are named: ${times.map(({ text }) => `'${text}'`).join(" and ")}` };
  const [day] = days;
  const [timed] = times;
  const read: Read = { ...(day && { date: formatDate(day.start) }) };
  if (!timed) return read;
  const late = timed.end?.isCertain("hour") ? timed.end : undefined;
  const shift = afternoonShift(timed, hasPart, assumptions);
  const time = formatClock(timed.start, shift);
  const minutes = late ? measureSpan(time, formatClock(late, (late.get("hour") ?? 0) < 12 ? shift : 0)) : 0;
  const zone = timed.start.isCertain("timezoneOffset") ? timed.start.get("timezoneOffset") : null;
  return {
    ...read,
    time,
    ...(minutes > 0 && { minutes }),
    ...(zone !== null && { offset: offsetText(zone) }),
  };
}

function hasDay(start: ParsedResult["start"]): boolean {
  return start.isCertain("day") || start.isCertain("weekday");
}

/** A day of the week that does not go with its date. */
function isMisnamed(start: ParsedResult["start"]): boolean {
  return (
    start.isCertain("weekday") &&
    start.isCertain("day") &&
    findWeekday(formatDate(start)) !== start.get("weekday")
  );
}

/** `at 4` in a working day is the afternoon. */
function afternoonShift({ start, text }: ParsedResult, hasPart: boolean, assumptions: string[]): number {
  const hour = start.get("hour") ?? 0;
  if (
    hasPart ||
    hour < 1 ||
    hour > 7 ||
    /\d\s*[ap]\.?m|\b0\d|\bnoon|midnight|hours?|minutes?|T\d/i.test(text)
  )
    return 0;
  assumptions.push(`Took ${hour} o'clock as ${hour + 12}:${pad(start.get("minute") ?? 0)}.`);
  return 12;
}

function formatDate(part: ParsedResult["start"]): string {
  return `${part.get("year")}-${pad(part.get("month") ?? 1)}-${pad(part.get("day") ?? 1)}`;
}

function formatClock(part: ParsedResult["start"], shift: number): string {
  return `${pad((part.get("hour") ?? 0) + shift)}:${pad(part.get("minute") ?? 0)}`;
}

function measureSpan(from: string, to: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = [...from.split(":"), ...to.split(":")].map(Number);
  return c * 60 + d - (a * 60 + b);
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}

const ZONE = /(?:Z|[+-]\d\d:\d\d)$/;
const DAY_MS = 86_400_000;

/** A time as tools take it: on the person's clock, or with the offset that was named; a bare date is a whole day. */
export function formatMoment({ date, time, offset }: Pick<When, "date" | "time" | "offset">): string {
  return time ? `${date}T${time}:00${offset ?? ""}` : String(date);
}

/** Whether a time on the person's clock, or with an offset, is behind. A day is over when it ends. */
export function isPast(datetime: string, { now }: Now): boolean {
  const [offset = "Z"] = ZONE.exec(now) ?? [];
  const time = datetime.length > 10 ? datetime : `${datetime}T23:59:59`;
  return Date.parse(ZONE.test(time) ? time : `${time}${offset}`) < Date.parse(now);
}

/** A date so many days later. */
export function shiftDate(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The day of the week of a date, Sunday 0. */
export function findWeekday(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay();
}

/** A date and time as a person writes them: `Tue 17 Nov 2026 14:00`. */
function speakTime(date: string, time?: string): string {
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
export function readClock(iso: string): string {
  return /T(\d\d:\d\d)/.exec(iso)?.[1] ?? "";
}

/** A span as a person writes it: `Tue 17 Nov 2026 14:00-15:00`. */
export function speakSpan(start: string, end: string): string {
  const from = /^\d{4}-\d\d-\d\d/.test(start) ? speakTime(start.slice(0, 10), readClock(start)) : start;
  return readClock(end) && readClock(start) ? `${from}-${readClock(end)}` : from;
}
