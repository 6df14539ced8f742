import type { Assessment } from "@retinue/core/intent/intent-shapes";
import { calendar, describeConflict, describeFoundEvent } from "./calendar.ts";
import { type CallData, describeFailedCall, findData, readField, readList } from "./call-data.ts";
import { contacts } from "./contacts.ts";
import {
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  type Situation,
  taskText,
} from "./conversation.ts";
import { email } from "./email.ts";
import { buildAssessment, type DomainRules, doubt, type Reading, readSentence } from "./read-request.ts";
import { slack } from "./slack.ts";
import type { Now } from "./when.ts";

/** The four areas that domain agents work in; also the agents' names. */
export const DOMAINS = ["email", "calendar", "contacts", "slack"] as const;

/** One of the four areas. */
export type Domain = (typeof DOMAINS)[number];

const RULES: Readonly<Record<Domain, DomainRules>> = { email, calendar, contacts, slack };

/** How the four domain agents work without a model: the same rules read the request in every phase, so the plan stays what it was. */
export const domainAgents: readonly Procedure[] = DOMAINS.map((domain) => ({
  agents: [domain],
  next: (situation) => nextPhase(domain, situation),
}));

function nextPhase(domain: Domain, situation: Situation): OfflineMove {
  const { calls, phase, task, now } = situation;
  const assessment = assess(domain, taskText(task), now ? { now } : undefined);
  if (phase === "assess") return { say: JSON.stringify(assessment) };
  if (phase === "format") return { say: summariseWork(domain, assessment, calls) };
  if (phase === "execute") return takeNextStep(assessment, calls);
  // An agent of that name whose file does not ask for phases.
  if (assessment.status === "failed") return { cannot: assessment.notes };
  const move = takeNextStep(assessment, calls);
  return "calls" in move && !situation.wrapUp ? move : { say: summariseWork(domain, assessment, calls) };
}

/** Longer requests are not read: rules understand sentences, not documents. */
const MAX_REQUEST_CHARS = 8_000;

/**
 * What a domain agent makes of a request: a plan whose every value is in the request, or what is missing. The time comes
 * from the prompt, never from a clock.
 */
export function assess(domain: Domain, text: string, at: Now | undefined): Assessment {
  return buildAssessment(text, readFor(domain, text, at), RULES[domain].example);
}

function readFor(domain: Domain, text: string, at: Now | undefined): Reading {
  if (!at) return doubt("the current time", "The prompt does not say what time it is.");
  if (text.length > MAX_REQUEST_CHARS)
    return doubt("a short request", `The request has ${text.length} characters.`);
  const reading = readSentence(text, RULES[domain], at);
  if (reading && !("missing" in reading)) return reading;
  const other = chooseDomain(text, at);
  if (other) return doubt(`a request for the ${domain} agent`, `This is work for the ${other} agent.`);
  return (
    reading ??
    doubt(
      `a request for the ${domain} agent`,
      `The rules of the ${domain} agent do not know this form of request.`,
    )
  );
}

/** The domain whose rules account for every word of a request; undefined if none does. */
export function chooseDomain(text: string, at: Now): Domain | undefined {
  if (text.length > MAX_REQUEST_CHARS) return undefined;
  return DOMAINS.find((domain) => {
    const reading = readSentence(text, RULES[domain], at);
    return reading !== null && !("missing" in reading);
  });
}

/** What is unclear about a request that one of the domains nearly understands; undefined if none does. */
export function findMisreading(text: string, at: Now): string | undefined {
  const readings = DOMAINS.map((domain) => readSentence(text.slice(0, MAX_REQUEST_CHARS), RULES[domain], at));
  const nearly = readings.find((reading) => reading !== null && "missing" in reading);
  return nearly && "why" in nearly ? nearly.why : undefined;
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
  const done = stop && domain === "calendar" ? "" : RULES[domain].summarise(calls);
  const assumed = [...assessment.assumptions];
  return [done, ...faults, stop, ...assumed].filter(Boolean).join(" ") || "Nothing was done.";
}
