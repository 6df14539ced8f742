import { showCount } from "@retinue/core/show/measures";
import { type CallData, MOST_SHOWN, readField, readList, shortenQuote, tellList } from "./call-data.ts";
import { toData } from "./conversation.ts";
import { TEXT_PARTS } from "./email.ts";
import {
  answerWith,
  type DomainRules,
  doubt,
  doubtText,
  lookUp,
  type Reading,
  type SentenceForm,
} from "./read-request.ts";
import { type Gaps, type Now, readSpan } from "./when.ts";

const GET = "(?:get|show|read|list|give)(?: me)?";
const DISCUSSION = "(?:discussions?|conversations?|messages|decisions|open questions|action items)";
const CHANNEL = "(?:the )?{channel}(?: channel)?";
const SPAN_PARTS = ["(?:(?:of|from|over|for|in|during) )?(?:the )?{span}"];
const ON_SLACK = "(?:on|in|via) slack";

const messages = (begins: string): SentenceForm => ({
  begins,
  parts: SPAN_PARTS,
  read: (gaps, at) => readChannel(gaps, at, ["slack_get_channel_messages"]),
});
const analysis = (begins: string): SentenceForm => ({
  begins,
  parts: SPAN_PARTS,
  read: (gaps, at) => readChannel(gaps, at, ["slack_get_channel_messages", "slack_analyze_conversation"]),
});
const user = (begins: string) => answerWith(begins, "slack_get_user_info", (gaps) => ({ user: gaps.user }));
const post = (begins: string): SentenceForm => ({ begins, parts: [ON_SLACK, ...TEXT_PARTS], read: readPost });
const search = (begins: string): SentenceForm => ({
  begins,
  parts: [
    "(?:from|by) {from}",
    "about (?:the |our |my |an? )?{topic}",
    `in ${CHANNEL}`,
    `(?<slack>${ON_SLACK})`,
  ],
  read: readSlackSearch,
});

/** What Slack can be asked for. */
export const slack: DomainRules = {
  example: 'Post "We ship on Thursday." in #general',
  sentences: [
    post("(?:post|share|announce|send|write) {quote} (?:in|to|on) (?:the )?{place}(?: channel)?"),
    post("(?:post|write)(?: an? (?:message|note))? (?:in|to) (?:the )?{place}(?: channel)?"),
    post("(?:send|drop) an? (?:slack )?(?:message|note) (?:to|in) {place}"),
    post("(?:tell|ping|message) {place}"),
    analysis(
      `(?:summari[sz]e|analy[sz]e)(?: the| all)?(?: recent)?(?: ${DISCUSSION} (?:in|of|from))? ${CHANNEL}`,
    ),
    analysis(`${GET} a summary of ${CHANNEL}`),
    analysis(`catch me up on ${CHANNEL}`),
    analysis(`what(?:['’]s| is| was| has been) (?:decided|discussed|going on|happening) in ${CHANNEL}`),
    analysis(`list the (?:decisions|open questions|action items) in ${CHANNEL}`),
    messages(`${GET}(?: the)?(?: recent| latest)? messages (?:of|in|from) ${CHANNEL}`),
    messages(`read (?:the )?{span} of ${CHANNEL}`),
    answerWith(
      `${GET} (?:the )?(?:replies (?:in|of|to) )?(?:the )?thread {thread} (?:in|of) ${CHANNEL}`,
      "slack_get_thread_replies",
      ({ channel, thread }) => ({
        channel,
        thread_ts: thread,
      }),
    ),
    user(`${GET} (?:the )?slack (?:user )?(?:info|profile|details) (?:for|of|on) {user}`),
    user(`who is {user} on slack`),
    answerWith("search slack for {topic}", "slack_search_messages", ({ topic }) => ({ query: topic })),
    answerWith(`search ${CHANNEL} for {topic}`, "slack_search_messages", ({ topic, channel }) => ({
      query: topic,
      channel,
    })),
    search("(?:search|find|search for)(?: all)?(?<slack> slack)? messages"),
  ],
  tellings: [
    [
      "slack_post_message",
      (posted) => `Posted in ${readField(posted, "channel")}. ${readField(posted, "link")}`.trimEnd(),
    ],
    ["slack_analyze_conversation", describeAnalysis],
    ["slack_get_user_info", describeUser],
    ["slack_search_messages", describeMessages],
    ["slack_get_thread_replies", describeMessages],
    ["slack_get_channel_messages", describeMessages],
  ],
};

const DEFAULT_DAYS = 7;
const MOST_DAYS = 90;
const MOST_MESSAGES = 100;

function readChannel({ channel, span }: Gaps, at: Now, tools: readonly string[]): Reading {
  const days = span === undefined ? undefined : readSpan(span, at);
  if (typeof days === "string") return doubt("a day", days);
  const count = Math.min(MOST_DAYS, days?.days ?? DEFAULT_DAYS);
  const range = { channel, time_range: `${count}d` };
  return {
    calls: tools.map((tool) => ({
      tool,
      input: tool === "slack_get_channel_messages" ? { ...range, limit: MOST_MESSAGES } : range,
    })),
    risk: "low",
    assumptions: days?.days === undefined ? [`Looked at the last ${count} days.`] : [],
  };
}

function readSlackSearch({ topic, channel, from, slack: named }: Gaps): Reading {
  if (!topic) return doubt("search words", "The request does not say what to search for.");
  if (!channel && !named) return doubt("where", "The request does not say that it means Slack.");
  return lookUp("slack_search_messages", { query: topic, channel, from });
}

function readPost(gaps: Gaps): Reading {
  const fault = doubtText(gaps);
  if (fault) return fault;
  const text = gaps.quote ?? gaps.text;
  if (!text) return doubt("text", "The request does not say what to post.");
  return { calls: [{ tool: "slack_post_message", input: { channel: gaps.place, text } }], risk: "medium" };
}

function describeUser({ user: found }: CallData): string {
  const user = toData(found);
  const parts = ["title", "email", "timezone", "status"].map((name) => readField(user, name)).filter(Boolean);
  return `${readField(user, "real_name") || readField(user, "name")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
}

function describeMessages(found: CallData): string {
  return tellList(
    found,
    { list: "messages", noun: "message" },
    (one) => `${readField(one, "user")}: “${shortenQuote(readField(one, "text"))}”`,
  );
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
    `${readField(data, "channel")}: ${showCount(Number(data.message_count ?? 0), "message")} by ${people.join(", ") || "nobody"}.`,
    topics.length > 0 ? `Topics: ${topics.join(", ")}.` : "",
    part("decisions", "Decisions"),
    part("open_questions", "Open questions"),
    part("action_items", "To do"),
  ]
    .filter(Boolean)
    .join(" ");
}
