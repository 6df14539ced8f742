import { isoWithOffset } from "@retinue/core/text/zone";
import type { Services } from "../service-tools/call-service.ts";
import { RANGE_FORMS, readRange, type TimeRange } from "../service-tools/read-time.ts";
import { cutText } from "../service-tools/tool-output.ts";
import type { SlackChannel, SlackMessage } from "./slack-provider.ts";

const MAX_TEXT = 1_500;
/** No calendar goes further. */
const LAST_MOMENT = 8_640_000_000_000_000 - 86_400_000;

/** The input fields that several Slack tools share. */
export const SLACK_PROPERTIES = {
  channel: { type: "string", minLength: 1, maxLength: 200, description: "Its name, such as #project-alpha." },
  time_range: {
    type: "string",
    minLength: 1,
    maxLength: 80,
    description: `${RANGE_FORMS}; 7d by default, a length counts back from now.`,
  },
  thread_ts: {
    type: "string",
    pattern: "^[0-9]{1,16}(\\.[0-9]{1,9})?$",
    description: "The ts of the thread's first message.",
  },
} as const;

/** One message in an output. */
export function describeMessage(message: SlackMessage, zone: string) {
  const { ts, user, text, threadTs, replies, link } = message;
  return {
    ts,
    time: isoWithOffset(parseSlackTs(ts), zone),
    user: cutText(user.name, 200),
    text: cutText(text, MAX_TEXT),
    ...(threadTs && { thread_ts: threadTs }),
    ...(replies && { replies }),
    ...(link && { link }),
  };
}

/** When a message was posted, in milliseconds since 1970. */
export function parseSlackTs(ts: string): number {
  const moment = Math.round(Number(ts) * 1_000);
  return Math.abs(moment) <= LAST_MOMENT ? moment : 0;
}

/** The channel of this name. */
export function findSlackChannel(name: string, services: Services): Promise<SlackChannel> {
  return services.slack((slack, signal) => slack.channel(name, signal));
}

/** A channel as it is called; a direct conversation is called by its partner. */
export function labelChannel({ name }: Pick<SlackChannel, "name">): string {
  return name.startsWith("@") ? name : `#${name}`;
}

/** The span that a time range means, in the past if it is a length. */
export function readPastRange(text: string, { assistant: { now, zone } }: Services): TimeRange {
  return readRange(text, { now: now(), zone, towards: "past" });
}

/** The oldest and the latest moment as Slack counts, in seconds; a span that ends now is left open. */
export function toSlackSpan({ from, to }: TimeRange, now: number): { oldest: number; latest?: number } {
  return { oldest: from / 1_000, ...(to < now && { latest: to / 1_000 }) };
}

/** Top-level messages with the replies of their threads, each thread behind its first message. */
export async function addThreads(
  messages: readonly SlackMessage[],
  { channelId, services, most }: { channelId: string; services: Services; most: number },
): Promise<{ messages: readonly SlackMessage[]; more: boolean }> {
  const all: SlackMessage[] = [];
  let threads = 0;
  let more = false;
  for (const message of messages) {
    all.push(message);
    if (!message.replies) continue;
    if (++threads > most) {
      more = true;
      continue;
    }
    const thread = await services.slack((slack, signal) =>
      slack.replies(channelId, message.threadTs ?? message.ts, 100, signal),
    );
    more ||= thread.more;
    all.push(...thread.messages.filter(({ ts }) => ts !== message.ts));
  }
  return { messages: all, more };
}
