import { showCount } from "@retinue/core/show/measures";
import {
  type CallData,
  findData,
  readField,
  readList,
  readTexts,
  shortenQuote,
  tellList,
} from "./call-data.ts";
import { type PastCall, toData } from "./conversation.ts";
import { capitalise } from "./offline-words.ts";
import {
  type DomainRules,
  doubt,
  doubtText,
  findAddress,
  lookUp,
  type PlannedCall,
  type Reading,
  type SentenceForm,
  splitPeople,
} from "./read-request.ts";
import { type Gaps, type Now, readSpan } from "./when.ts";

const LETTER = "(?:e-?mail|mail|message|note|line)";
const LETTERS = "(?:e-?mails?|mails?|messages)";
/** How the text of a message, or of a post, is told. */
export const TEXT_PARTS: readonly string[] = [
  "(?:saying|that says|and say|that)(?: that)?:? {text}",
  "(?:and )?(?:with )?(?:the )?(?:text|body|message):? {text}",
  "with {quote}",
  ": {text}",
];
const LETTER_PARTS = [
  "cc:? {cc}",
  "(?:and )?(?:with )?(?:the )?(?:subject|title) {subject}",
  "(?:about|regarding) (?:the |our |my |an? )?{topic}",
  ...TEXT_PARTS,
];
const SEARCH_PARTS = [
  "(?:from|by) {from}",
  "(?:(?:i )?sent )?to {to}",
  "(?:about|that mention|mentioning) (?:the |our |my |an? )?{topic}",
  "with (?<attached>attachments?)",
  "in my (?:inbox|mailbox)",
  "(?:received |sent )?(?:(?:from|in|on|over|during) )?{span}",
];

const send = (begins: string): SentenceForm => ({
  begins,
  parts: LETTER_PARTS,
  read: (gaps) => readLetter(gaps, "send"),
});
const draft = (begins: string): SentenceForm => ({
  begins,
  parts: LETTER_PARTS,
  read: (gaps) => readLetter(gaps, "draft"),
});
const search = (begins: string): SentenceForm => ({ begins, parts: SEARCH_PARTS, read: readSearch });
const latest = (begins: string): SentenceForm => ({
  begins,
  parts: SEARCH_PARTS,
  read: (gaps, at) => readNewest(gaps, at, "gmail_get_message"),
});
const reply = (begins: string): SentenceForm => ({ begins, parts: LETTER_PARTS.slice(2), read: readReply });
const delivery = (begins: string): SentenceForm => ({
  begins,
  read: (gaps, at) =>
    gaps.id ? useId(gaps, "gmail_get_delivery_status") : readNewest(gaps, at, "gmail_get_delivery_status"),
});

const NEWEST = "(?<newest>last |latest |newest |most recent )";

/** What mail can be asked for. */
export const email: DomainRules = {
  example: 'Send an email to john@company.com with the subject "Update" saying "We ship on Thursday."',
  sentences: [
    draft("(?:create|write|save|compose|prepare)(?: up)? an? (?:e-?mail )?draft (?:to|for) {people}"),
    draft(`draft an? ${LETTER} (?:to|for) {people}`),
    send(`(?:send|write|compose) (?:an? )?(?:new |quick |short )?${LETTER} to {people}`),
    send(`(?:send|write|drop|shoot) {people} an? (?:quick |short )?${LETTER}`),
    send("(?:e-?mail|mail) {people}"),
    send("(?:inform|notify|let) {people}(?: know)? by e?-?mail"),
    {
      begins:
        "send (?:an? |the |our |my )?(?<thing>(?:[a-z-]+ ){0,2}(?:update|reminder|thank-you note)) to {people}",
      read: readThing,
    },
    reply(`(?:reply|respond) to message {id}`),
    reply(`(?:reply|respond) to (?:the |my )?${NEWEST}?${LETTER} from {from}`),
    reply(`(?:reply|respond) to {from}['’]s ${NEWEST}?${LETTER}`),
    {
      begins: "(?:forward|pass on)",
      parts: ["{text}"],
      read: () => doubt("a tool that forwards", "There is no tool that forwards mail."),
    },
    delivery("(?:check|get|show|what is) (?:the )?delivery status of (?:the )?(?:message )?{id}"),
    delivery(`(?:was|did) my ${LETTER} to {to} (?:delivered|arrive|go through)`),
    {
      begins: "(?:get|read|open|show)(?: me)? (?:the )?message {id}",
      read: (gaps) => useId(gaps, "gmail_get_message"),
    },
    latest(`(?:read|open|show)(?: me)? (?:the |my )?${NEWEST}${LETTER}`),
    search(
      `(?:find|show|list|get|search(?: for)?|look for)(?: me)?(?: all)?(?: the| my)?(?: recent)?(?<unread> unread)? ${LETTERS}`,
    ),
    search(`(?:(?:are there|is there|do i have|have i got) )?any(?: recent)?(?<unread> unread)? ${LETTERS}`),
    search(`which ${LETTERS} did i get`),
    search(
      `(?:search|search through) (?:my |the )?(?:${LETTERS}|inbox|mailbox) for (?:the |our |my |an? )?{topic}`,
    ),
  ],
  tellings: [
    ["gmail_send_email", describeSent],
    ["gmail_reply_to_message", describeSent],
    ["gmail_get_delivery_status", describeDelivery],
    [
      "gmail_create_draft",
      (draft) =>
        `Saved a draft '${readField(draft, "subject")}' to ${readTexts(draft, "recipients").join(", ")}.`,
    ],
    ["gmail_get_message", describeMessage],
    ["gmail_search_messages", describeFoundMail],
  ],
};

function useId({ id }: Gaps, tool: string): Reading {
  return lookUp(tool, { message_id: id });
}

function readThing({ thing = "", people }: Gaps): Reading {
  const body = `${capitalise(thing)}.`;
  const subject = thing.replace(/(?<![\p{L}'’])\p{Ll}/gu, (letter) => letter.toUpperCase());
  return makeLetter({ people, subject, text: body }, "send", [
    `No text was given; the mail only says '${body}'`,
  ]);
}

function readLetter(gaps: Gaps, kind: "send" | "draft"): Reading {
  const fault = doubtText(gaps);
  if (fault) return fault;
  const subject = gaps.subject ?? gaps.topic;
  const text = gaps.text ?? gaps.quote;
  if (text === undefined && (kind === "send" || subject === undefined))
    return doubt("text", "The request does not say what the mail should say.");
  const body = text === undefined ? `About ${capitalise(subject ?? "")}.` : text;
  const assumptions = [
    ...(text === undefined ? [`No text was given; the mail only says '${body}'`] : []),
    ...(subject === undefined ? [`Took the subject from the text: '${makeSubject(body)}'.`] : []),
  ];
  return makeLetter(
    { ...gaps, subject: capitalise(subject ?? makeSubject(body)), text: body },
    kind,
    assumptions,
  );
}

function makeLetter(
  { people, cc, subject, text }: Gaps,
  kind: "send" | "draft",
  assumptions: readonly string[],
): Reading {
  const recipients = splitPeople(people);
  const copies = splitPeople(cc);
  const everyone = [...recipients, ...copies];
  const input = { recipients, subject, body: text, cc: cc && copies };
  return {
    calls:
      kind === "draft"
        ? [{ tool: "gmail_create_draft", input }]
        : [{ tool: "gmail_send_email", input }, DELIVERY_OF_SENT],
    risk: kind === "send" && everyone.length > 1 ? "high" : "medium",
    assumptions,
    notes: everyone.some(findAddress)
      ? "Addresses outside need a person's confirmation."
      : "Names are looked up in the contacts.",
  };
}

const DELIVERY_OF_SENT: PlannedCall = {
  tool: "gmail_get_delivery_status",
  input: {},
  needs(calls) {
    const sent = findData(calls, "gmail_send_email");
    return sent ? { message_id: readField(sent, "message_id") } : null;
  },
};

const MAX_SUBJECT = 60;

function makeSubject(body: string): string {
  const [first = ""] = body.split(/(?<=[.?!])\s|\n/, 1);
  const plain = first.replace(/[.?!]+$/, "");
  return plain.length <= MAX_SUBJECT ? plain : `${plain.slice(0, MAX_SUBJECT).replace(/\s+\S*$/, "")} …`;
}

function readReply(gaps: Gaps): Reading {
  const { id, from, newest, topic, text = gaps.quote } = gaps;
  const fault = doubtText(gaps);
  if (fault) return fault;
  if (text === undefined) return doubt("text", "The request does not say what the reply should say.");
  const tool = "gmail_reply_to_message";
  if (id) return { calls: [{ tool, input: { message_id: id, body: text } }], risk: "medium" };
  return {
    calls: [
      { tool: "gmail_search_messages", input: { query: topic, from, limit: newest ? 1 : 5 } },
      { tool, input: { body: text }, needs: (calls) => takeMessage(calls, gaps, newest !== undefined) },
    ],
    risk: "medium",
    assumptions: newest ? [`Took the newest message from ${from}.`] : [],
  };
}

function readSearch(gaps: Gaps, at: Now): Reading {
  const { topic, from, to, unread, attached, span } = gaps;
  const days = span === undefined ? undefined : readSpan(span, at);
  if (typeof days === "string") return doubt("a day", days);
  const flags = { unread: unread ? true : undefined, has_attachment: attached ? true : undefined };
  const input = { query: topic, from, to, after: days?.start, before: days?.end, ...flags };
  const isBare = Object.values(input).every((value) => value === undefined);
  const assumptions = isBare ? ["No words to search for were given: took the newest mail."] : [];
  return lookUp("gmail_search_messages", input, assumptions);
}

/** The newest message that fits, and one call about it. */
function readNewest(gaps: Gaps, at: Now, tool: string): Reading {
  const found = readSearch(gaps, at);
  if ("missing" in found) return found;
  return {
    calls: [
      ...found.calls.map((call) => ({ ...call, input: { ...call.input, limit: 1 } })),
      { tool, input: {}, needs: (calls) => takeMessage(calls, gaps, true) },
    ],
    risk: "low",
    assumptions: [`Took the newest message${nameWhose(gaps)}.`],
  };
}

function nameWhose({ from, to }: Gaps): string {
  return from ? ` from ${from}` : to ? ` to ${to}` : "";
}

/** The message that was looked for: the newest if only one was wanted, else the only one. */
function takeMessage(
  calls: readonly PastCall[],
  gaps: Gaps,
  isNewest: boolean,
): ReturnType<NonNullable<PlannedCall["needs"]>> {
  const found = findData(calls, "gmail_search_messages");
  if (!found) return null;
  const messages = readList(found, "messages").toSorted(
    (a, b) => Date.parse(readField(b, "date")) - Date.parse(readField(a, "date")),
  );
  const [message, ...others] = messages;
  if (!message) return `No message${nameWhose(gaps)} was found.`;
  if (others.length > 0 && !isNewest)
    return `${messages.length} messages${nameWhose(gaps)} fit, so none was taken: ${messages.map((one) => `'${readField(one, "subject")}'`).join(", ")}.`;
  return { message_id: readField(message, "message_id") };
}

function describeSent(sent: CallData, calls: readonly PastCall[]): string {
  const status = findData(calls, "gmail_get_delivery_status");
  const input = calls.findLast(({ tool }) => tool === "gmail_send_email")?.input;
  const to = readTexts(sent, "recipients");
  const what = input ? `'${readField(input, "subject")}'` : "the reply";
  return `Sent ${what} to ${showCount(to.length, "recipient")}: ${to.join(", ")}. ${describeDelivery(status ?? sent)}`;
}

function describeDelivery(data: CallData): string {
  const byStatus = Map.groupBy(readList(data, "deliveries"), (one) => {
    const detail = readField(one, "detail");
    return `${readField(one, "status")}${detail ? ` (${detail})` : ""}`;
  });
  const [only] = byStatus.keys();
  if (byStatus.size === 1 && only) return `Delivery: ${only}.`;
  const each = [...byStatus].map(
    ([status, all]) => `${all.map((one) => readField(one, "recipient")).join(", ")} ${status}`,
  );
  return `Delivery: ${readField(data, "delivery_status") || "unknown"}${each.length > 0 ? `: ${each.join("; ")}` : ""}.`;
}

function describeMessage(data: CallData): string {
  const message = toData(data.message);
  return `'${readField(message, "subject")}' from ${readField(message, "from")}, ${readField(message, "date").slice(0, 10)}: “${shortenQuote(readField(message, "body"))}”`;
}

function describeFoundMail(data: CallData): string {
  return tellList(
    data,
    { list: "messages", noun: "message" },
    (one) =>
      `'${readField(one, "subject")}' from ${readField(one, "from")} (${readField(one, "date").slice(0, 10)})`,
  );
}
