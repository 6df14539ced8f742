import type { Assessment } from "@retinue/core/schema/intent";
import type { OfflineCall, OfflineMove, PastCall, Procedure, Situation } from "../procedure.ts";
import { taskText } from "../read-conversation.ts";
import {
  CALENDAR_PATTERNS,
  describeConflict,
  describeFoundEvent,
  readCalendar,
  summariseCalendar,
} from "./calendar.ts";
import { type CallData, describeFailedCall, findData, readField, readList } from "./call-data.ts";
import { findHostileSign } from "./cautions.ts";
import { CONTACTS_PATTERNS, readContacts, summariseContacts } from "./contacts.ts";
import {
  buildAssessment,
  DOMAINS,
  type Domain,
  type DomainReading,
  doubt,
  type IntentPattern,
  isDoubt,
  isWrite,
  routeDomain,
} from "./domains.ts";
import { EMAIL_PATTERNS, readEmail, summariseEmail } from "./email.ts";
import { readSlack, SLACK_PATTERNS, summariseSlack } from "./slack.ts";
import type { Now } from "./when.ts";
import { MAX_REQUEST_CHARS, readWording, type Wording } from "./wording.ts";

/** How the four domain agents work without a model: the same rules read the request in every phase, so the plan stays what it was. */
export const domainProcedures: readonly Procedure[] = DOMAINS.map((domain) => ({
  agents: [domain],
  next: (situation) => nextMove(domain, situation),
}));

function nextMove(domain: Domain, situation: Situation): OfflineMove {
  const { calls, phase } = situation;
  const assessment = assessmentIn(domain, situation);
  if (phase === "assess") return { say: JSON.stringify(assessment) };
  if (phase === "format") return { say: summariseWork(domain, assessment, calls) };
  if (phase === "execute") return takeNextStep(assessment, calls);
  // An agent of that name whose file does not ask for phases.
  if (assessment.status === "failed") return { cannot: assessment.notes };
  const move = takeNextStep(assessment, calls);
  return "calls" in move && !situation.wrapUp ? move : { say: summariseWork(domain, assessment, calls) };
}

/** Rules do not look at a clock: the same conversation is always read in the same way. */
function assessmentIn(domain: Domain, { task, now, timezone }: Situation): Assessment {
  const text = taskText(task);
  if (!now)
    return buildAssessment(
      domain,
      text,
      doubt("the current time", "The prompt does not say what time it is."),
    );
  return assess(domain, text, { now, ...(timezone && { timezone }) });
}

/** What the rules know of each domain: the requests it takes, how they are read, and what is said of the calls. */
export const DOMAIN_RULES: Readonly<
  Record<
    Domain,
    {
      readonly patterns: readonly IntentPattern[];
      read(wording: Wording, at: Now): DomainReading;
      summarise(calls: readonly PastCall[]): string;
    }
  >
> = {
  email: { patterns: EMAIL_PATTERNS, read: readEmail, summarise: summariseEmail },
  calendar: { patterns: CALENDAR_PATTERNS, read: readCalendar, summarise: summariseCalendar },
  contacts: { patterns: CONTACTS_PATTERNS, read: readContacts, summarise: summariseContacts },
  slack: { patterns: SLACK_PATTERNS, read: readSlack, summarise: summariseSlack },
};

/** What a domain agent makes of a request: a plan whose every value stands in the request, or what is missing. */
export function assess(domain: Domain, text: string, at: Now): Assessment {
  return buildAssessment(domain, text, readDomainRequest(domain, text, at));
}

function readDomainRequest(domain: Domain, text: string, at: Now): DomainReading {
  if (text.length > MAX_REQUEST_CHARS)
    return doubt("a short request", `The request has ${text.length} characters.`);
  const hostile = findHostileSign(text);
  if (hostile) return hostile;
  const request = readWording(text);
  if (request.head === "") return doubt("a request", "The request is empty.");
  const other = routeDomain(request.head);
  if (other !== undefined && other !== domain)
    return doubt(`a request for the ${domain} agent`, `This is work for the ${other} agent.`);
  const reading = DOMAIN_RULES[domain].read(request, at);
  if (isDoubt(reading) || !reading.tools.some(isWrite)) return reading;
  // What is said after the first sentence may take the order back or add another, which one plan cannot hold.
  return /[.!?]\s+\S/.test(removeText(request, reading))
    ? doubt("one request", "The request has more than one sentence.")
    : reading;
}

/** The head without the text to be sent, which may have as many sentences as it likes. */
function removeText(
  { head, restore }: Wording,
  { params }: Exclude<DomainReading, { missing: unknown }>,
): string {
  const texts = [params.body, params.text, params.title, params.subject].filter(
    (each) => typeof each === "string",
  );
  const plain = restore(head).toLowerCase();
  return texts
    .reduce((rest, text) => rest.replace(text.toLowerCase(), ""), plain)
    .replace(/\b(?:[ap]\.m|dr|mr|mrs|ms|st|no)\./gi, "");
}

/** Which parameters of a plan each tool takes. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  gmail_send_email: ["recipients", "subject", "body", "cc", "bcc"],
  gmail_create_draft: ["recipients", "subject", "body", "cc", "bcc"],
  gmail_search_messages: ["query", "from", "to", "after", "before", "unread", "has_attachment", "limit"],
  gmail_get_message: ["message_id"],
  gmail_reply_to_message: ["message_id", "body", "reply_all"],
  gmail_get_delivery_status: ["message_id"],
  calendar_create_event: [
    "title",
    "datetime",
    "duration_minutes",
    "attendees",
    "location",
    "recurrence",
    "notify",
  ],
  calendar_check_availability: ["datetime", "duration_minutes", "attendees"],
  calendar_list_events: ["start", "end", "time_range", "query", "limit"],
  calendar_update_event: ["event_id", "title", "datetime", "duration_minutes"],
  calendar_delete_event: ["event_id"],
  contacts_search: ["query", "name", "organization", "email", "fields"],
  contacts_get_by_id: ["contact_id"],
  contacts_list_organizations: ["query"],
  contacts_validate_email: ["email"],
  slack_get_channel_messages: ["channel", "time_range", "limit"],
  slack_search_messages: ["query", "channel", "from"],
  slack_get_thread_replies: ["channel", "thread_ts"],
  slack_analyze_conversation: ["channel", "time_range"],
  slack_get_user_info: ["user"],
  slack_post_message: ["channel", "text"],
};

/** What a call needs of an earlier one: parameters, more time, or the reason why it cannot be made. */
type Need = { params: CallData } | { waits: true } | { stop: string };

/** Makes the calls of a plan in their order, those that need nothing of each other at once; says why when one cannot be made. */
function takeNextStep(assessment: Assessment, calls: readonly PastCall[]): OfflineMove {
  const { sequence, params } = assessment;
  const failed = calls.findLast(({ failed }) => failed);
  if (failed) return { say: describeFailedCall(failed) };
  const ready: OfflineCall[] = [];
  for (const tool of sequence) {
    if (calls.some((call) => call.tool === tool)) continue;
    const need = findNeed(tool, assessment, calls);
    if ("waits" in need) break;
    if ("stop" in need) return ready.length > 0 ? { calls: ready } : { say: need.stop };
    ready.push({ tool, input: pick(tool, { ...params, ...need.params }) });
  }
  return ready.length > 0 ? { calls: ready } : { say: "Every planned call was made." };
}

function pick(tool: string, params: CallData): CallData {
  const keys = KEYS[tool] ?? [];
  return Object.fromEntries(keys.flatMap((key) => (params[key] === undefined ? [] : [[key, params[key]]])));
}

function findNeed(tool: string, { sequence, params }: Assessment, calls: readonly PastCall[]): Need {
  if (tool === "calendar_create_event")
    return sequence.includes("calendar_check_availability") ? checkFreeTime(params, calls) : { params: {} };
  if (tool === "calendar_update_event" || tool === "calendar_delete_event")
    return findOneEvent(params, calls);
  const takesMessage = KEYS[tool]?.includes("message_id") === true && params.message_id === undefined;
  return takesMessage ? findOneMessage(params, calls) : { params: {} };
}

/** Nothing is booked over another event, unless the request says so. */
function checkFreeTime(params: CallData, calls: readonly PastCall[]): Need {
  if (!calls.some(({ tool }) => tool === "calendar_check_availability")) return { waits: true };
  const data = findData(calls, "calendar_check_availability");
  if (params.anyway === true || data?.available === true) return { params: {} };
  return {
    stop: data
      ? `Not created: ${describeConflict(data)}`
      : "Not created: the availability could not be read.",
  };
}

/** The event that was looked for, if it is one; of several, the one of exactly that name. */
function findOneEvent({ query }: CallData, calls: readonly PastCall[]): Need {
  if (!calls.some(({ tool }) => tool === "calendar_list_events")) return { waits: true };
  const events = readList(findData(calls, "calendar_list_events"), "events");
  const named = events.filter(
    (event) => readField(event, "title").toLowerCase() === String(query).toLowerCase(),
  );
  const [event, ...others] = named.length > 0 ? named : events;
  if (!event) return { stop: `Nothing was changed: no event was found for '${String(query)}'.` };
  if (others.length > 0)
    return {
      stop: `Nothing was changed: ${others.length + 1} events fit '${String(query)}': ${[event, ...others].slice(0, 5).map(describeFoundEvent).join("; ")}.`,
    };
  return { params: { event_id: readField(event, "event_id") } };
}

/** The message that was sent, or the one that was looked for: the newest if only one was wanted, else the only one. */
function findOneMessage({ limit, from, to }: CallData, calls: readonly PastCall[]): Need {
  const sent = readField(findData(calls, "gmail_send_email"), "message_id");
  if (sent) return { params: { message_id: sent } };
  if (!calls.some(({ tool }) => tool === "gmail_search_messages")) return { waits: true };
  const found = readList(findData(calls, "gmail_search_messages"), "messages");
  const messages = found.toSorted(
    (a, b) => Date.parse(readField(b, "date")) - Date.parse(readField(a, "date")),
  );
  const [message, ...others] = messages;
  const whom = typeof from === "string" ? ` from ${from}` : typeof to === "string" ? ` to ${to}` : "";
  if (!message) return { stop: `No message${whom} was found.` };
  if (others.length > 0 && limit !== 1)
    return {
      stop: `${messages.length} messages${whom} fit, so none was taken: ${messages.map((one) => `'${readField(one, "subject")}'`).join(", ")}.`,
    };
  return { params: { message_id: readField(message, "message_id") } };
}

function summariseWork(domain: Domain, assessment: Assessment, calls: readonly PastCall[]): string {
  const faults = calls.filter(({ failed }) => failed).map(describeFailedCall);
  const open = takeNextStep(assessment, calls);
  const wasStopped =
    faults.length === 0 && assessment.sequence.some((tool) => !calls.some((call) => call.tool === tool));
  const stop = wasStopped && "say" in open && open.say ? open.say : "";
  const done = stop && domain === "calendar" ? "" : DOMAIN_RULES[domain].summarise(calls);
  const assumed = [...assessment.assumptions];
  return [done, ...faults, stop, ...assumed].filter(Boolean).join(" ") || "Nothing was done.";
}
