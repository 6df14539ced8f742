import { doubt, type Reading } from "../assessment.ts";
import { CALENDAR_PATTERNS } from "../intent-patterns.ts";
import { doubtAbout, isNoName } from "../slots/cautions.ts";
import { addDays, isPast, momentOf } from "../slots/moment.ts";
import { peopleIn } from "../slots/people.ts";
import { QUOTE, type Request } from "../slots/request.ts";
import { readSpan } from "../slots/span.ts";
import { hoursOf, type Now, readWhen, type When } from "../slots/when.ts";
import { readNewEvent } from "./read-new-event.ts";

const PERSON =
  "\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+){0,2}|[\\w.%+-]+@[\\w.-]+\\w|(?:the |my |our )?team";
const WHOSE = [
  new RegExp(`\\b(?:of|with|for) ((?:${PERSON})(?:(?:, | and |, and )(?:${PERSON}))*)`, "u"),
  new RegExp(
    `^(?:is|are|does|check if|check whether|see if) ((?:${PERSON})(?:(?:, | and )(?:${PERSON}))*) (?:is|are|free|available|busy|have|has)`,
    "u",
  ),
];
const ABOUT_EVENTS = /\b(?:calendar|events?|agenda|meetings?|appointments?)\b/i;
const MOVED =
  /^(?:move|push|bump|slide|delay|reschedule|shift|postpone|bring forward|change|update)(?: back)? (?:the (?:time|date) of )?(?<what>.+?) (?:to|until|till) (?<when>.+)$/iu;
const RENAMED = new RegExp(
  `^(?:(?:rename|retitle)|change the (?:title|name) of) (?<what>.+?) (?:to|as) (?<title>${QUOTE}|[^\ue000]+)$`,
  "iu",
);
const ENDED = /^(?:cancel|delete|remove|scrap|drop|kill|nix|ditch|call off) (?<what>.+)$/iu;
const ARTICLES = /^(?:(?:the|my|our|that|this|a|an|event|events)\s+)+/i;
const GENERIC =
  /\b(?:events?|meetings?|appointments?|calls?|things?|one|entry|it|them|that|this|from (?:my|the|our) calendar|on (?:my|the|our) calendar|called|titled|named|old|new|other|last|latest|next|first|second|same|wrong|right|whole|rest|everything|anything|something|stuff)\b/gi;
const LOOKAHEAD_DAYS = 31;

/** What a request for the calendar wants done, and with what. */
export function readCalendar(request: Request, at: Now): Reading {
  const found = CALENDAR_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found)
    return doubt("a request for the calendar", "No rule of the calendar agent knows this form of request.");
  const { intent, tools } = found;
  if (intent === "list") return readList(request, at);
  if (intent === "check") return readCheck(request, at);
  if (intent === "create" || intent === "remind") return readNewEvent(request, found, at);
  const caution = doubtAbout(request.head);
  if (caution) return caution;
  return intent === "update" ? readChange(request, tools, at) : readEnd(request, tools, at);
}

function readCheck(request: Request, at: Now): Reading {
  const head = request.head.replace(/\b(?:anything|something) on\b/i, "on");
  const when = readWhen(head, at);
  if (when.twoWays) return doubt("one time", `The time can be read in two ways: ${when.twoWays}.`);
  if (!when.time && !when.part && ABOUT_EVENTS.test(head) && !/availab|free|busy/i.test(head))
    return readList(request, at);
  if (!when.date && !when.time) return doubt("time", "The request does not say when.");
  const { params, assumptions } = slotToCheck(when, at);
  const phrase = WHOSE.map((form) => form.exec(head)?.[1]).find((each) => each !== undefined);
  const attendees = phrase ? peopleIn(phrase).who : [];
  return {
    tools: ["calendar_check_availability"],
    risk: "low",
    params: { ...params, ...(attendees.length > 0 && { attendees }) },
    assumptions,
  };
}

function slotToCheck(
  when: When,
  at: Now,
): { params: Record<string, unknown>; assumptions: readonly string[] } {
  const date = when.date ?? at.now.slice(0, 10);
  const assumptions = [...when.assumptions, ...(when.date ? [] : ["No day was given; took today."])];
  if (when.time) {
    if (!when.minutes) assumptions.push("Assumed 60 minutes.");
    return {
      params: { datetime: momentOf({ ...when, date }), duration_minutes: when.minutes ?? 60 },
      assumptions,
    };
  }
  const part = when.part ?? "day";
  const { time, minutes } = hoursOf(part);
  assumptions.push(`Took the ${part} as ${minutes / 60} hours from ${time}.`);
  return { params: { datetime: momentOf({ ...when, date, time }), duration_minutes: minutes }, assumptions };
}

function readList(request: Request, at: Now): Reading {
  const plain = request.head.replace(/\bwhat['’](?:s|ve)\b/i, "what");
  const span = readSpan(plain, at);
  const today = at.now.slice(0, 10);
  const words = /\b(today|tomorrow|this week)\b/i.exec(span?.words ?? "")?.[1]?.toLowerCase();
  const isDay = /\b(?:my|the) day\b/i.test(plain);
  const range =
    (words ?? (isDay && !span ? "today" : undefined))
      ? { time_range: words ?? "today" }
      : { start: span?.start ?? today, end: span?.end ?? addDays(today, 7) };
  const about = new RegExp(
    `\\b(?:about|called|titled|with|named) (${QUOTE}|\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+)?)|(${QUOTE})`,
    "u",
  ).exec(plain);
  const query = about ? request.restore(about[1] ?? about[2] ?? "") : "";
  return {
    tools: ["calendar_list_events"],
    risk: "low",
    params: { ...range, ...(query && { query }) },
    assumptions: span || isDay ? [] : ["Looked at the next 7 days."],
  };
}

/** The words by which an event is looked for, and the days in which. */
function eventSlots(what: string, request: Request, at: Now): Record<string, unknown> | string {
  const quoted = new RegExp(QUOTE).exec(what)?.[0];
  const when = readWhen(what, at);
  if (when.twoWays) return `The day of the event can be read in two ways: ${when.twoWays}.`;
  const plain = when.rest
    .replace(ARTICLES, "")
    .replace(GENERIC, " ")
    .replace(/\b(?:with|for|about|on|at|in)\b/gi, " ");
  const words = quoted ?? plain;
  const query = request.restore(words).replace(/\s+/g, " ").trim();
  if (quoted && /[\p{L}\p{N}]/u.test(plain.replace(quoted, "")))
    return "The request says more than which event.";
  if (
    query === "" ||
    (!quoted && isNoName(plain)) ||
    /[?]|^(?:s|all|every.*)$/i.test(query) ||
    query.split(" ").length > 6 ||
    /\band\b/i.test(words)
  )
    return "The request does not say which event.";
  const today = at.now.slice(0, 10);
  const start = when.date ?? today;
  return { query, start, end: addDays(start, when.date ? 1 : LOOKAHEAD_DAYS) };
}

function readChange(request: Request, tools: readonly string[], at: Now): Reading {
  const renamed = RENAMED.exec(request.head)?.groups;
  const moved = renamed ? undefined : MOVED.exec(request.head)?.groups;
  const groups = renamed ?? moved;
  if (!groups)
    return doubt(["which event", "new time"], "The request does not say plainly what should change to what.");
  const slots = eventSlots(groups.what ?? "", request, at);
  if (typeof slots === "string") return doubt("which event", slots);
  const assumptions = [`Looked for the event from ${slots.start} up to ${slots.end}.`];
  if (renamed) {
    const title = request.restore(renamed.title ?? "");
    if (!new RegExp(`^${QUOTE}$`).test(renamed.title ?? "") && isNoName(title))
      return doubt("quotation marks around the title", "It is unclear where the title ends.");
    return { tools, risk: "medium", params: { ...slots, title }, assumptions };
  }
  const when = readWhen(groups.when ?? "", at);
  if (when.twoWays) return doubt("one time", `The time can be read in two ways: ${when.twoWays}.`);
  if (!when.date || !when.time)
    return doubt("new day and time", "The request does not say the new day and time.");
  if (/\p{L}{3,}/u.test(when.rest.replace(/\b(?:please|instead)\b/gi, "")))
    return doubt("a plain order", `The words '${when.rest}' are unclear.`);
  const datetime = momentOf(when);
  if (isPast(datetime, at)) return doubt("a time to come", `${datetime} has passed.`);
  const length = when.minutes ? { duration_minutes: when.minutes } : {};
  return {
    tools,
    risk: "medium",
    params: { ...slots, datetime, ...length },
    assumptions: [...assumptions, ...when.assumptions],
  };
}

function readEnd(request: Request, tools: readonly string[], at: Now): Reading {
  const slots = eventSlots(ENDED.exec(request.head)?.groups?.what ?? "", request, at);
  if (typeof slots === "string") return doubt("which event", slots);
  const assumptions = [`Looked for the event from ${slots.start} up to ${slots.end}.`];
  return { tools, risk: "high", params: slots, assumptions };
}
