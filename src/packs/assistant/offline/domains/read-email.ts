import { doubt, type Reading } from "../assessment.ts";
import { EMAIL_PATTERNS, type EmailIntent, type NamedPattern } from "../intent-patterns.ts";
import { doubtAbout } from "../slots/cautions.ts";
import { type MessageText, mayHoldMore, messageText } from "../slots/message-text.ts";
import { ADDRESS, brokenAddressIn, peopleIn } from "../slots/people.ts";
import { capitalised, type Request, titleCased } from "../slots/request.ts";
import type { Now } from "../slots/when.ts";
import { readMailSearch } from "./read-mail-search.ts";

const BY_MAIL = /\s+(?:by|via|per|through|in|with|over) (?:an? )?e?-?mail\b/i;
const WRITE = "send|shoot|drop|give|fire off|write(?: up)?|compose|create|prepare|draft|make|save|start";
const COPIES = "(?:[\\s,]+cc:? (?<cc>.+?))?(?:[\\s,]+bcc:? (?<bcc>.+?))?";
/** Whole sentences: whatever a form does not account for makes the request unclear. */
const FORMS = [
  new RegExp(`^(?:${WRITE}) (?:off )?(?:me )?(?<what>.+?) (?:to|for) (?<who>.+?)${COPIES}$`, "iu"),
  new RegExp(`^(?:${WRITE}) (?<who>.+?) (?<what>(?:an?|the|my|our|some) .+?)${COPIES}$`, "iu"),
  new RegExp(`^(?:e-?mail|mail|message|notify|inform|write(?: to)?|draft) (?<who>.+?)${COPIES}$`, "iu"),
  /^let (?<who>.+?) know$/iu,
  /^tell (?<who>.+?)$/iu,
];
const ARTICLES = /^(?:(?:a|an|the|our|my|some|quick|short|brief|friendly|new|off|up|another)\s+)+/i;
const PLAIN =
  /^(?:e-?mail )?(?:e-?mails?|mails?|messages?|notes?|lines?|word|heads[- ]?up|shout|drafts?|draft e-?mail)$/i;
/** Things that are themselves messages; anything else would have to be attached. */
const MESSAGE =
  /^(?:[\p{L}-]+ ){0,3}(?:updates?|reminders?|invitations?|invites?|thanks|thank[- ]you(?: note)?|greetings|apolog(?:y|ies)|announcements?|confirmations?|congratulations|heads-?up)(?: (?:e-?mail|mail|note|message))?$/iu;
const MESSAGE_ID = /\bmessage (?:with )?(?:the )?(?:id )?([\w.<>@+=-]*\d[\w.<>@+=-]*)/i;
const REPLY = /^(?:reply|respond|answer|write back)(?<all>(?: to)? all)?(?: to)?(?: (?<target>.+))?$/iu;
const OF_WHOM = [
  /^(?:the |my )?(?<last>last |latest |newest |most recent )?(?:e-?mail|mail|message)(?: i got)? (?:from|of|by) (?<who>.+)$/iu,
  /^(?<who>.+?)['’]s? (?<last>last |latest |newest |most recent )?(?:e-?mail|mail|message)$/iu,
  /^(?<who>.+)$/iu,
];

/** What a request for mail wants done, and with what. */
export function readEmail(request: Request, at: Now): Reading {
  const found = EMAIL_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found) return doubt("a request for mail", "No rule of the email agent knows this form of request.");
  const { intent } = found;
  if (intent === "forward") return doubt("a tool that forwards", "There is no tool that forwards mail.");
  if (intent === "search" || intent === "read" || intent === "status")
    return readMailSearch(request, found, at);
  if (intent === "get") return byId(request, found.tools);
  const message = messageText(request);
  const caution = doubtAbout(message.head);
  if (caution) return caution;
  if (message.empty) return doubt("text", "The request announces a text and has none.");
  if (mayHoldMore(message))
    return doubt("quotation marks around the text", "It is unclear where the text ends.");
  return intent === "reply" ? readReply(request, message) : readLetter(message, found);
}

function byId(request: Request, tools: readonly string[]): Reading {
  const id = MESSAGE_ID.exec(request.head)?.[1];
  return id
    ? { tools, risk: "low", params: { message_id: id } }
    : doubt("message id", "No message is named.");
}

function readLetter(message: MessageText, found: NamedPattern<EmailIntent>): Reading {
  const head = message.head.replace(BY_MAIL, "");
  const broken = brokenAddressIn(head);
  if (broken) return doubt("a whole address", `'${broken}' is no whole mail address.`);
  for (const [index, form] of FORMS.entries()) {
    const { who, what, cc, bcc } = form.exec(head)?.groups ?? {};
    if (who === undefined) continue;
    const people = [who, cc ?? "", bcc ?? ""].map((phrase) => peopleIn(phrase, index > 0));
    const unclear = people.flatMap((each) => each.unclear);
    const [to, copy, blind] = people.map((each) => each.who);
    // A later form may account for words that this one took for a name.
    if (unclear.length > 0 && FORMS.slice(index + 1).some((later) => later.test(head))) continue;
    if (unclear.length > 0)
      return doubt("recipient", `It is unclear who ${unclear.map((word) => `'${word}'`).join(", ")} is.`);
    if (!to || to.length === 0) break;
    return letter({ to, cc: copy ?? [], bcc: blind ?? [] }, what ?? "", message, found);
  }
  return doubt(["recipient"], "The request does not say plainly to whom.");
}

type Envelope = { to: readonly string[]; cc: readonly string[]; bcc: readonly string[] };

function letter(
  { to, cc, bcc }: Envelope,
  what: string,
  message: MessageText,
  found: NamedPattern<EmailIntent>,
): Reading {
  const thing = what.replace(ARTICLES, "").trim();
  const isPlain = thing === "" || PLAIN.test(thing);
  if (!isPlain && !MESSAGE.test(thing))
    return doubt("text", `'${what}' is not in the request, and rules attach nothing.`);
  const topic = isPlain ? undefined : thing.replace(/ (?:e-?mail|mail|note|message)$/i, "");
  const assumptions: string[] = [];
  if (!message.body && !topic && found.intent === "send")
    return doubt("text", "The request does not say what the mail should say.");
  if (!message.body && !topic && !message.subject)
    return doubt("text", "The request does not say what the draft should say.");
  const body = message.body ?? `${capitalised(topic ?? `About ${message.subject}`)}.`;
  if (!message.body) assumptions.push(`No text was given; the mail only says '${body}'`);
  const subject = message.subject ?? (topic ? titleCased(topic) : subjectFrom(body));
  if (!message.subject && !topic) assumptions.push(`Took the subject from the text: '${subject}'.`);
  const everyone = [...to, ...cc, ...bcc];
  const isOutside = everyone.some((one) => new RegExp(ADDRESS).test(one));
  return {
    tools: found.tools,
    risk: found.intent === "send" && everyone.length > 1 ? "high" : found.riskLevel,
    params: { recipients: to, subject, body, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) },
    assumptions,
    notes: isOutside
      ? "Addresses outside need a person's confirmation."
      : "Names are looked up in the contacts.",
  };
}

const MAX_SUBJECT = 60;

function subjectFrom(body: string): string {
  const [first = ""] = body.split(/(?<=[.?!])\s|\n/, 1);
  const plain = first.replace(/[.?!]+$/, "");
  return plain.length <= MAX_SUBJECT ? plain : `${plain.slice(0, MAX_SUBJECT).replace(/\s+\S*$/, "")} …`;
}

function readReply(request: Request, message: MessageText): Reading {
  const { all, target = "" } = REPLY.exec(message.head.replace(BY_MAIL, ""))?.groups ?? {};
  if (!message.body) return doubt("text", "The request does not say what the reply should say.");
  const params = { body: message.body, ...(all && { reply_all: true }) };
  const id = MESSAGE_ID.exec(target)?.[1];
  if (id) return { tools: ["gmail_reply_to_message"], risk: "medium", params: { message_id: id, ...params } };
  for (const form of OF_WHOM) {
    const { who, last } = form.exec(target)?.groups ?? {};
    if (who === undefined) continue;
    const people = peopleIn(request.restore(who));
    const [from] = people.who;
    if (people.unclear.length > 0 || people.who.length !== 1 || !from) break;
    const query = message.subject && { query: message.subject.toLowerCase() };
    return {
      tools: ["gmail_search_messages", "gmail_reply_to_message"],
      risk: "medium",
      params: { from, ...query, limit: last ? 1 : 5, ...params },
      assumptions: last ? [`Took the newest message from ${from}.`] : [],
    };
  }
  return doubt("which message", "The request does not say which message to reply to.");
}
