import { isoWithOffset } from "@retinue/core/text/zone";
import { isInternal } from "../recipients/reach.ts";
import type { Services } from "../service-tools/call-service.ts";
import { writeTool } from "../service-tools/service-tool.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { visibleLine, visibleText } from "../service-tools/tool-output.ts";
import { findSlackChannel, parseSlackTs, SLACK_PROPERTIES } from "./message-data.ts";
import type { SlackMessage } from "./slack-provider.ts";

type PostInput = { channel: string; text: string; thread_ts?: string };
type PostPlan = {
  /** `#channel` or `@person`, in the one form rules compare. */
  readonly target: string;
  readonly channelId: string;
  readonly text: string;
  readonly threadTs?: string;
  /** Why a person must confirm it. */
  readonly reason: string | null;
  readonly notes: readonly string[];
};

/** Everybody's attention, however it is spelled. */
const BROADCAST =
  /<!(?:channel|here|everyone|group|subteam)|(?<![\w.])@(?:channel|here|everyone|group)(?!\w)/i;

/** The tool `slack_post_message`. */
export const postMessage = writeTool<PostInput, PostPlan>({
  name: "slack_post_message",
  description:
    "Posts a message into a channel, into a thread of it, or to one person, at once. @channel, @here or @everyone in the text, and channels shared with other organisations, need a person's confirmation. Gives ts and link of the message.",
  group: "slack",
  properties: {
    channel: { ...SLACK_PROPERTIES.channel, description: "#name of a channel, or @name of a person." },
    text: { type: "string", minLength: 1, maxLength: 12_000, description: "The whole message." },
    thread_ts: { ...SLACK_PROPERTIES.thread_ts, description: "To answer in the thread of this message." },
  },
  required: ["channel", "text"],
  outbound: true,
  plan: planPost,
  reaches: ({ target }) => [target],
  risk: ({ reason }) => (reason === null ? "medium" : "high"),
  confirm: ({ reason }) => reason,
  present: async ({ target, threadTs, text, notes }) =>
    [
      `To: ${target}${notes.map((note) => ` [${note}]`).join("")}`,
      threadTs && `In the thread: ${threadTs}`,
      "",
      visibleText(text),
    ]
      .filter((line) => line !== undefined)
      .join("\n"),
  find: async ({ channel: name, thread_ts }, { services, key }) => {
    const { target, channelId } = await destination(name, services);
    const query = { channelId, callKey: key, ...(thread_ts && { threadTs: thread_ts }) };
    const posted = await services.slack((slack, signal) => slack.findByCallKey(query, signal));
    return posted && { data: postedData(posted, target, services) };
  },
  run: async (_input, { plan: { target, channelId, text, threadTs }, services, key }) => {
    const where = { channelId, callKey: key, ...(threadTs && { threadTs }) };
    const posted = await services.slack(
      (slack, signal) => slack.post({ ...where, text }, signal),
      (slack, signal) => slack.findByCallKey(where, signal),
    );
    return { data: postedData(posted, target, services) };
  },
});

async function planPost({ channel, text, thread_ts }: PostInput, services: Services): Promise<PostPlan> {
  const { target, channelId, outside } = await destination(channel, services);
  const calls = BROADCAST.test(text.normalize("NFKC").replaceAll(/\p{Cf}/gu, ""));
  const notes = [...(outside ? [outside] : []), ...(calls ? ["calls everybody there"] : [])];
  const reason = notes.length > 0 ? `the message to ${target}: ${notes.join("; ")}` : null;
  return { target, channelId, text, ...(thread_ts && { threadTs: thread_ts }), reason, notes };
}

/** Where a message goes, and what of it lies outside the organisation. */
async function destination(
  name: string,
  services: Services,
): Promise<{ target: string; channelId: string; outside: string | null }> {
  const wanted = name.trim();
  const isPerson = /^<?@/.test(wanted);
  const channel = await findSlackChannel(wanted, services);
  if (!isPerson && !channel.name.startsWith("@")) {
    const outside = channel.isShared ? "shared with other organisations" : null;
    return { target: `#${visibleLine(channel.name)}`, channelId: channel.id, outside };
  }
  // A direct conversation, however it was named: what counts is who reads it.
  const who = isPerson ? wanted : channel.name;
  const user = await services.slack((slack, signal) => slack.user(who, signal));
  if (channel.name.replace(/^@/, "") !== user.name)
    throw new ToolFault(
      "params",
      `'${visibleLine(wanted)}' is not clear; name the person by id or mail address`,
    );
  const isOutside = user.email !== undefined && (await isForeign(user.email, services));
  const shared = channel.isShared ? "of another organisation" : null;
  return {
    target: `@${visibleLine(user.name)}`,
    channelId: channel.id,
    outside: isOutside ? `external: ${visibleLine(user.email ?? "")}` : shared,
  };
}

/** Where the owner's own address cannot be learnt, everybody is outside. */
async function isForeign(email: string, services: Services): Promise<boolean> {
  const { internalDomains } = services.assistant;
  const own = await services.mail((mail, signal) => mail.self(signal)).catch(() => ({ address: "" }));
  return !isInternal(email.toLowerCase(), { self: own.address, internalDomains });
}

function postedData({ ts, link }: SlackMessage, target: string, { assistant: { zone } }: Services) {
  return {
    posted: true,
    channel: target,
    ts,
    ...(link && { link }),
    timestamp: isoWithOffset(parseSlackTs(ts), zone),
  };
}
