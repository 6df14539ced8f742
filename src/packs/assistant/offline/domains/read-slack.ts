import { doubt, type Reading } from "../assessment.ts";
import { SLACK_PATTERNS } from "../intent-patterns.ts";
import { doubtAbout } from "../slots/cautions.ts";
import { type MessageText, mayHoldMore, messageText } from "../slots/message-text.ts";
import { peopleIn } from "../slots/people.ts";
import { capitalised, QUOTE, type Request } from "../slots/request.ts";
import { type DaySpan, readSpan } from "../slots/span.ts";
import type { Now } from "../slots/when.ts";

const CHANNEL = /(?<![\w&])#[\p{L}_][\p{L}\p{N}_-]*/gu;
const USER = /(?<![\w.])@[\p{L}_][\p{L}\p{N}_.-]*/u;
const PLACE = "(?<place>[#@][\\p{L}\\p{N}_.-]+|(?:the )?\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+){0,2})";
const POSTS = "post|send|tell|let|share|announce|drop|ping|message|dm|write|say|put|publish|leave|notify";
const NOTE =
  "(?:(?:an?|the|this) )?(?:quick |short )?(?:slack )?(?:message|note|update|announcement|line|word|heads-?up|dm|reply)";
const ON_SLACK = "(?:,? (?:on|in|via|over) slack| channel| know)*";
/** Whole sentences without their text: whatever else they hold makes them unclear. */
const FORMS = [
  new RegExp(`^(?:${POSTS})(?: ${NOTE})?(?: (?:to|in|on|into|for))?(?: the)? ${PLACE}${ON_SLACK}$`, "iu"),
  new RegExp(`^(?:${POSTS}) (?<text>${QUOTE}) (?:to|in|on|into|for)(?: the)? ${PLACE}${ON_SLACK}$`, "iu"),
  new RegExp(`^(?:${POSTS})(?: (?:to|in|on|into))?(?: the)? ${PLACE}${ON_SLACK} (?<text>${QUOTE})$`, "iu"),
];
const THREAD = /\b\d{9,10}\.\d{4,6}\b/;
const ABOUT = new RegExp(
  `\\b(?:about|for|of|mention(?:ed|ing|s)?|regarding|containing|with) (?:the |our |a |an |any )?(?:(${QUOTE})|([^,?#@]+?))(?= from | in #| on slack| in slack| since | by |\\s*$)`,
  "iu",
);
const FROM = /\b(?:from|by) (@?\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?|@[\w.-]+)/u;
const WHO =
  /\b(?:for|about|of|on|is|who['’]s) (@[\p{L}\p{N}_.-]+|\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2})/u;

/** What a request for Slack wants read or posted. */
export function readSlack(request: Request, at: Now): Reading {
  const found = SLACK_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found) return doubt("a request for Slack", "No rule of the Slack agent knows this form of request.");
  if (found.intent === "post") return readPost(request, found.tools);
  const span = readSpan(request.head, at);
  const head = span?.rest ?? request.head;
  const channels = [...new Set([...head.matchAll(CHANNEL)].map(([name]) => name))];
  const [channel] = channels;
  const plan = (params: Record<string, unknown>, assumptions: readonly string[] = []): Reading => ({
    tools: found.tools,
    risk: "low",
    params,
    assumptions,
  });
  if (found.intent === "user") {
    const user = USER.exec(head)?.[0] ?? WHO.exec(head)?.[1];
    return user ? plan({ user }) : doubt("person", "The request does not say about whom.");
  }
  if (found.intent === "search") {
    const words = ABOUT.exec(head);
    const query = words?.[1] ?? words?.[2] ?? new RegExp(QUOTE).exec(head)?.[0];
    const from = FROM.exec(head)?.[1];
    if (!query) return doubt("search words", "The request does not say what to search for.");
    const text = request.restore(query).replace(/^slack for /i, "");
    return plan({ query: text, ...(channel && { channel }), ...(from && { from }) });
  }
  if (channels.length !== 1 || !channel)
    return doubt("channel", channels.length > 1 ? "More than one channel is named." : "No channel is named.");
  if (found.intent === "thread") {
    const thread = THREAD.exec(head)?.[0];
    return thread
      ? plan({ channel, thread_ts: thread })
      : doubt("thread", "The request does not say which thread.");
  }
  const range = rangeOf(span);
  const assumptions = span?.days === undefined ? [`Looked at the last ${range.slice(0, -1)} days.`] : [];
  return plan({ channel, time_range: range, limit: 100 }, assumptions);
}

function rangeOf(span: DaySpan | undefined): string {
  return `${Math.min(90, span?.days ?? 7)}d`;
}

function readPost(request: Request, tools: readonly string[]): Reading {
  const direct = FORMS.slice(1).map((form) => form.exec(request.head)?.groups);
  const quoted = direct.find((groups) => groups !== undefined);
  const message = quoted ? undefined : (told(request) ?? messageText(request));
  const head = message?.head ?? request.head;
  const caution = doubtAbout(head);
  if (caution) return caution;
  if (message && mayHoldMore(message))
    return doubt("quotation marks around the text", "It is unclear where the text ends.");
  const place = quoted?.place ?? FORMS[0]?.exec(head)?.groups?.place;
  if (place === undefined) {
    const names = [...head.matchAll(CHANNEL)];
    return doubt(
      names.length > 0 ? "a plain order" : "channel",
      "The request does not say plainly where to post.",
    );
  }
  const text = quoted?.text ? request.restore(quoted.text) : message?.body;
  if (!text) return doubt("text", "The request does not say what to post.");
  const channel = channelOf(place, request);
  if (!channel) return doubt("channel", `'${place}' is neither a channel nor a person on Slack.`);
  return { tools, risk: "medium", params: { channel, text } };
}

/** `tell #general we are live`: what follows the place is the text. */
function told(request: Request): MessageText | undefined {
  const [, head = "", words = ""] =
    /^(tell [#@][\p{L}\p{N}_.-]+) (?!that\b|know\b|on slack|in slack)([^\ue000]+)$/iu.exec(request.head) ??
    [];
  return words ? { head, body: capitalised(words), empty: false, loose: true, mixed: false } : undefined;
}

/** `#name`, `@name`, or a person by name where Slack is spoken of. */
function channelOf(place: string, { head }: Request): string | undefined {
  if (/^[#@]/.test(place)) return place.replace(/[.]+$/, "");
  const [who] = peopleIn(place).who;
  return who && /\bslack\b|^dm\b/i.test(head) ? `@${who}` : undefined;
}
