import { doubt, type Reading } from "../assessment.ts";
import type { EmailIntent, NamedPattern } from "../intent-patterns.ts";
import { peopleIn } from "../slots/people.ts";
import { QUOTE, type Request } from "../slots/request.ts";
import { readSpan } from "../slots/span.ts";
import type { Now } from "../slots/when.ts";

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
export function readMailSearch(request: Request, found: NamedPattern<EmailIntent>, at: Now): Reading {
  const { intent, tools } = found;
  if (!request.asks && /^(?:when|if|once)\b/i.test(request.head))
    return doubt("a request without a condition", "The request waits for something.");
  const id = intent === "status" ? ID.exec(request.head)?.[1] : undefined;
  if (id && !id.includes("@"))
    return { tools: ["gmail_get_delivery_status"], risk: "low", params: { message_id: id } };
  const span = readSpan(request.head, at);
  const head = span?.rest ?? request.head;
  const from = (FROM.exec(head) ?? SENT.exec(head) ?? OWNER.exec(head))?.[1];
  const to = intent === "status" || !from ? TO.exec(head)?.[1] : undefined;
  const person = from ?? to;
  if (person && peopleIn(person).who.length === 0)
    return doubt("whose mail", `It is unclear who '${person}' is.`);
  const query = queryIn(request, head, person);
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

function queryIn(request: Request, head: string, person: string | undefined): string | undefined {
  const rest = person ? head.replace(new RegExp(`\\b(?:from|by|to|for) ${escaped(person)}`, "u"), "") : head;
  const words = WORDS.map((form) => form.exec(rest)).find((match) => match !== null);
  const named = words?.[1] ?? words?.[2] ?? topicIn(head);
  const quoted = named ?? new RegExp(QUOTE).exec(head)?.[0];
  const query =
    quoted &&
    request
      .restore(quoted)
      .replace(/^(?:the|my|our|any|an?|e-?mails?|mails?)\s+/i, "")
      .trim();
  return query && !NO_TOPIC.test(query) ? query : undefined;
}

function topicIn(head: string): string | undefined {
  const topic = TOPIC.exec(head)?.[1];
  return topic && !NO_TOPIC.test(topic) ? topic : undefined;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
