import type { Risk } from "@retinue/core/schema/rights";
import { type CallData, findData, readField, readList, readTexts, tellList } from "./call-data.ts";
import type { OfflineCall, PastCall } from "./conversation.ts";
import { capitalise } from "./offline-words.ts";
import {
  type DomainRules,
  doubt,
  lookUp,
  type PlannedCall,
  type Reading,
  type SentenceForm,
  splitPeople,
} from "./read-request.ts";
import {
  type Gaps,
  isPast,
  MOMENT_PARTS,
  type Moment,
  type Now,
  readClock,
  readSpan,
  readWhen,
  shiftDate,
  speakSpan,
} from "./when.ts";

const NOUN =
  "(?<noun>(?:(?!and |or |it |them |\\S*(?:daily|weekly|monthly|yearly|recurring|regular) )[a-z-]+ )?(?:meeting|call|event|appointment|lunch|coffee|workshop|sync|review|standup|interview))";
const MAKE = "(?:schedule|book|set up|set|create|arrange|plan|add|organi[sz]e|pencil in)";
const EVENT_PARTS = [
  "with {people}",
  "(?:called|titled|named) {title}",
  ...MOMENT_PARTS,
  "(?:about|to discuss) (?:the |our |my )?{topic}",
  "(?:in|at) (?<room>(?:the )?(?:meeting )?room \\w+|the office)",
  "on (?<online>Zoom|Teams|Google Meet)",
  "(?:on|to|in) my calendar",
  "(?<silent>without sending invitations)",
  "(?<anyway>anyway)",
  "for (?:the )?{topic}",
];
const MOVED_PARTS = ["to {day}", "(?:to|at) {clock}", "at {hour}"];
const FOUND_PARTS = ["(?:on )?{day}", "with {person}", "(?:from|on|in) (?:my|the) calendar"];
const LIST_PARTS = ["(?:(?:on|for|in) )?(?:the )?{span}", "(?:about|called|with) (?:the )?{topic}"];
const EVENTS = "(?:events|meetings|appointments)";
const WHICH = "(?:(?:the|my) (?:event |meeting )?(?:called )?{what}|(?:event )?{quote})";

const create = (begins: string): SentenceForm => ({ begins, parts: EVENT_PARTS, read: readNewEvent });
const check = (begins: string): SentenceForm => ({ begins, parts: MOMENT_PARTS, read: readCheck });
const list = (begins: string): SentenceForm => ({ begins, parts: LIST_PARTS, read: readEventList });

/** What the calendar can be asked for. */
export const calendar: DomainRules = {
  example: "Schedule a meeting with Dana Ortiz on 2026-11-19 at 15:00 for 30 minutes",
  sentences: [
    create(`${MAKE} (?:an? |the )?(?:new |quick |short )?(?:{duration} )?${NOUN}`),
    create("(?:schedule|book|block) {duration}"),
    create("put (?:an? )?(?<noun>lunch|coffee|call|meeting)"),
    check("(?:am i|are we) (?:free|available|busy)"),
    check("check my availability"),
    check("check (?:the )?availability of {people}"),
    check("(?:is|are) {people} (?:free|available|busy)"),
    check("do i have (?:time|anything)"),
    check("(?:check|see|find out) if i(?:['’]m| am) (?:free|available|busy)"),
    {
      begins: "check",
      parts: MOMENT_PARTS,
      read: (gaps, at) => (gaps.clock || gaps.hour ? readCheck(gaps, at) : NO_TIME),
    },
    list("what(?:['’]s| is) on my (?:calendar|agenda|schedule)"),
    list(
      `(?:list|show|get|what are)(?: me)?(?: all)?(?: my| the)?(?: upcoming)? (?:${EVENTS}|calendar|agenda|schedule)`,
    ),
    list(`(?:what|which) ${EVENTS} do i have`),
    list("what do i have scheduled"),
    list("what(?:['’]s| is) my (?:schedule|agenda)"),
    list("when(?:['’]s| is) my next (?:meeting|event|appointment)"),
    { begins: `(?:move|reschedule|postpone|push|shift) ${WHICH}`, parts: MOVED_PARTS, read: readMove },
    { begins: `(?:rename|retitle) ${WHICH} to {title}`, read: readRename },
    { begins: `(?:cancel|delete|remove) ${WHICH}`, parts: FOUND_PARTS, read: readEnd },
  ],
  tellings: [
    ["calendar_create_event", describeCreated],
    [
      "calendar_update_event",
      (changed) =>
        `Changed '${readField(changed, "title")}': now ${speakSpan(readField(changed, "datetime"), "")}.${describeAttendees(changed)}`,
    ],
    ["calendar_delete_event", (removed) => `Deleted '${readField(removed, "title")}'.`],
    ["calendar_check_availability", describeAvailability],
    ["calendar_list_events", (data) => tellList(data, { list: "events", noun: "event" }, describeFoundEvent)],
  ],
};

const DEFAULT_MINUTES = 60;
const DAY_BEGINS = "09:00";
const DAY_MINUTES = 480;

const NO_TIME = doubt("time", "The request does not say when.");

/** A day and a time to come; or what is missing. */
function readStart(gaps: Gaps, at: Now): { moment: Moment; datetime: string } | ReturnType<typeof doubt> {
  const moment = readWhen(gaps, at);
  if (typeof moment === "string") return doubt("one time", moment);
  const missing = [...(moment.date ? [] : ["day"]), ...(moment.time ? [] : ["time"])];
  if (missing.length > 0)
    return { missing, why: `The request does not say the ${missing.join(" and the ")}.` };
  const datetime = `${moment.date}T${moment.time}:00`;
  return isPast(datetime, at) ? doubt("a time to come", `${datetime} has passed.`) : { moment, datetime };
}

function readNewEvent(gaps: Gaps, at: Now): Reading {
  const start = readStart(gaps, at);
  if ("missing" in start) return start;
  const { noun = "meeting", silent, anyway } = gaps;
  const { minutes, assumptions } = start.moment;
  const who = splitPeople(gaps.people);
  const named = gaps.title ?? gaps.topic ?? (noun.includes(" ") ? noun : undefined);
  const title = named ? capitalise(named) : makeTitle(noun, who);
  const wanted = {
    datetime: start.datetime,
    duration_minutes: minutes ?? DEFAULT_MINUTES,
    attendees: who.length > 0 ? who : undefined,
  };
  return {
    calls: [
      { tool: "calendar_check_availability", input: wanted },
      {
        tool: "calendar_create_event",
        input: {
          title,
          ...wanted,
          location: gaps.room ?? gaps.online,
          notify: silent ? false : undefined,
        },
        needs: (calls) => mustBeFree(calls, anyway !== undefined),
      },
    ],
    risk: who.length > 1 ? "high" : "medium",
    assumptions: [
      ...assumptions,
      ...(minutes ? [] : [`Assumed ${DEFAULT_MINUTES} minutes.`]),
      ...(named ? [] : [`Titled it '${title}'.`]),
    ],
    notes: "Conflicts are looked for before anything is created.",
  };
}

/** Nothing is booked over another event, unless the request says so. */
function mustBeFree(calls: readonly PastCall[], isWantedAnyway: boolean): Need {
  const found = findData(calls, "calendar_check_availability");
  if (!found) return null;
  return isWantedAnyway || found.available === true ? {} : `Not created: ${describeConflict(found)}`;
}

type Need = ReturnType<NonNullable<PlannedCall["needs"]>>;

function makeTitle(noun: string, who: readonly string[]): string {
  const kind = capitalise(noun === "event" ? "meeting" : noun);
  const [only] = who;
  if (who.length === 1 && only && /\bteam$/.test(only)) return `${capitalise(only)} ${kind}`;
  return who.length > 0 && who.length < 3 ? `${kind} with ${who.join(" and ")}` : kind;
}

function readCheck(gaps: Gaps, at: Now): Reading {
  const moment = readWhen(gaps, at);
  if (typeof moment === "string") return doubt("one time", moment);
  const { date = at.now.slice(0, 10), time, minutes } = moment;
  if (!moment.date && !time) return NO_TIME;
  const attendees = splitPeople(gaps.people);
  const usual = time ? DEFAULT_MINUTES : DAY_MINUTES;
  const assumptions = [
    ...moment.assumptions,
    ...(moment.date ? [] : ["No day was given; took today."]),
    ...(time && !minutes ? [`Assumed ${DEFAULT_MINUTES} minutes.`] : []),
    ...(time ? [] : [`Took the day as ${usual / 60} hours from ${DAY_BEGINS}.`]),
  ];
  const input = {
    datetime: `${date}T${time ?? DAY_BEGINS}:00`,
    duration_minutes: minutes ?? usual,
    attendees: attendees.length > 0 ? attendees : undefined,
  };
  return lookUp("calendar_check_availability", input, assumptions);
}

const DAYS_AHEAD = 7;

function readEventList({ span, topic }: Gaps, at: Now): Reading {
  const today = at.now.slice(0, 10);
  const days = span ? readSpan(span, at) : { start: today, end: shiftDate(today, DAYS_AHEAD) };
  if (typeof days === "string") return doubt("a day", days);
  const known = /^(?:today|tomorrow|this week)$/i.test(span ?? "");
  const range = known
    ? { time_range: span?.toLowerCase() }
    : { start: days.start, end: days.end ?? shiftDate(today, DAYS_AHEAD) };
  const assumptions = span ? [] : [`Looked at the next ${DAYS_AHEAD} days.`];
  return lookUp("calendar_list_events", { ...range, query: topic }, assumptions);
}

const GENERIC = /\b(?:events?|meetings?|appointments?|calls?|things?|one|entry)\b/gi;
/** Words that tell which of several events is meant, and are no part of its name. */
const WHICH_OF_SEVERAL =
  /\d|\b(?:morning|afternoon|evening|tonight|daily|weekly|monthly|first|second|previous|recent|latest|scheduled|planned|whole|entire)\b/i;
const LOOKAHEAD_DAYS = 31;

/** Looks for an event by its words and days, and does something with it if exactly one fits. */
function findEvent(
  { quote, what = quote ?? "", person, day }: Gaps,
  at: Now,
  { tool, input, risk, assumptions = [] }: Change,
): Reading {
  const query = [what.replace(GENERIC, " "), person ?? ""].join(" ").replace(/\s+/g, " ").trim();
  const moment = day ? readWhen({ day }, at) : undefined;
  if (query === "" || typeof moment === "string" || (!quote && WHICH_OF_SEVERAL.test(query)))
    return doubt("which event", "The request does not say which event.");
  const start = moment?.date ?? at.now.slice(0, 10);
  const end = shiftDate(start, day ? 1 : LOOKAHEAD_DAYS);
  return {
    calls: [
      { tool: "calendar_list_events", input: { start, end, query } },
      { tool, input, needs: (calls) => takeEvent(calls, query) },
    ],
    risk,
    assumptions: [`Looked for the event from ${start} up to ${end}.`, ...assumptions],
  };
}

/** What becomes of the event that is found. */
type Change = OfflineCall & { risk: Risk; assumptions?: readonly string[] };

/** The event that was looked for, if it is one; of several, the one of exactly that name. */
function takeEvent(calls: readonly PastCall[], query: string): Need {
  const found = findData(calls, "calendar_list_events");
  if (!found) return null;
  const events = readList(found, "events");
  const named = events.filter((event) => readField(event, "title").toLowerCase() === query.toLowerCase());
  const fitting = named.length > 0 ? named : events;
  const [event] = fitting;
  if (!event) return `Nothing was changed: no event was found for '${query}'.`;
  if (fitting.length > 1)
    return `Nothing was changed: ${fitting.length} events fit '${query}': ${fitting.slice(0, 5).map(describeFoundEvent).join("; ")}.`;
  return { event_id: readField(event, "event_id") };
}

function readMove(gaps: Gaps, at: Now): Reading {
  const start = readStart(gaps, at);
  if ("missing" in start) return { ...start, missing: start.missing.map((each) => `new ${each}`) };
  return findEvent({ ...gaps, day: undefined }, at, {
    tool: "calendar_update_event",
    input: { datetime: start.datetime },
    risk: "medium",
    assumptions: start.moment.assumptions,
  });
}

function readRename(gaps: Gaps, at: Now): Reading {
  return findEvent(gaps, at, { tool: "calendar_update_event", input: { title: gaps.title }, risk: "medium" });
}

function readEnd(gaps: Gaps, at: Now): Reading {
  return findEvent(gaps, at, { tool: "calendar_delete_event", input: {}, risk: "high" });
}

const MOST_SLOTS = 3;

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

/** What is in the way of a time, and which times near it are free. */
function describeConflict(data: CallData): string {
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

function describeFoundEvent(event: CallData): string {
  return `'${readField(event, "title")}' ${speakSpan(readField(event, "datetime"), "")}`;
}

function describeSpan(span: CallData): string {
  const title = readField(span, "title");
  return `${title ? `'${title}'` : "an event"} (${readClock(readField(span, "start"))}-${readClock(readField(span, "end"))})`;
}
