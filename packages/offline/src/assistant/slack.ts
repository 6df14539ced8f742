import type { PastCall } from "../procedure.ts";
import {
  type CallData,
  countNoun,
  findData,
  MOST_SHOWN,
  markMore,
  readField,
  readList,
  shortenQuote,
  toData,
} from "./call-data.ts";
import { findDoubt } from "./cautions.ts";
import type { NamedPattern } from "./domains.ts";
import { type DomainReading, doubt } from "./domains.ts";
import { type MessageText, mayHoldMore, takeMessageText } from "./message-text.ts";
import { findPeople } from "./people.ts";
import { type DaySpan, readDaySpan } from "./span.ts";
import type { Now } from "./when.ts";
import { capitalise, QUOTE, type Wording } from "./wording.ts";

type SlackIntent = "post" | "thread" | "user" | "search" | "analyze" | "messages";

export const SLACK_PATTERNS: readonly NamedPattern<SlackIntent>[] = [
  {
    intent: "post",
    pattern:
      /^(?:post|send|tell|let|share|announce|drop|ping|message|dm|write|say|put|publish|leave|notify)\b/i,
    tools: ["slack_post_message"],
    riskLevel: "medium",
  },
  {
    intent: "thread",
    pattern: /\bthreads?\b|\breplies\b/i,
    tools: ["slack_get_thread_replies"],
    riskLevel: "low",
  },
  {
    intent: "user",
    pattern:
      /\buser (?:info|details|profile)\b|^who(?: is|['’]s) @?\S+|\bprofile of\b|\binfo (?:on|about|for) @/i,
    tools: ["slack_get_user_info"],
    riskLevel: "low",
  },
  {
    intent: "analyze",
    pattern:
      /\bsummar\w*\b|\banaly[sz]e\b|\bdecid\w*|\bdecisions?\b|\bopen questions?\b|\baction items?\b|\bcatch me up\b|\btl;?dr\b|\bwhat(?: is|['’]s) (?:going on|happening|up|new)\b|\bdiscussed\b|\brecap\b|\bgist\b|\brundown\b|\bdigest\b|\btopics?\b/i,
    tools: ["slack_get_channel_messages", "slack_analyze_conversation"],
    riskLevel: "low",
  },
  {
    intent: "search",
    pattern:
      /^(?:search|find|look for)\b|\b(?:mention\w*|talk\w* about|sa(?:y|id) about|ask\w* about|(?:talk|chatter|word|discussion)s? (?:of|about|on))\b/i,
    tools: ["slack_search_messages"],
    riskLevel: "low",
  },
  {
    intent: "messages",
    pattern: /^(?:get|show|read|list|fetch|what|give)\b/i,
    tools: ["slack_get_channel_messages"],
    riskLevel: "low",
  },
];

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
export function readSlack(request: Wording, at: Now): DomainReading {
  const found = SLACK_PATTERNS.find(({ pattern }) => pattern.test(request.head));
  if (!found) return doubt("a request for Slack", "No rule of the Slack agent knows this form of request.");
  if (found.intent === "post") return readPost(request, found.tools);
  const span = readDaySpan(request.head, at);
  const head = span?.rest ?? request.head;
  const channels = [...new Set([...head.matchAll(CHANNEL)].map(([name]) => name))];
  const [channel] = channels;
  const plan = (params: Record<string, unknown>, assumptions: readonly string[] = []): DomainReading => ({
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
  const range = formatRange(span);
  const assumptions = span?.days === undefined ? [`Looked at the last ${range.slice(0, -1)} days.`] : [];
  return plan({ channel, time_range: range, limit: 100 }, assumptions);
}

function formatRange(span: DaySpan | undefined): string {
  return `${Math.min(90, span?.days ?? 7)}d`;
}

function readPost(request: Wording, tools: readonly string[]): DomainReading {
  const direct = FORMS.slice(1).map((form) => form.exec(request.head)?.groups);
  const quoted = direct.find((groups) => groups !== undefined);
  const message = quoted ? undefined : (readTold(request) ?? takeMessageText(request));
  const head = message?.head ?? request.head;
  const caution = findDoubt(head);
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
  const channel = findChannel(place, request);
  if (!channel) return doubt("channel", `'${place}' is neither a channel nor a person on Slack.`);
  return { tools, risk: "medium", params: { channel, text } };
}

/** `tell #general we are live`: what follows the place is the text. */
function readTold(request: Wording): MessageText | undefined {
  const [, head = "", words = ""] =
    /^(tell [#@][\p{L}\p{N}_.-]+) (?!that\b|know\b|on slack|in slack)([^\ue000]+)$/iu.exec(request.head) ??
    [];
  return words ? { head, body: capitalise(words), empty: false, loose: true, mixed: false } : undefined;
}

/** `#name`, `@name`, or a person by name where Slack is spoken of. */
function findChannel(place: string, { head }: Wording): string | undefined {
  if (/^[#@]/.test(place)) return place.replace(/[.]+$/, "");
  const [who] = findPeople(place).who;
  return who && /\bslack\b|^dm\b/i.test(head) ? `@${who}` : undefined;
}

/** What the Slack tools' calls came to. */
export function summariseSlack(calls: readonly PastCall[]): string {
  const posted = findData(calls, "slack_post_message");
  const analysis = findData(calls, "slack_analyze_conversation");
  const user = toData(findData(calls, "slack_get_user_info")?.user);
  if (posted)
    return `Posted in ${readField(posted, "channel")}.${readField(posted, "link") ? ` ${readField(posted, "link")}` : ""}`;
  if (analysis) return describeAnalysis(analysis);
  if (readField(user, "user_id")) {
    const parts = [
      readField(user, "title"),
      readField(user, "email"),
      readField(user, "timezone"),
      readField(user, "status"),
    ].filter(Boolean);
    return `${readField(user, "real_name") || readField(user, "name")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
  }
  const found = ["slack_search_messages", "slack_get_thread_replies", "slack_get_channel_messages"]
    .map((tool) => findData(calls, tool))
    .find((data) => data !== undefined);
  if (!found) return "";
  const messages = readList(found, "messages");
  if (messages.length === 0) return "No messages were found.";
  const lines = messages
    .slice(0, MOST_SHOWN)
    .map((one) => `${readField(one, "user")}: “${shortenQuote(readField(one, "text"))}”`);
  return `${countNoun(Number(found.total ?? messages.length), "message")}: ${lines.join("; ")}${markMore(messages.length)}.`;
}

function describeAnalysis(data: CallData): string {
  const people = readList(data, "participants").map((one) => readField(one, "user"));
  const part = (name: string, heading: string) => {
    const lines = readList(data, name).map(
      (one) => `“${shortenQuote(readField(one, "text"))}” (${readField(one, "user")})`,
    );
    return lines.length > 0 ? `${heading}: ${lines.slice(0, MOST_SHOWN).join("; ")}.` : "";
  };
  const topics = readList(data, "topics").map((one) => readField(one, "topic"));
  return [
    `${readField(data, "channel")}: ${countNoun(Number(data.message_count ?? 0), "message")} by ${people.join(", ") || "nobody"}.`,
    topics.length > 0 ? `Topics: ${topics.join(", ")}.` : "",
    part("decisions", "Decisions"),
    part("open_questions", "Open questions"),
    part("action_items", "To do"),
  ]
    .filter(Boolean)
    .join(" ");
}
