import type { Move, OfflineCall, PastCall } from "../../../models/offline/procedure.ts";
import type { Assessment } from "../../../schema/intent.ts";
import { type Data, dataOf, faultOf, listIn, textIn } from "./call-data.ts";
import { conflictText, eventLine } from "./summary/calendar-summary.ts";

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
type Need = { params: Data } | { waits: true } | { stop: string };

/** Makes the calls of a plan in their order, those that need nothing of each other at once; says why when one cannot be made. */
export function nextStep(assessment: Assessment, calls: readonly PastCall[]): Move {
  const { sequence, params } = assessment;
  const failed = calls.findLast(({ failed }) => failed);
  if (failed) return { say: faultOf(failed) };
  const ready: OfflineCall[] = [];
  for (const tool of sequence) {
    if (calls.some((call) => call.tool === tool)) continue;
    const need = needOf(tool, assessment, calls);
    if ("waits" in need) break;
    if ("stop" in need) return ready.length > 0 ? { calls: ready } : { say: need.stop };
    ready.push({ tool, input: pick(tool, { ...params, ...need.params }) });
  }
  return ready.length > 0 ? { calls: ready } : { say: "Every planned call was made." };
}

function pick(tool: string, params: Data): Data {
  const keys = KEYS[tool] ?? [];
  return Object.fromEntries(keys.flatMap((key) => (params[key] === undefined ? [] : [[key, params[key]]])));
}

function needOf(tool: string, { sequence, params }: Assessment, calls: readonly PastCall[]): Need {
  if (tool === "calendar_create_event")
    return sequence.includes("calendar_check_availability") ? freeTime(params, calls) : { params: {} };
  if (tool === "calendar_update_event" || tool === "calendar_delete_event") return oneEvent(params, calls);
  const takesMessage = KEYS[tool]?.includes("message_id") === true && params.message_id === undefined;
  return takesMessage ? oneMessage(params, calls) : { params: {} };
}

/** Nothing is booked over another event, unless the request says so. */
function freeTime(params: Data, calls: readonly PastCall[]): Need {
  if (!calls.some(({ tool }) => tool === "calendar_check_availability")) return { waits: true };
  const data = dataOf(calls, "calendar_check_availability");
  if (params.anyway === true || data?.available === true) return { params: {} };
  return {
    stop: data ? `Not created: ${conflictText(data)}` : "Not created: the availability could not be read.",
  };
}

/** The event that was looked for, if it is one; of several, the one of exactly that name. */
function oneEvent({ query }: Data, calls: readonly PastCall[]): Need {
  if (!calls.some(({ tool }) => tool === "calendar_list_events")) return { waits: true };
  const events = listIn(dataOf(calls, "calendar_list_events"), "events");
  const named = events.filter(
    (event) => textIn(event, "title").toLowerCase() === String(query).toLowerCase(),
  );
  const [event, ...others] = named.length > 0 ? named : events;
  if (!event) return { stop: `Nothing was changed: no event was found for '${String(query)}'.` };
  if (others.length > 0)
    return {
      stop: `Nothing was changed: ${others.length + 1} events fit '${String(query)}': ${[event, ...others].slice(0, 5).map(eventLine).join("; ")}.`,
    };
  return { params: { event_id: textIn(event, "event_id") } };
}

/** The message that was sent, or the one that was looked for: the newest if only one was wanted, else the only one. */
function oneMessage({ limit, from, to }: Data, calls: readonly PastCall[]): Need {
  const sent = textIn(dataOf(calls, "gmail_send_email"), "message_id");
  if (sent) return { params: { message_id: sent } };
  if (!calls.some(({ tool }) => tool === "gmail_search_messages")) return { waits: true };
  const found = listIn(dataOf(calls, "gmail_search_messages"), "messages");
  const messages = found.toSorted((a, b) => Date.parse(textIn(b, "date")) - Date.parse(textIn(a, "date")));
  const [message, ...others] = messages;
  const whom = typeof from === "string" ? ` from ${from}` : typeof to === "string" ? ` to ${to}` : "";
  if (!message) return { stop: `No message${whom} was found.` };
  if (others.length > 0 && limit !== 1)
    return {
      stop: `${messages.length} messages${whom} fit, so none was taken: ${messages.map((one) => `'${textIn(one, "subject")}'`).join(", ")}.`,
    };
  return { params: { message_id: textIn(message, "message_id") } };
}
