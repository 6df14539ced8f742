import { findReservation } from "./cautions.ts";
import { assess } from "./domain-agents.ts";
import { type Domain, isWrite, routeDomain } from "./domains.ts";
import type { ReadFindings } from "./findings.ts";
import { takeMessageText } from "./message-text.ts";
import { type Now, readClock, speakSpan } from "./when.ts";
import { quoteText, readWording } from "./wording.ts";

/** One delegation of a plan. */
export type DomainTask = {
  readonly id: string;
  readonly agent: Domain;
  readonly task: string;
  /** Ids of tasks that must succeed first. */
  readonly dependsOn?: readonly string[];
};

/** A request in two stages: what is looked up, all at once, and what is then done with it. */
export type RequestPlan = {
  readonly parts: readonly DomainPart[];
  readonly reads: readonly DomainTask[];
  readonly writes: readonly DomainPart[];
  readonly occasion: Occasion;
};

const WRITING =
  /^(?:send|e-?mail|mail|post|tell|share|announce|schedule|book|set up|arrange|create|draft|reply|respond|let|add|cancel|delete|move|reschedule|push|postpone|rename|ping|notify|write|put|invite|forward|drop|shoot|fire off|block|pencil|grab|squeeze|remind|remove|scrap|change|update|message|dm)\b/i;
/** Where the prompt names no time, any will do: only whether a request can be read is asked, not when. */
const ANY_TIME: Now = { now: "2000-01-01T00:00:00+00:00" };

/** Splits a request into what is read first and what is written then. */
export function planRequest(text: string): RequestPlan {
  const parts = splitParts(text);
  const isWriting = (part: DomainPart) => WRITING.test(part.text) || plansWrite(part);
  const reads = parts.filter((part) => part.domain !== undefined && !isWriting(part));
  const writes = parts.filter((part) => !reads.includes(part));
  return {
    parts,
    reads: reads.map((part, index) => ({
      id: `read-${index + 1}`,
      agent: part.domain ?? "email",
      task: readTask(part),
    })),
    writes,
    occasion: { title: titleFor(text), hasInvitation: parts.some(isInvitation) },
  };
}

/** The tasks of the second stage, and why parts cannot be done: a request of several parts is not begun if one is in doubt. */
export function planWrites(
  plan: RequestPlan,
  findings: ReadFindings,
  at: Now = ANY_TIME,
): { tasks: DomainTask[]; cannot: string[] } {
  const { writes, reads, occasion, parts } = plan;
  const [only] = writes;
  if (parts.length === 1 && only?.domain && !occasion.hasInvitation)
    return { tasks: [{ id: "write-1", agent: only.domain, task: only.text }], cannot: [] };
  const isAlone = reads.length === 0 && !occasion.hasInvitation;
  const all: WriteTask[] = writes.flatMap((part) =>
    isAlone && part.domain ? [{ agent: part.domain, task: part.text }] : writeTasks(part, findings, occasion),
  );
  const tasks = orderTasks(all);
  const doubts = tasks.flatMap(({ agent, task }) => {
    const { status, notes } = assess(agent, task, at);
    return status === "failed" ? [`“${task}”: ${notes}`] : [];
  });
  const open = writes.length > 0 ? parts.map(readReservation).find((why) => why !== undefined) : undefined;
  const cannot = all.flatMap((one) => ("cannot" in one ? [one.cannot] : []));
  return { tasks, cannot: [...(open ? [open] : []), ...cannot, ...doubts] };
}

/** Nobody is told of an event that could not be made. */
function orderTasks(all: readonly WriteTask[]): DomainTask[] {
  const made = all.findIndex((one) => "event" in one && one.event === "made");
  return all.flatMap((one, index) => {
    if ("cannot" in one) return [];
    const { agent, task, event } = one;
    const waits = event === "told" && made >= 0 && { dependsOn: [`write-${made + 1}`] };
    return [{ id: `write-${index + 1}`, agent, task, ...waits }];
  });
}

function readReservation({ text }: DomainPart): string | undefined {
  return findReservation(takeMessageText(readWording(text)).head)?.why;
}

function plansWrite({ text, domain }: DomainPart): boolean {
  return domain !== undefined && assess(domain, text, ANY_TIME).tools.some(isWrite);
}

/** Short forms that make sense only beside the other parts, written out. */
function readTask({ text, domain }: DomainPart): string {
  const time =
    domain === "calendar"
      ? /^(?:check|see)(?: if)?(?: (?:for|on))? (?!.*\b(?:availab|free|calendar|events?|meetings?))(.+)$/i.exec(
          text,
        )?.[1]
      : undefined;
  return time ? `Check my availability on ${time.replace(/^on /i, "")}` : text;
}

/** What an event is called that a request does not name: after those it is with. */
function titleFor(text: string): string {
  const named =
    /\binvite\b[^"“.]*? (?:to|for) (?:an? |the )?(?:meeting |event |call )?["“]([^"”]+)["”]/i.exec(text)?.[1];
  if (named) return named;
  const whose =
    /(\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)['’]s? (?:people|staff|team|contacts|folks)\b|\b(?:people|everyone|contacts|folks|staff) (?:at|from|of) (\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)/u.exec(
      readWording(text).head,
    );
  const name = whose?.[1] ?? whose?.[2];
  return name ? `Meeting with ${name}` : "Meeting";
}

/** One piece of a person's request. */
type DomainPart = {
  /** As a domain agent is told it. */
  readonly text: string;
  /** Without courtesies; quotations are still there. */
  readonly domain: Domain | undefined;
};

const VERBS =
  "find|look up|get|check|see|invite|send|e-?mail|mail|post|tell|share|announce|schedule|book|set up|arrange|create|draft|reply|summari[sz]e|search|list|show|let|add|cancel|delete|move|reschedule|ping|notify|write|read|catch|validate|put|forward|remind|export|what|what['’]s|who|am i|any|is there|do i";
const JOINT = new RegExp(
  `(?:[.;!?]|,)?\\s+(?:(?:and then|and also|and|then|after that|afterwards|finally|also|plus)\\s*,?\\s+)*(?:please\\s+)?(?=(?:${VERBS})\\b\\s+\\S)`,
  "gi",
);
/** From here on the words are a text to be sent, and where it ends only quotation marks could tell. */
const LOOSE_TEXT = /\b(?:saying|that says|say|telling|that)\s+(?:that\s+)?(?!\ue000)\S|:\s+(?!\ue000)\S/i;

/** Splits a request at what begins with a verb of its own; quoted texts and what follows `saying` stay whole. */
function splitParts(text: string): DomainPart[] {
  const request = readWording(text);
  const { head } = request;
  const pieces: string[] = [];
  let from = 0;
  for (const joint of head.matchAll(JOINT)) {
    const before = head.slice(from, joint.index);
    const isJoint = /[.,;!?]|\b(?:and|then|also|plus|after|finally)/i.test(joint[0]);
    if (!isJoint || before.trim() === "") continue;
    if (LOOSE_TEXT.test(before)) break;
    pieces.push(before);
    from = joint.index + joint[0].length;
  }
  pieces.push(head.slice(from));
  const last = pieces.length - 1;
  // Undivided, it is handed on as it stands.
  if (last === 0) return [{ text: text.trim(), domain: routeDomain(head) }];
  return pieces
    .map((piece, at) => {
      const clean = piece.replace(/^[\s,.;]+|[\s,.;]+$/g, "");
      const asked = request.asks && at === last ? "?" : "";
      return { text: `${request.requote(clean)}${asked}`, domain: routeDomain(readWording(clean).head) };
    })
    .filter(({ text: piece }) => piece !== "" && piece !== "?");
}

/** A task for a domain agent, complete in itself; or why there can be none. */
type WriteTask =
  | {
      readonly agent: Domain;
      readonly task: string;
      /** Whether it makes the event that the others tell of, or tells of it and so must wait for it. */
      readonly event?: "made" | "told";
    }
  | { readonly cannot: string };

/** What the writing parts of a request have in common. */
type Occasion = {
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
function isInvitation({ text }: DomainPart): boolean {
  return INVITES.test(readWording(text).head);
}

/** The tasks that a writing part comes to, with what the reads have found put in the place of words that point back. */
function writeTasks(part: DomainPart, findings: ReadFindings, occasion: Occasion): WriteTask[] {
  const request = readWording(part.text);
  const invited = INVITES.exec(request.head)?.groups;
  if (invited) return planInvitation(invited.who ?? "", findings, occasion);
  const posted = TO_CHANNEL.exec(request.head)?.groups;
  if (posted?.what && IT.test(posted.what)) {
    const text = composeNews(findings, occasion);
    const task = `Post ${quoteText(text)} in ${posted.channel}`;
    return [text ? { agent: "slack", task, ...told(occasion) } : nothing(part)];
  }
  for (const form of part.domain === "email" ? TO_PERSON : []) {
    const { who, what } = form.exec(request.head)?.groups ?? {};
    if (!who || !what || !IT.test(what)) continue;
    const text = composeNews(findings, occasion);
    const to = fillInPeople(who, findings);
    if (typeof to !== "string") return [to];
    const subject = occasion.hasInvitation ? occasion.title : "Summary";
    const task = `Send an email to ${to} with the subject ${quoteText(subject)} saying ${quoteText(text)}`;
    return [text ? { agent: "email", task, ...told(occasion) } : nothing(part)];
  }
  if (!part.domain) return [{ cannot: `“${part.text}” is no work for mail, calendar, contacts or Slack` }];
  const task =
    THEM.test(request.head) && findings.people.length > 0
      ? fillInPeople(request.head, findings)
      : request.head;
  return [typeof task === "string" ? { agent: part.domain, task: request.requote(task) } : task];
}

function told({ hasInvitation }: Occasion): { event?: "told" } {
  return hasInvitation ? { event: "told" } : {};
}

/** An event, which tells nobody itself, and the mail that tells of it. */
function planInvitation(who: string, findings: ReadFindings, { title }: Occasion): WriteTask[] {
  const { slot } = findings;
  if (!slot) return [{ cannot: "the invitation needs a day and a time" }];
  const to = fillInPeople(who, findings);
  if (typeof to !== "string") return [to];
  const date = slot.start.slice(0, 10);
  const minutes = Math.round((Date.parse(slot.end) - Date.parse(slot.start)) / 60_000);
  const when = speakSpan(slot.start, slot.end);
  const event = `Schedule a meeting called ${quoteText(title)} with ${to} on ${date} at ${readClock(slot.start)} for ${minutes} minutes without sending invitations`;
  const letter = `Send an email to ${to} with the subject ${quoteText(`Invitation: ${title}`)} saying ${quoteText(`You are invited to: ${title}, ${when}.`)}`;
  return [
    { agent: "calendar", task: event, event: "made" },
    { agent: "email", task: letter, event: "told" },
  ];
}

/** A phrase with addresses in the place of the word that stands for people. */
function fillInPeople(phrase: string, { people }: ReadFindings): string | { cannot: string } {
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
function composeNews({ people, slot, words }: ReadFindings, { title, hasInvitation }: Occasion): string {
  if (hasInvitation && slot) {
    const names = people.map(({ name }) => name).join(", ");
    return `${title}: ${speakSpan(slot.start, slot.end)}${names ? `, with ${names}` : ""}.`;
  }
  const found = [words, ...people.map(({ name, address }) => `${name} <${address}>`)]
    .filter(Boolean)
    .join("\n");
  return found.length > MAX_TEXT ? `${found.slice(0, MAX_TEXT)} …` : found;
}

function nothing({ text }: DomainPart): WriteTask {
  return { cannot: `there is nothing to tell for “${text}”` };
}
