import type { SlackUser } from "../../slack/slack-provider.ts";
import type { EmbeddedDatabase } from "../embedded-database.ts";
import {
  allChannels,
  allUsers,
  type StoredChannel,
  type StoredMessage,
  storedMessage,
} from "../slack-rows.ts";
import type { ExportedFile } from "./export-files.ts";
import type { Counts } from "./import-report.ts";
import { CHANNEL_FILES } from "./import-slack.ts";
import { CALL_EVENT } from "./read-slack-export.ts";

/** The files of a Slack export: people, channels, and the messages of each day. */
export function* slackFiles(database: EmbeddedDatabase, counts: Counts): Generator<ExportedFile> {
  const users = allUsers(database);
  const channels = allChannels(database);
  if (users.length + channels.length === 0) return;
  yield jsonFile("users.json", users.map(userFields));
  counts.channels = channels.length;
  for (const { file, kind } of CHANNEL_FILES) {
    const own = channels.filter((channel) => channel.kind === kind);
    if (own.length > 0 || kind === "public") yield jsonFile(file, own.map(channelFields));
    for (const channel of own) yield* dayFiles(database, channel, counts);
  }
}

function* dayFiles(
  database: EmbeddedDatabase,
  channel: StoredChannel,
  counts: Counts,
): Generator<ExportedFile> {
  const rows = database.db
    .prepare("SELECT * FROM slack_messages WHERE channel_id = ? ORDER BY at, ts")
    .iterate(channel.id);
  const folder = channel.kind === "direct" ? channel.id : channel.name;
  let day = "";
  let messages: object[] = [];
  for (const row of rows) {
    const message = storedMessage(row);
    const date = new Date(Number(row.at) * 1000).toISOString().slice(0, 10);
    if (date !== day && messages.length > 0) {
      yield jsonFile(`${folder}/${day}.json`, messages);
      messages = [];
    }
    day = date;
    messages.push(messageFields(message));
    counts.messages++;
  }
  if (messages.length > 0) yield jsonFile(`${folder}/${day}.json`, messages);
}

function jsonFile(path: string, list: readonly object[]): ExportedFile {
  return { path: `slack/${path}`, content: Buffer.from(`${JSON.stringify(list, null, 2)}\n`) };
}

function userFields({ id, name, realName, title, email, zone, status, isBot }: SlackUser): object {
  const profile = { real_name: realName, title, email, status_text: status };
  return { id, name, real_name: realName, tz: zone, is_bot: isBot, profile };
}

function channelFields({ id, name, kind, isShared, members }: StoredChannel): object {
  return kind === "direct"
    ? { id, members }
    : { id, name, is_private: kind === "private", is_ext_shared: isShared, members };
}

function messageFields({ ts, threadTs, userId, userName, text, reactions, callKey }: StoredMessage): object {
  const metadata =
    callKey === undefined ? undefined : { event_type: CALL_EVENT, event_payload: { key: callKey } };
  return {
    type: "message",
    user: userId,
    username: userName,
    text,
    ts,
    thread_ts: threadTs,
    reactions,
    metadata,
  };
}
