import type { Domain } from "../assessment.ts";
import { clockIn, spokenSpan } from "../slots/moment.ts";
import { quoted, readRequest } from "../slots/request.ts";
import type { Findings } from "./findings.ts";
import type { Part } from "./split-parts.ts";

/** A task for a domain agent, complete in itself; or why there can be none. */
export type WriteTask =
  | {
      readonly agent: Domain;
      readonly task: string;
      /** Whether it makes the event that the others tell of, or tells of it and so must wait for it. */
      readonly event?: "made" | "told";
    }
  | { readonly cannot: string };

/** What the writing parts of a request have in common. */
export type Occasion = {
  /** Of an event that people are invited to. */
  readonly title: string;
  readonly hasInvitation: boolean;
};

const INVITES = /^invite (?<who>.+?)(?: (?:to|for) (?<what>.+))?$/iu;
const THEM =
  /\b(?:all of them|both of them|them|they|these people|those people|the(?:se|m)? contacts|everyone|her|him)\b/i;
const ONE = /^(?:her|him)$/i;
const IT =
  /^(?:it|this|that|the (?:news|summary|results?|details|invitation|invite|date|time|list|decisions?|findings|outcome|meeting|answer)|a summary(?: of (?:it|this|that))?|what you (?:find|found))$/i;
const TO_CHANNEL =
  /^(?:post|share|announce|send|put|drop)\s+(?<what>.+?)\s+(?:in|to|on|into|with)\s+(?:the )?(?<channel>[#@][\p{L}\p{N}_.-]+)(?: channel)?(?: on slack)?$/iu;
const TO_PERSON = [
  /^(?:e-?mail|mail|send|share)\s+(?<what>.+?)\s+(?:by e?-?mail )?(?:to|with)\s+(?<who>.+?)(?: by e?-?mail)?$/iu,
  /^(?:e-?mail|mail|send)\s+(?<who>.+?)\s+(?<what>(?:it|this|that|the \w+|a summary.*))$/iu,
];
const MAX_TEXT = 6_000;

/** Whether a part tells people of an event. */
export function isInvitation({ text }: Part): boolean {
  return INVITES.test(readRequest(text).head);
}

/** The tasks that a writing part comes to, with what the reads have found put in the place of words that point back. */
export function writeTasks(part: Part, findings: Findings, occasion: Occasion): WriteTask[] {
  const request = readRequest(part.text);
  const invited = INVITES.exec(request.head)?.groups;
  if (invited) return invitation(invited.who ?? "", findings, occasion);
  const posted = TO_CHANNEL.exec(request.head)?.groups;
  if (posted?.what && IT.test(posted.what)) {
    const text = newsOf(findings, occasion);
    const task = `Post ${quoted(text)} in ${posted.channel}`;
    return [text ? { agent: "slack", task, ...told(occasion) } : nothing(part)];
  }
  for (const form of part.domain === "email" ? TO_PERSON : []) {
    const { who, what } = form.exec(request.head)?.groups ?? {};
    if (!who || !what || !IT.test(what)) continue;
    const text = newsOf(findings, occasion);
    const to = withPeople(who, findings);
    if (typeof to !== "string") return [to];
    const subject = occasion.hasInvitation ? occasion.title : "Summary";
    const task = `Send an email to ${to} with the subject ${quoted(subject)} saying ${quoted(text)}`;
    return [text ? { agent: "email", task, ...told(occasion) } : nothing(part)];
  }
  if (!part.domain) return [{ cannot: `“${part.text}” is no work for mail, calendar, contacts or Slack` }];
  const task =
    THEM.test(request.head) && findings.people.length > 0 ? withPeople(request.head, findings) : request.head;
  return [typeof task === "string" ? { agent: part.domain, task: request.requote(task) } : task];
}

function told({ hasInvitation }: Occasion): { event?: "told" } {
  return hasInvitation ? { event: "told" } : {};
}

/** An event, which tells nobody itself, and the mail that tells of it. */
function invitation(who: string, findings: Findings, { title }: Occasion): WriteTask[] {
  const { slot } = findings;
  if (!slot) return [{ cannot: "the invitation needs a day and a time" }];
  const to = withPeople(who, findings);
  if (typeof to !== "string") return [to];
  const date = slot.start.slice(0, 10);
  const minutes = Math.round((Date.parse(slot.end) - Date.parse(slot.start)) / 60_000);
  const when = spokenSpan(slot.start, slot.end);
  const event = `Schedule a meeting called ${quoted(title)} with ${to} on ${date} at ${clockIn(slot.start)} for ${minutes} minutes without sending invitations`;
  const letter = `Send an email to ${to} with the subject ${quoted(`Invitation: ${title}`)} saying ${quoted(`You are invited to: ${title}, ${when}.`)}`;
  return [
    { agent: "calendar", task: event, event: "made" },
    { agent: "email", task: letter, event: "told" },
  ];
}

/** A phrase with addresses in the place of the word that stands for people. */
function withPeople(phrase: string, { people }: Findings): string | { cannot: string } {
  const [pronoun] = THEM.exec(phrase) ?? [];
  if (!pronoun) return phrase;
  if (people.length === 0) return { cannot: `nobody was found that '${pronoun}' could stand for` };
  if (ONE.test(pronoun) && people.length > 1)
    return { cannot: `'${pronoun}' could be any of ${people.map(({ name }) => name).join(", ")}` };
  const addresses = people.map(({ address }) => address);
  const list =
    addresses.length > 1 ? `${addresses.slice(0, -1).join(", ")} and ${addresses.at(-1)}` : addresses.join();
  return phrase.replace(THEM, list);
}

/** What there is to tell: of an event, when it is and with whom; else what was found. */
function newsOf({ people, slot, words }: Findings, { title, hasInvitation }: Occasion): string {
  if (hasInvitation && slot) {
    const names = people.map(({ name }) => name).join(", ");
    return `${title}: ${spokenSpan(slot.start, slot.end)}${names ? `, with ${names}` : ""}.`;
  }
  const found = [words, ...people.map(({ name, address }) => `${name} <${address}>`)]
    .filter(Boolean)
    .join("\n");
  return found.length > MAX_TEXT ? `${found.slice(0, MAX_TEXT)} …` : found;
}

function nothing({ text }: Part): WriteTask {
  return { cannot: `there is nothing to tell for “${text}”` };
}
