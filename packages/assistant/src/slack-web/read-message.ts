import { type JsonObject, numberIn, recordIn, recordsIn, textIn } from "../service-tools/read-json.ts";
import type { SlackMessage } from "../slack/slack-provider.ts";
import { isSlackTs, mentionedPeople, readableText } from "../slack/slack-text.ts";
import type { Channels } from "./channels.ts";
import { type Identity, linkTo, type SlackPeople, type Team } from "./people.ts";

/** A message as Slack tells it, and where it stands. */
export type RawMessage = {
  readonly raw: JsonObject;
  readonly channel: { readonly id: string; readonly name: string };
};

/** What messages are read with. */
export type Directory = { readonly people: SlackPeople; readonly channels: Channels; readonly team: Team };

/** Makes messages readable. Names are asked for once per person, links are built without asking. */
export async function readSlackMessages(
  messages: readonly RawMessage[],
  directory: Directory,
  signal: AbortSignal,
): Promise<SlackMessage[]> {
  if (messages.length === 0) return [];
  await directory.people.learn(
    messages.flatMap(({ raw }) => [textIn(raw.user) ?? "", ...mentionedPeople(rawText(raw))]),
    signal,
  );
  const identity = await directory.team.identityIfKnown(signal);
  return messages.map((message) => readSlackMessage(message, directory, identity));
}

/** Reads one message with what is known by now. */
export function readSlackMessage(
  { raw, channel }: RawMessage,
  directory: Directory,
  identity: Identity,
): SlackMessage {
  const ts = textIn(raw.ts) ?? "";
  const permalink = textIn(raw.permalink);
  const threadTs = textIn(raw.thread_ts) ?? findThread(permalink);
  const replies = numberIn(raw.reply_count);
  const link = linkTo(identity, { channelId: channel.id, ts, threadTs }) ?? permalink;
  return {
    ts,
    channel,
    user: readAuthor(raw, directory.people),
    text: readSlackText(raw, directory),
    reactions: recordsIn(raw.reactions).flatMap(({ name, count }) => {
      const emoji = textIn(name);
      return emoji === undefined ? [] : [{ name: emoji, count: numberIn(count) ?? 1 }];
    }),
    ...(threadTs === undefined ? {} : { threadTs }),
    ...(replies === undefined ? {} : { replies }),
    ...(link?.startsWith("https://") ? { link } : {}),
  };
}

/** The message's text with the names that are known by now. */
export function readSlackText(
  raw: JsonObject,
  { people, channels }: Pick<Directory, "people" | "channels">,
): string {
  return readableText(rawText(raw), { person: people.getName, channel: channels.getName });
}

/** Apps often leave the text empty and say everything in attachments; files are named. */
function rawText(raw: JsonObject): string {
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
