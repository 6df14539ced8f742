// Messages of channels and threads at Slack, as readers see them.

import { type JsonObject, numberIn, recordIn, recordsIn, textIn } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackMessage, SlackProvider } from "../slack/slack-provider.ts";
import { isSlackTs, isSystemMessage, listMentioned, readSlackMarkup } from "../slack/slack-text.ts";
import type { Channels } from "./channels.ts";
import { buildMessageLink, type Identity, type SlackPeople } from "./people.ts";
import { callPages, type SlackApi } from "./slack-api.ts";

/** What of a channel is wanted. */
type HistoryRange = { readonly oldest?: number; readonly latest?: number; readonly limit: number };

const PAGE = 200;
const DAY_S = 86_400;
/** Creates what reads channels and threads. */
export function createHistory(workspace: Workspace): Pick<SlackProvider, "messages" | "replies"> {
  const readable = async (channelId: string, raws: readonly JsonObject[], signal: AbortSignal) => {
    if (raws.length === 0) return [];
    const channel = { id: channelId, name: await workspace.channels.learn(channelId, signal) };
    const placed = raws.map((raw) => ({ raw, channel }));
    return readSlackMessages(placed, workspace, signal);
  };
  return {
    async messages(channelId, range, signal) {
      const { raws, more } = await fetchHistory(workspace, { channelId, range }, signal);
      return { messages: await readable(channelId, raws.toReversed(), signal), more };
    },
    async replies(channelId, threadTs, limit, signal) {
      const { raws, more } = await fetchThread(workspace, { channelId, threadTs, limit }, signal);
      return { messages: await readable(channelId, raws, signal), more };
    },
  };
}

/** Whether the name of this channel is known. */
export function isKnown({ channels }: Workspace, channelId: string): boolean {
  return (channels.getName(channelId) ?? channelId) !== channelId;
}

/** Newest first. */
export async function fetchHistory(
  workspace: Workspace,
  {
    channelId: channel,
    range,
    withMetadata,
  }: { readonly channelId: string; readonly range: HistoryRange; readonly withMetadata?: boolean },
  signal: AbortSignal,
): Promise<{ readonly raws: readonly JsonObject[]; readonly more: boolean }> {
  const { api } = workspace;
  const knownChannel = isKnown(workspace, channel);
  const { oldest = 0, latest = Number.POSITIVE_INFINITY, limit } = range;
  const fixed = { channel, ...buildRangeArgs(range, api.now()), include_all_metadata: withMetadata };
  const args = () => ({ ...fixed, limit: Math.min(PAGE, limit - raws.length) });
  const raws: JsonObject[] = [];
  const history = callPages(api, "conversations.history", args, signal, { knownChannel });
  for await (const { answer, next } of history) {
    const found = recordsIn(answer.messages);
    raws.push(...found.filter((raw) => wasSaid(raw) && isWithin(raw, oldest, latest)));
    if (raws.length >= limit)
      return { raws: raws.slice(0, limit), more: raws.length > limit || next !== undefined };
    if (next === undefined || found.some((raw) => Number(raw.ts) < oldest)) return { raws, more: false };
  }
  return { raws, more: true };
}

/** The first message and its replies, oldest first. Slack repeats the first message on each page. */
export async function fetchThread(
  workspace: Workspace,
  wanted: {
    readonly channelId: string;
    readonly threadTs: string;
    readonly limit: number;
    readonly withMetadata?: boolean;
  },
  signal: AbortSignal,
): Promise<{ readonly raws: readonly JsonObject[]; readonly more: boolean }> {
  const { channelId: channel, threadTs: ts, limit, withMetadata } = wanted;
  const shown = ts.slice(0, 40);
  if (!isSlackTs(ts))
    throw new ToolFault("params", `'${shown}' names no thread; a thread_ts looks like 1700000000.000100`);
  const args = () => ({ channel, ts, limit: PAGE, include_all_metadata: withMetadata });
  const raws = new Map<string, JsonObject>();
  const options = { knownChannel: isKnown(workspace, channel) };
  let more = true;
  for await (const page of callPages(workspace.api, "conversations.replies", args, signal, options)) {
    for (const raw of recordsIn(page.answer.messages)) {
      const own = textIn(raw.ts);
      if (own !== undefined && wasSaid(raw) && !raws.has(own)) raws.set(own, raw);
    }
    more = page.next !== undefined;
    if (raws.size >= limit) break;
  }
  return { raws: [...raws.values()].slice(0, limit), more: more || raws.size > limit };
}

/**
 * A range without an end is given one: Slack pages forward from `oldest` when it is alone, and the newest are wanted.
 * The end is a day ahead, so that a clock that is slow hides nothing.
 */
function buildRangeArgs({ oldest, latest }: HistoryRange, now: number): JsonObject {
  if (oldest === undefined && latest === undefined) return {};
  const end = latest ?? Math.ceil(now / 1000) + DAY_S;
  return { inclusive: true, latest: end.toFixed(6), oldest: oldest?.toFixed(6) };
}

function wasSaid(raw: JsonObject): boolean {
  return !isSystemMessage(raw.subtype) && isSlackTs(textIn(raw.ts));
}

function isWithin(raw: JsonObject, oldest: number, latest: number): boolean {
  const at = Number(raw.ts);
  return at >= oldest && at <= latest;
}

/** A message as Slack gives it, and its channel. */
export type RawMessage = {
  readonly raw: JsonObject;
  readonly channel: { readonly id: string; readonly name: string };
};

/** A workspace at Slack, with what was learnt of it. */
export type Workspace = {
  readonly api: SlackApi;
  readonly people: SlackPeople;
  readonly channels: Channels;
};

/** Makes messages readable. Names are asked for once per person, links are built without asking. */
export async function readSlackMessages(
  messages: readonly RawMessage[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<SlackMessage[]> {
  if (messages.length === 0) return [];
  const { people } = workspace;
  await people.learn(
    messages.flatMap(({ raw }) => [textIn(raw.user) ?? "", ...listMentioned(readRawText(raw))]),
    signal,
  );
  const { url } = await people.identity(signal).catch((thrown: unknown): Identity => {
    if (!(thrown instanceof ToolFault) || thrown.type === "auth") throw thrown;
    return {};
  });
  return messages.map((message) => readSlackMessage(message, workspace, url));
}

/** Reads one message with what is known by now; `url` is where the workspace's pages are. */
export function readSlackMessage(
  { raw, channel }: RawMessage,
  workspace: Workspace,
  url?: string,
): SlackMessage {
  const ts = textIn(raw.ts) ?? "";
  const permalink = textIn(raw.permalink);
  const threadTs = textIn(raw.thread_ts) ?? findThread(permalink);
  const link = buildMessageLink(url, { channelId: channel.id, ts, threadTs }) ?? permalink;
  return {
    ts,
    channel,
    user: readAuthor(raw, workspace.people),
    text: readSlackText(raw, workspace),
    reactions: recordsIn(raw.reactions).flatMap(({ name, count }) => {
      const emoji = textIn(name);
      return emoji === undefined ? [] : [{ name: emoji, count: numberIn(count) ?? 1 }];
    }),
    threadTs,
    replies: numberIn(raw.reply_count),
    link: link?.startsWith("https://") ? link : undefined,
  };
}

/** The message's text with the names that are known by now. */
export function readSlackText(raw: JsonObject, { people, channels }: Workspace): string {
  return readSlackMarkup(readRawText(raw), { person: people.getName, channel: channels.getName });
}

/** Apps often leave the text empty and say everything in attachments; files are named. */
function readRawText(raw: JsonObject): string {
  const attached = recordsIn(raw.attachments).map(({ pretext, title, text, fallback }) => {
    const said = [pretext, title, text].map(textIn).filter((part) => part !== undefined);
    return said.length > 0 ? said.join("\n") : (textIn(fallback) ?? "");
  });
  const files = recordsIn(raw.files).map(
    (file) => `[file: ${textIn(file.name) ?? textIn(file.title) ?? "unnamed"}]`,
  );
  const text = textIn(raw.text) ?? attached.filter(textIn).join("\n");
  return [text, ...files].filter(textIn).join("\n");
}

function readAuthor(raw: JsonObject, people: SlackPeople): SlackMessage["user"] {
  const id = textIn(raw.user);
  if (id !== undefined) return { id, name: people.getName(id) ?? id };
  const bot = textIn(raw.bot_id) ?? "";
  return {
    id: bot,
    name: textIn(raw.username) ?? textIn(recordIn(raw.bot_profile).name) ?? (bot || "unknown"),
  };
}

/** Search tells the thread only in the address of the message. */
function findThread(permalink: string | undefined): string | undefined {
  const ts = permalink && URL.parse(permalink)?.searchParams.get("thread_ts");
  return ts && isSlackTs(ts) ? ts : undefined;
}
