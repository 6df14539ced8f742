import type { PastCall } from "../procedure.ts";
import { type CallData, findData, MOST_SHOWN, readField, readList, readTexts } from "./call-data.ts";
import { findDoubt, isNoName } from "./cautions.ts";
import type { NamedPattern } from "./domains.ts";
import { type DomainReading, doubt } from "./domains.ts";
import { readNewEvent } from "./new-event.ts";
import { findPeople } from "./people.ts";
import { readDaySpan } from "./span.ts";
import {
  findHours,
  formatMoment,
  isPast,
  type Now,
  readClock,
  readWhen,
  shiftDate,
  speakSpan,
  type When,
} from "./when.ts";
import { QUOTE, type Wording } from "./wording.ts";

type CalendarIntent = "create" | "remind" | "check" | "list" | "update" | "delete";

export const CALENDAR_PATTERNS: readonly NamedPattern<CalendarIntent>[] = [
  {
    intent: "delete",
    pattern: /^(?:cancel|delete|remove|scrap|drop|kill|nix|ditch|call off)\b/i,
    tools: ["calendar_list_events", "calendar_delete_event"],
    riskLevel: "high",
  },
  {
    intent: "update",
    pattern:
      /^(?:move|push|bump|slide|delay|reschedule|shift|postpone|bring forward|rename|retitle|change|update)\b/i,
    tools: ["calendar_list_events", "calendar_update_event"],
    riskLevel: "medium",
  },
  {
    intent: "check",
    pattern: /check.*availability/i,
    tools: ["calendar_check_availability"],
    riskLevel: "low",
  },
  {
    intent: "check",
    pattern:
      /^(?:am i|are we|is \S+(?: \S+)?|will i be|check|see|find out|do i have (?:anything|something|time)|have i got (?:anything|time)|does \S+ have time)\b/i,
    tools: ["calendar_check_availability"],
    riskLevel: "low",
  },
  {
    intent: "remind",
    pattern: /^(?:remind me|set (?:me )?a reminder|add a reminder)\b/i,
    tools: ["calendar_create_event"],
    riskLevel: "medium",
  },
  {
    intent: "list",
    pattern:
      /^(?:list|show|what|which|when|display|get|give|how does|look at|tell me)\b.*\b(?:events?|meetings?|appointments?|calendar|agenda|schedule|day|week|happening|going on|planned|have i got|(?:i|i['’]ve) (?:got|have) on|on (?:today|tomorrow))\b/i,
    tools: ["calendar_list_events"],
    riskLevel: "low",
  },
  {
    intent: "create",
    pattern: /schedule.*meeting/i,
    tools: ["calendar_check_availability", "calendar_create_event"],
    riskLevel: "medium",
  },
  {
    intent: "create",
    pattern:
      /^(?:schedule|book|create|add|set up|set|arrange|organi[sz]e|plan|put|pencil in|block|grab|squeeze in|fit in|stick|do|have|invite|make|get)\b/i,
    tools: ["calendar_check_availability", "calendar_create_event"],
    riskLevel: "medium",
  },
];

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
export function readCalendar(request: Wording, at: Now): DomainReading {
  const found = CALENDAR_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found)
    return doubt("a request for the calendar", "No rule of the calendar agent knows this form of request.");
  const { intent, tools } = found;
  if (intent === "list") return readEventList(request, at);
  if (intent === "check") return readCheck(request, at);
  if (intent === "create" || intent === "remind") return readNewEvent(request, found, at);
  const caution = findDoubt(request.head);
  if (caution) return caution;
  return intent === "update" ? readChange(request, tools, at) : readEnd(request, tools, at);
}

function readCheck(request: Wording, at: Now): DomainReading {
  const head = request.head.replace(/\b(?:anything|something) on\b/i, "on");
  const when = readWhen(head, at);
  if (when.twoWays) return doubt("one time", `The time can be read in two ways: ${when.twoWays}.`);
  if (!when.time && !when.part && ABOUT_EVENTS.test(head) && !/availab|free|busy/i.test(head))
    return readEventList(request, at);
  if (!when.date && !when.time) return doubt("time", "The request does not say when.");
  const { params, assumptions } = chooseSlot(when, at);
  const phrase = WHOSE.map((form) => form.exec(head)?.[1]).find((each) => each !== undefined);
  const attendees = phrase ? findPeople(phrase).who : [];
  return {
    tools: ["calendar_check_availability"],
    risk: "low",
    params: { ...params, ...(attendees.length > 0 && { attendees }) },
    assumptions,
  };
}

function chooseSlot(
  when: When,
  at: Now,
): { params: Record<string, unknown>; assumptions: readonly string[] } {
  const date = when.date ?? at.now.slice(0, 10);
  const assumptions = [...when.assumptions, ...(when.date ? [] : ["No day was given; took today."])];
  if (when.time) {
    if (!when.minutes) assumptions.push("Assumed 60 minutes.");
    return {
      params: { datetime: formatMoment({ ...when, date }), duration_minutes: when.minutes ?? 60 },
      assumptions,
    };
  }
  const part = when.part ?? "day";
  const { time, minutes } = findHours(part);
  assumptions.push(`Took the ${part} as ${minutes / 60} hours from ${time}.`);
  return {
    params: { datetime: formatMoment({ ...when, date, time }), duration_minutes: minutes },
    assumptions,
  };
}

function readEventList(request: Wording, at: Now): DomainReading {
  const plain = request.head.replace(/\bwhat['’](?:s|ve)\b/i, "what");
  const span = readDaySpan(plain, at);
  const today = at.now.slice(0, 10);
  const words = /\b(today|tomorrow|this week)\b/i.exec(span?.words ?? "")?.[1]?.toLowerCase();
  const isDay = /\b(?:my|the) day\b/i.test(plain);
  const range =
    (words ?? (isDay && !span ? "today" : undefined))
      ? { time_range: words ?? "today" }
      : { start: span?.start ?? today, end: span?.end ?? shiftDate(today, 7) };
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
function findEventSlots(what: string, request: Wording, at: Now): Record<string, unknown> | string {
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
  return { query, start, end: shiftDate(start, when.date ? 1 : LOOKAHEAD_DAYS) };
}

function readChange(request: Wording, tools: readonly string[], at: Now): DomainReading {
  const renamed = RENAMED.exec(request.head)?.groups;
  const moved = renamed ? undefined : MOVED.exec(request.head)?.groups;
  const groups = renamed ?? moved;
  if (!groups)
    return doubt(["which event", "new time"], "The request does not say plainly what should change to what.");
  const slots = findEventSlots(groups.what ?? "", request, at);
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
  const datetime = formatMoment(when);
  if (isPast(datetime, at)) return doubt("a time to come", `${datetime} has passed.`);
  const length = when.minutes ? { duration_minutes: when.minutes } : {};
  return {
    tools,
    risk: "medium",
    params: { ...slots, datetime, ...length },
    assumptions: [...assumptions, ...when.assumptions],
  };
}

function readEnd(request: Wording, tools: readonly string[], at: Now): DomainReading {
  const slots = findEventSlots(ENDED.exec(request.head)?.groups?.what ?? "", request, at);
  if (typeof slots === "string") return doubt("which event", slots);
  const assumptions = [`Looked for the event from ${slots.start} up to ${slots.end}.`];
  return { tools, risk: "high", params: slots, assumptions };
}

const MOST_SLOTS = 3;

/** What the calendar's calls came to. */
export function summariseCalendar(calls: readonly PastCall[]): string {
  const made = findData(calls, "calendar_create_event");
  const changed = findData(calls, "calendar_update_event");
  const removed = findData(calls, "calendar_delete_event");
  const checked = findData(calls, "calendar_check_availability");
  if (made) return describeCreated(made);
  if (changed)
    return `Changed '${readField(changed, "title")}': now ${speakSpan(readField(changed, "datetime"), "")}.${describeAttendees(changed)}`;
  if (removed) return `Deleted '${readField(removed, "title")}'.`;
  if (checked) return describeAvailability(checked);
  const listed = findData(calls, "calendar_list_events");
  return listed ? describeEvents(listed) : "";
}

function describeCreated(event: CallData): string {
  const recurring = readField(event, "recurrence") ? ` It recurs (${readField(event, "recurrence")}).` : "";
  const place = readField(event, "location") ? ` Place: ${readField(event, "location")}.` : "";
  const conflicts = readList(event, "conflicts");
  const clash =
    conflicts.length > 0 ? ` It overlaps with ${conflicts.map(describeSpan).join("; ")}.` : " No conflicts.";
  return `Created '${readField(event, "title")}' on ${speakSpan(readField(event, "datetime"), readField(event, "end"))}.${describeAttendees(event)}${place}${recurring}${clash}`;
}

function describeAttendees(event: CallData): string {
  const attendees = readTexts(event, "attendees");
  return attendees.length > 0 ? ` ${attendees.length} invited: ${attendees.join(", ")}.` : "";
}

function describeAvailability(data: CallData): string {
  if (data.available !== true) return `Not free: ${describeConflict(data)}`;
  return `Free on ${speakSpan(readField(data, "start"), readField(data, "end"))}.${describeUnknown(data)}`;
}

/** What stands in the way of a time, and which times near it are free. */
export function describeConflict(data: CallData): string {
  const busy = readList(data, "busy").map(
    (one) =>
      `${readField(one, "who")} is busy ${readClock(readField(one, "start"))}-${readClock(readField(one, "end"))}`,
  );
  const reasons = [...readList(data, "conflicts").map(describeSpan), ...busy];
  const free = readList(data, "suggestions")
    .slice(0, MOST_SLOTS)
    .map((slot) => speakSpan(readField(slot, "start"), readField(slot, "end")));
  const when = speakSpan(readField(data, "start"), readField(data, "end"));
  const instead = free.length > 0 ? ` Free: ${free.join("; ")}.` : " No free time was found near it.";
  return `${when} conflicts with ${reasons.join("; ") || "another appointment"}.${instead}${describeUnknown(data)}`;
}

function describeUnknown(data: CallData): string {
  const unknown = readList(data, "unknown").map((one) => readField(one, "who"));
  return unknown.length > 0 ? ` Not known for ${unknown.join(", ")}.` : "";
}

function describeEvents(data: CallData): string {
  const events = readList(data, "events");
  const total = Number(data.total ?? events.length);
  if (events.length === 0) return "No events were found.";
  const more = total > MOST_SHOWN ? `; and ${total - MOST_SHOWN} more` : "";
  return `${total} ${total === 1 ? "event" : "events"}: ${events.slice(0, MOST_SHOWN).map(describeFoundEvent).join("; ")}${more}.`;
}

/** An event in a list. */
export function describeFoundEvent(event: CallData): string {
  return `'${readField(event, "title")}' ${speakSpan(readField(event, "datetime"), "")}`;
}

function describeSpan(span: CallData): string {
  const title = readField(span, "title");
  return `${title ? `'${title}'` : "an event"} (${readClock(readField(span, "start"))}-${readClock(readField(span, "end"))})`;
}
