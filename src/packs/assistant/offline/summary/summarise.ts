import type { PastCall } from "../../../../models/offline/procedure.ts";
import type { Assessment } from "../../../../schema/intent.ts";
import type { Domain } from "../assessment.ts";
import { asData, type Data, dataOf, faultOf, listIn, textIn, textsIn } from "../call-data.ts";
import { nextStep } from "../execute.ts";
import { calendarSummary } from "./calendar-summary.ts";

const MOST_SHOWN = 8;
const MAX_QUOTE = 240;

const SUMMARIES: Readonly<Record<Domain, (calls: readonly PastCall[]) => string>> = {
  email: emailSummary,
  calendar: calendarSummary,
  contacts: contactsSummary,
  slack: slackSummary,
};

/** What was done and found, with names and numbers; then what failed, what was not done and why, and what was assumed. */
export function summarise(domain: Domain, assessment: Assessment, calls: readonly PastCall[]): string {
  const faults = calls.filter(({ failed }) => failed).map(faultOf);
  const open = nextStep(assessment, calls);
  const wasStopped =
    faults.length === 0 && assessment.sequence.some((tool) => !calls.some((call) => call.tool === tool));
  const stop = wasStopped && "say" in open && open.say ? open.say : "";
  const done = stop && domain === "calendar" ? "" : SUMMARIES[domain](calls);
  const assumed = [...assessment.assumptions];
  return [done, ...faults, stop, ...assumed].filter(Boolean).join(" ") || "Nothing was done.";
}

function emailSummary(calls: readonly PastCall[]): string {
  const sent = dataOf(calls, "gmail_send_email") ?? dataOf(calls, "gmail_reply_to_message");
  const status = dataOf(calls, "gmail_get_delivery_status");
  const draft = dataOf(calls, "gmail_create_draft");
  const message = asData(dataOf(calls, "gmail_get_message")?.message);
  const input = calls.findLast(({ tool }) => tool === "gmail_send_email")?.input;
  if (sent) {
    const to = textsIn(sent, "recipients");
    const what = input ? `'${textIn(input, "subject")}'` : "the reply";
    return `Sent ${what} to ${counted(to.length, "recipient")}: ${to.join(", ")}. ${deliveryText(status ?? sent)}`;
  }
  if (status) return deliveryText(status);
  if (draft)
    return `Saved a draft '${textIn(draft, "subject")}' to ${textsIn(draft, "recipients").join(", ")}.`;
  if (textIn(message, "message_id")) return messageText(message);
  const found = dataOf(calls, "gmail_search_messages");
  return found ? foundMail(found) : "";
}

function deliveryText(data: Data): string {
  const byStatus = new Map<string, string[]>();
  for (const one of listIn(data, "deliveries")) {
    const detail = textIn(one, "detail");
    const status = `${textIn(one, "status")}${detail ? ` (${detail})` : ""}`;
    byStatus.set(status, [...(byStatus.get(status) ?? []), textIn(one, "recipient")]);
  }
  const [only] = byStatus.keys();
  if (byStatus.size === 1 && only) return `Delivery: ${only}.`;
  const each = [...byStatus].map(([status, who]) => `${who.join(", ")} ${status}`);
  return `Delivery: ${textIn(data, "delivery_status") || "unknown"}${each.length > 0 ? `: ${each.join("; ")}` : ""}.`;
}

function messageText(message: Data): string {
  return `'${textIn(message, "subject")}' from ${textIn(message, "from")}, ${textIn(message, "date").slice(0, 10)}: “${shortened(textIn(message, "body"))}”`;
}

function foundMail(data: Data): string {
  const messages = listIn(data, "messages");
  if (messages.length === 0) return "No messages were found.";
  const lines = messages
    .slice(0, MOST_SHOWN)
    .map(
      (one) =>
        `'${textIn(one, "subject")}' from ${textIn(one, "from")} (${textIn(one, "date").slice(0, 10)})`,
    );
  return `${counted(Number(data.total ?? messages.length), "message")}: ${lines.join("; ")}${moreThan(messages.length)}.`;
}

function contactsSummary(calls: readonly PastCall[]): string {
  const valid = dataOf(calls, "contacts_validate_email");
  const organizations = dataOf(calls, "contacts_list_organizations");
  const contact = asData(dataOf(calls, "contacts_get_by_id")?.contact);
  if (valid) return validText(valid);
  if (organizations) {
    const all = listIn(organizations, "organizations");
    return `${counted(all.length, "organization")}: ${all.map((one) => `${textIn(one, "name")} (${textIn(one, "contacts")})`).join(", ")}.`;
  }
  if (textIn(contact, "contact_id"))
    return `${contactLine({ ...contact, email: textsIn(contact, "emails")[0], phone: textsIn(contact, "phones")[0] })}.`;
  const found = dataOf(calls, "contacts_search");
  if (!found) return "";
  const people = listIn(found, "contacts");
  if (people.length === 0) return "No contacts were found.";
  return `${counted(Number(found.total ?? people.length), "contact")}: ${people.slice(0, MOST_SHOWN).map(contactLine).join("; ")}${moreThan(people.length)}.`;
}

function contactLine(contact: Data): string {
  const role = [textIn(contact, "title"), textIn(contact, "organization")].filter(Boolean).join(", ");
  const ways = [textIn(contact, "email"), textIn(contact, "phone")].filter(Boolean).join(", ");
  return `${textIn(contact, "name")}${role ? ` (${role})` : ""}${ways ? ` ${ways}` : ""}`;
}

function validText(data: Data): string {
  const name = textIn(asData(data.contact), "name");
  const known = data.known === true ? `, known as ${name || "a contact"}` : ", not among the contacts";
  const reason = textIn(data, "reason") ? ` (${textIn(data, "reason")})` : "";
  const suggestion = textIn(data, "suggestion") ? ` Did you mean ${textIn(data, "suggestion")}?` : "";
  return `${textIn(data, "email")} is ${data.valid === true ? "a valid address" : "not a valid address"}${known}${reason}.${suggestion}`;
}

function slackSummary(calls: readonly PastCall[]): string {
  const posted = dataOf(calls, "slack_post_message");
  const analysis = dataOf(calls, "slack_analyze_conversation");
  const user = asData(dataOf(calls, "slack_get_user_info")?.user);
  if (posted)
    return `Posted in ${textIn(posted, "channel")}.${textIn(posted, "link") ? ` ${textIn(posted, "link")}` : ""}`;
  if (analysis) return analysisText(analysis);
  if (textIn(user, "user_id")) {
    const parts = [
      textIn(user, "title"),
      textIn(user, "email"),
      textIn(user, "timezone"),
      textIn(user, "status"),
    ].filter(Boolean);
    return `${textIn(user, "real_name") || textIn(user, "name")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
  }
  const found = ["slack_search_messages", "slack_get_thread_replies", "slack_get_channel_messages"]
    .map((tool) => dataOf(calls, tool))
    .find((data) => data !== undefined);
  if (!found) return "";
  const messages = listIn(found, "messages");
  if (messages.length === 0) return "No messages were found.";
  const lines = messages
    .slice(0, MOST_SHOWN)
    .map((one) => `${textIn(one, "user")}: “${shortened(textIn(one, "text"))}”`);
  return `${counted(Number(found.total ?? messages.length), "message")}: ${lines.join("; ")}${moreThan(messages.length)}.`;
}

function analysisText(data: Data): string {
  const people = listIn(data, "participants").map((one) => textIn(one, "user"));
  const part = (name: string, heading: string) => {
    const lines = listIn(data, name).map(
      (one) => `“${shortened(textIn(one, "text"))}” (${textIn(one, "user")})`,
    );
    return lines.length > 0 ? `${heading}: ${lines.slice(0, MOST_SHOWN).join("; ")}.` : "";
  };
  const topics = listIn(data, "topics").map((one) => textIn(one, "topic"));
  return [
    `${textIn(data, "channel")}: ${counted(Number(data.message_count ?? 0), "message")} by ${people.join(", ") || "nobody"}.`,
    topics.length > 0 ? `Topics: ${topics.join(", ")}.` : "",
    part("decisions", "Decisions"),
    part("open_questions", "Open questions"),
    part("action_items", "To do"),
  ]
    .filter(Boolean)
    .join(" ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function moreThan(length: number): string {
  return length > MOST_SHOWN ? "; …" : "";
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)} …` : line;
}
