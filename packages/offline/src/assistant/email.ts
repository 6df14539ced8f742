import type { PastCall } from "../procedure.ts";
import {
  type CallData,
  countNoun,
  findData,
  MOST_SHOWN,
  markMore,
  readField,
  readList,
  readTexts,
  shortenQuote,
  toData,
} from "./call-data.ts";
import { findDoubt } from "./cautions.ts";
import type { NamedPattern } from "./domains.ts";
import { type DomainReading, doubt } from "./domains.ts";
import { type MessageText, mayHoldMore, takeMessageText } from "./message-text.ts";
import { ADDRESS, findBrokenAddress, findPeople } from "./people.ts";
import { readDaySpan } from "./span.ts";
import type { Now } from "./when.ts";
import { capitalise, capitaliseWords, QUOTE, type Wording } from "./wording.ts";

type EmailIntent = "status" | "reply" | "draft" | "forward" | "send" | "get" | "read" | "search";

export const EMAIL_PATTERNS: readonly NamedPattern<EmailIntent>[] = [
  {
    intent: "status",
    pattern:
      /\bdelivery status\b|\b(?:was|were|did|has|have|is)\b.*\b(?:e-?mails?|mails?|messages?)\b.*\b(?:delivered|arrived?|go(?:ne)? through|went through|bounced?)\b/i,
    tools: ["gmail_search_messages", "gmail_get_delivery_status"],
    riskLevel: "low",
  },
  {
    intent: "reply",
    pattern: /^(?:reply|respond|answer|write back)\b/i,
    tools: ["gmail_search_messages", "gmail_reply_to_message"],
    riskLevel: "medium",
  },
  {
    intent: "draft",
    pattern:
      /^draft\b|^(?:create|write(?: up)?|prepare|compose|make|save|start)\b(?: me)?(?: up)? (?:an? )?(?:e-?mail )?draft\b/i,
    tools: ["gmail_create_draft"],
    riskLevel: "medium",
  },
  { intent: "forward", pattern: /^(?:forward|pass on)\b/i, tools: [], riskLevel: "high" },
  {
    intent: "send",
    pattern: /send.*email.*to/i,
    tools: ["gmail_send_email", "gmail_get_delivery_status"],
    riskLevel: "medium",
  },
  {
    intent: "send",
    pattern:
      /^(?:send|shoot|drop|give|fire off|write|compose|e-?mail|mail|message|notify|inform|tell|let)\b/i,
    tools: ["gmail_send_email", "gmail_get_delivery_status"],
    riskLevel: "medium",
  },
  {
    intent: "get",
    pattern:
      /\b(?:get|read|open|show|fetch)\b.*\bmessage (?:with )?(?:the )?(?:id )?[\w.<>@-]*\d[\w.<>@-]*$/i,
    tools: ["gmail_get_message"],
    riskLevel: "low",
  },
  {
    intent: "read",
    pattern:
      /^(?:read|open|show|get|fetch|what)\b.*\b(?:last|latest|newest|most recent)\b.*\b(?:e-?mail|mail|message)\b/i,
    tools: ["gmail_search_messages", "gmail_get_message"],
    riskLevel: "low",
  },
  { intent: "search", pattern: /search.*email/i, tools: ["gmail_search_messages"], riskLevel: "low" },
  {
    intent: "search",
    pattern:
      /^(?:find|list|show|get|search|look|pull up|dig up|check|see|any\w*|got|are there|do i have|is there|did|has|have|which|what|when|who)\b.*(?:\b(?:e-?mails?|mails?|inbox|unread|messages?|sent|send|wrote|write|written|replied|reply|answered|responded|get back|got back|heard)\b)/i,
    tools: ["gmail_search_messages"],
    riskLevel: "low",
  },
];

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
export function readEmail(request: Wording, at: Now): DomainReading {
  const found = EMAIL_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found) return doubt("a request for mail", "No rule of the email agent knows this form of request.");
  const { intent } = found;
  if (intent === "forward") return doubt("a tool that forwards", "There is no tool that forwards mail.");
  if (intent === "search" || intent === "read" || intent === "status")
    return readMailSearch(request, found, at);
  if (intent === "get") return readById(request, found.tools);
  const message = takeMessageText(request);
  const caution = findDoubt(message.head);
  if (caution) return caution;
  if (message.empty) return doubt("text", "The request announces a text and has none.");
  if (mayHoldMore(message))
    return doubt("quotation marks around the text", "It is unclear where the text ends.");
  return intent === "reply" ? readReply(request, message) : readLetter(message, found);
}

function readById(request: Wording, tools: readonly string[]): DomainReading {
  const id = MESSAGE_ID.exec(request.head)?.[1];
  return id
    ? { tools, risk: "low", params: { message_id: id } }
    : doubt("message id", "No message is named.");
}

function readLetter(message: MessageText, found: NamedPattern<EmailIntent>): DomainReading {
  const head = message.head.replace(BY_MAIL, "");
  const broken = findBrokenAddress(head);
  if (broken) return doubt("a whole address", `'${broken}' is no whole mail address.`);
  for (const [index, form] of FORMS.entries()) {
    const { who, what, cc, bcc } = form.exec(head)?.groups ?? {};
    if (who === undefined) continue;
    const people = [who, cc ?? "", bcc ?? ""].map((phrase) => findPeople(phrase, index > 0));
    const unclear = people.flatMap((each) => each.unclear);
    const [to, copy, blind] = people.map((each) => each.who);
    // A later form may account for words that this one took for a name.
    if (unclear.length > 0 && FORMS.slice(index + 1).some((later) => later.test(head))) continue;
    if (unclear.length > 0)
      return doubt("recipient", `It is unclear who ${unclear.map((word) => `'${word}'`).join(", ")} is.`);
    if (!to || to.length === 0) break;
    return planLetter({ to, cc: copy ?? [], bcc: blind ?? [] }, what ?? "", message, found);
  }
  return doubt(["recipient"], "The request does not say plainly to whom.");
}

type Envelope = { to: readonly string[]; cc: readonly string[]; bcc: readonly string[] };

function planLetter(
  { to, cc, bcc }: Envelope,
  what: string,
  message: MessageText,
  found: NamedPattern<EmailIntent>,
): DomainReading {
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
  const body = message.body ?? `${capitalise(topic ?? `About ${message.subject}`)}.`;
  if (!message.body) assumptions.push(`No text was given; the mail only says '${body}'`);
  const subject = message.subject ?? (topic ? capitaliseWords(topic) : makeSubject(body));
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

function makeSubject(body: string): string {
  const [first = ""] = body.split(/(?<=[.?!])\s|\n/, 1);
  const plain = first.replace(/[.?!]+$/, "");
  return plain.length <= MAX_SUBJECT ? plain : `${plain.slice(0, MAX_SUBJECT).replace(/\s+\S*$/, "")} …`;
}

function readReply(request: Wording, message: MessageText): DomainReading {
  const { all, target = "" } = REPLY.exec(message.head.replace(BY_MAIL, ""))?.groups ?? {};
  if (!message.body) return doubt("text", "The request does not say what the reply should say.");
  const params = { body: message.body, ...(all && { reply_all: true }) };
  const id = MESSAGE_ID.exec(target)?.[1];
  if (id) return { tools: ["gmail_reply_to_message"], risk: "medium", params: { message_id: id, ...params } };
  for (const form of OF_WHOM) {
    const { who, last } = form.exec(target)?.groups ?? {};
    if (who === undefined) continue;
    const people = findPeople(request.restore(who));
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

const PERSON = "\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+){0,2}|[\\w.%+-]+@[\\w.-]+\\w";
const FROM = new RegExp(`\\b(?:from|by) (${PERSON})`, "u");
const SENT = new RegExp(
  `\\b(?:did|has|have|what|whatever|that|which) (?:did )?(${PERSON})(?: ever| already| just)? (?:say|said|write|wrote|written|send|sent|repl(?:y|ied)|respond(?:ed)?|answer(?:ed)?|g[eo]t back|g[eo]t in touch|mail(?:ed)?|e-?mail(?:ed)?)\\b`,
  "u",
);
const OWNER =
  /\b(\p{Lu}[\p{L}-]+(?: \p{Lu}[\p{L}-]+){0,2})['’]s (?:last |latest |newest )?(?:e-?mails?|mails?|messages?)/u;
const TO = new RegExp(`\\b(?:to|for) (${PERSON})`, "u");
const WORDS = ["about|regarding|concerning|containing|mention(?:s|ing)?|with the words?", "for|on"].map(
  (mark) =>
    new RegExp(
      `\\b(?:${mark}) (?:the |our |my |any |a |an )?(?:(${QUOTE})|([^,?]+?))(?= from | by | received| sent| since | with (?:an )?attach| in (?:my|the) | to (?:me|us)\\b|$)`,
      "iu",
    ),
);
const TOPIC =
  /^(?:find|show|list|get|search(?: for)?|look for|pull up|what (?:was|is)|where is)(?: me)? (?:that |all |any |the |my |recent |latest |new )*([\p{L}\p{N} -]+?) (?:e-?mails?|mails?)\b/iu;
const NO_TOPIC = /^(?:unread|new|recent|latest|last|all|my|the|of|in|sent|old|important|\s)*$/i;
const ID =
  /\b(?:message|mail|e-?mail)? ?(?:with )?(?:the )?(?:id )?((?:msg|m|id)[_-]\w+|[\w.-]*\d[\w.-]*@[\w.-]+|[0-9a-f]{12,})\b/i;

/** A search of mail, alone or to find the message that something is asked about. */
function readMailSearch(request: Wording, found: NamedPattern<EmailIntent>, at: Now): DomainReading {
  const { intent, tools } = found;
  if (!request.asks && /^(?:when|if|once)\b/i.test(request.head))
    return doubt("a request without a condition", "The request waits for something.");
  const id = intent === "status" ? ID.exec(request.head)?.[1] : undefined;
  if (id && !id.includes("@"))
    return { tools: ["gmail_get_delivery_status"], risk: "low", params: { message_id: id } };
  const span = readDaySpan(request.head, at);
  const head = span?.rest ?? request.head;
  const from = (FROM.exec(head) ?? SENT.exec(head) ?? OWNER.exec(head))?.[1];
  const to = intent === "status" || !from ? TO.exec(head)?.[1] : undefined;
  const person = from ?? to;
  if (person && findPeople(person).who.length === 0)
    return doubt("whose mail", `It is unclear who '${person}' is.`);
  const query = findQuery(request, head, person);
  const slots = {
    ...(query && { query }),
    ...(from && { from }),
    ...(!from && to && { to }),
    ...(/\bunread\b/i.test(head) && { unread: true }),
    ...(/\battach(?:ment|ed)/i.test(head) && { has_attachment: true }),
    ...(span?.start && { after: span.start }),
    ...(span?.end && span.days !== undefined && { before: span.end }),
  };
  if (intent === "status" && !to)
    return doubt("message id or recipient", "The request does not say which message is meant.");
  if (intent === "read" || intent === "status") {
    const whose = from ? ` from ${from}` : to ? ` to ${to}` : "";
    const assumptions = [`Took the newest message${whose}.`];
    return { tools, risk: "low", params: { ...slots, limit: 1 }, assumptions };
  }
  const assumptions =
    Object.keys(slots).length === 0 ? ["No words to search for were given: took the newest mail."] : [];
  return { tools, risk: "low", params: slots, assumptions };
}

function findQuery(request: Wording, head: string, person: string | undefined): string | undefined {
  const rest = person ? head.replace(new RegExp(`\\b(?:from|by|to|for) ${escaped(person)}`, "u"), "") : head;
  const words = WORDS.map((form) => form.exec(rest)).find((match) => match !== null);
  const named = words?.[1] ?? words?.[2] ?? findTopic(head);
  const quoted = named ?? new RegExp(QUOTE).exec(head)?.[0];
  const query =
    quoted &&
    request
      .restore(quoted)
      .replace(/^(?:the|my|our|any|an?|e-?mails?|mails?)\s+/i, "")
      .trim();
  return query && !NO_TOPIC.test(query) ? query : undefined;
}

function findTopic(head: string): string | undefined {
  const topic = TOPIC.exec(head)?.[1];
  return topic && !NO_TOPIC.test(topic) ? topic : undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** What the mail tools' calls came to. */
export function summariseEmail(calls: readonly PastCall[]): string {
  const sent = findData(calls, "gmail_send_email") ?? findData(calls, "gmail_reply_to_message");
  const status = findData(calls, "gmail_get_delivery_status");
  const draft = findData(calls, "gmail_create_draft");
  const message = toData(findData(calls, "gmail_get_message")?.message);
  const input = calls.findLast(({ tool }) => tool === "gmail_send_email")?.input;
  if (sent) {
    const to = readTexts(sent, "recipients");
    const what = input ? `'${readField(input, "subject")}'` : "the reply";
    return `Sent ${what} to ${countNoun(to.length, "recipient")}: ${to.join(", ")}. ${describeDelivery(status ?? sent)}`;
  }
  if (status) return describeDelivery(status);
  if (draft)
    return `Saved a draft '${readField(draft, "subject")}' to ${readTexts(draft, "recipients").join(", ")}.`;
  if (readField(message, "message_id")) return describeMessage(message);
  const found = findData(calls, "gmail_search_messages");
  return found ? describeFoundMail(found) : "";
}

function describeDelivery(data: CallData): string {
  const byStatus = new Map<string, string[]>();
  for (const one of readList(data, "deliveries")) {
    const detail = readField(one, "detail");
    const status = `${readField(one, "status")}${detail ? ` (${detail})` : ""}`;
    byStatus.set(status, [...(byStatus.get(status) ?? []), readField(one, "recipient")]);
  }
  const [only] = byStatus.keys();
  if (byStatus.size === 1 && only) return `Delivery: ${only}.`;
  const each = [...byStatus].map(([status, who]) => `${who.join(", ")} ${status}`);
  return `Delivery: ${readField(data, "delivery_status") || "unknown"}${each.length > 0 ? `: ${each.join("; ")}` : ""}.`;
}

function describeMessage(message: CallData): string {
  return `'${readField(message, "subject")}' from ${readField(message, "from")}, ${readField(message, "date").slice(0, 10)}: “${shortenQuote(readField(message, "body"))}”`;
}

function describeFoundMail(data: CallData): string {
  const messages = readList(data, "messages");
  if (messages.length === 0) return "No messages were found.";
  const lines = messages
    .slice(0, MOST_SHOWN)
    .map(
      (one) =>
        `'${readField(one, "subject")}' from ${readField(one, "from")} (${readField(one, "date").slice(0, 10)})`,
    );
  return `${countNoun(Number(data.total ?? messages.length), "message")}: ${lines.join("; ")}${markMore(messages.length)}.`;
}
