// The chat workspace of the local store.

import { textIn } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { findChannelNamed, pickPerson, refuseChannel } from "../slack/pick-name.ts";
import type { SlackMessage, SlackPage, SlackProvider, SlackUser } from "../slack/slack-provider.ts";
import { type Names, readSlackMarkup } from "../slack/slack-text.ts";
import { type EmbeddedDatabase, parseStored, type Row } from "./embedded-database.ts";
import { buildTextConditions, joinConditions } from "./search-terms.ts";

const MAX_TEXT_CHARS = 40_000;
const REPLIES = `(SELECT count(*) FROM slack_messages r
  WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts AND r.ts <> m.ts) AS replies`;

/** The chat workspace in the store. What is posted is kept there and goes nowhere else. */
export function createEmbeddedSlack(database: EmbeddedDatabase): SlackProvider {
  return {
    kind: "embedded",
    async channel(asked) {
      const { id, name, isShared } = findChannel(database, asked);
      return { id, name, isShared };
    },
    messages: async (channelId, query) => listTopLevel(database, channelId, query),
    replies: async (channelId, threadTs, limit) => listThread(database, channelId, threadTs, limit),
    search: async (query) => searchStored(database, query),
    user: async (who) => findUser(database, who),
    post: async (message) => keepPost(database, message),
    findByCallKey: async ({ channelId, callKey }) => findCallMessage(database, channelId, callKey),
  };
}

type Post = Parameters<SlackProvider["post"]>[0];

function listTopLevel(
  database: EmbeddedDatabase,
  channelId: string,
  { oldest = 0, latest = Number.MAX_SAFE_INTEGER, limit }: Parameters<SlackProvider["messages"]>[1],
): SlackPage {
  const rows = selectMessages(
    database,
    `m.channel_id = ? AND m.at >= ? AND m.at <= ? AND (m.thread_ts IS NULL OR m.thread_ts = m.ts)
     ORDER BY m.at DESC LIMIT ?`,
    [channelId, oldest, latest, limit + 1],
  );
  const messages = rows.slice(0, limit).reverse();
  return { messages, more: rows.length > messages.length };
}

/** The messages that a condition names, as a reader sees them; with their order and limit. */
function selectMessages(
  database: EmbeddedDatabase,
  where: string,
  values: readonly (string | number)[],
): SlackMessage[] {
  const rows = database.all(`SELECT m.*, ${REPLIES} FROM slack_messages m WHERE ${where}`, values);
  const names = loadSlackNames(database);
  return rows.map((row) => showMessage(row, names));
}

function listThread(
  database: EmbeddedDatabase,
  channelId: string,
  threadTs: string,
  limit: number,
): SlackPage {
  const rows = selectMessages(
    database,
    "m.channel_id = ? AND (m.ts = ? OR m.thread_ts = ?) ORDER BY m.at LIMIT ?",
    [channelId, threadTs, threadTs, limit + 1],
  );
  if (rows.length === 0)
    throw new ToolFault("params", `there is no thread '${threadTs.slice(0, 40)}' in this channel`);
  const messages = rows.slice(0, limit);
  return { messages, more: rows.length > messages.length };
}

function searchStored(
  database: EmbeddedDatabase,
  { text, channel, from, limit }: Parameters<SlackProvider["search"]>[0],
): { messages: SlackMessage[]; total: number } {
  const texts = buildTextConditions(text, { table: "slack_texts", columns: ["body"], row: "m.row" });
  if (texts === null && (text.trim() !== "" || (channel === undefined && from === undefined)))
    return { messages: [], total: 0 };
  const conditions = [...(texts ?? [])];
  if (channel !== undefined)
    conditions.push({ sql: "m.channel_id = ?", values: [findChannel(database, channel).id] });
  if (from !== undefined) conditions.push({ sql: "m.user_id = ?", values: [findUser(database, from).id] });
  const { where, values } = joinConditions(conditions);
  const count = database.get(`SELECT count(*) AS n FROM slack_messages m WHERE ${where}`, values);
  const newest = `${where} ORDER BY m.at DESC LIMIT ?`;
  const messages = selectMessages(database, newest, [...values, limit]);
  return { messages, total: Number(count?.n) };
}

/** A second post of the same call finds the first. */
function keepPost(database: EmbeddedDatabase, message: Post): SlackMessage {
  const { callKey } = message;
  if (message.text.trim() === "") throw new ToolFault("params", "the message has no text");
  if (message.text.length > MAX_TEXT_CHARS)
    throw new ToolFault("params", `the message has more than ${MAX_TEXT_CHARS} characters`);
  return database.within(() => {
    const known = findCallMessage(database, message.channelId, callKey);
    if (known) return known;
    const channel = findChannel(database, message.channelId);
    putChannel(database, channel);
    const channelId = channel.id;
    const threadTs = message.threadTs && findRoot(database, channelId, message.threadTs);
    const [ts, userId] = [findFreeTs(database, channelId), findOwnerUser(database).id];
    // What does not begin a link or a mention is a sign of its own, as Slack writes it.
    const text = message.text.replaceAll(/<(?![@#!]|https?:|mailto:|tel:)/gi, "&lt;");
    const kept = { channelId, ts, threadTs, userId, text, reactions: [], callKey };
    putMessage(database, kept, loadSlackNames(database));
    const posted = findCallMessage(database, channelId, callKey);
    if (!posted) throw new ToolFault("tool_error", "the message could not be kept");
    return posted;
  });
}

/** The first message of the thread that a message belongs to, so that an answer to an answer stays in it. */
function findRoot(database: EmbeddedDatabase, channelId: string, ts: string): string {
  const first = listThread(database, channelId, ts, 1).messages[0];
  return first?.threadTs ?? first?.ts ?? ts;
}

function findCallMessage(
  database: EmbeddedDatabase,
  channelId: string,
  callKey: string,
): SlackMessage | null {
  const where = "m.channel_id = ? AND m.call_key = ?";
  return selectMessages(database, where, [channelId, callKey])[0] ?? null;
}

/** The next time that no message of the channel has. */
function findFreeTs(database: EmbeddedDatabase, channelId: string): string {
  const taken = database.db.prepare("SELECT 1 FROM slack_messages WHERE channel_id = ? AND ts = ?");
  for (let micros = BigInt(Math.trunc(database.now())) * 1000n; ; micros++) {
    const ts = `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, "0")}`;
    if (!taken.get(channelId, ts)) return ts;
  }
}

/** The owner's entry among the users, made if there is none. */
function findOwnerUser(database: EmbeddedDatabase): SlackUser {
  const { name, address, zone } = database.owner();
  const known = listUsers(database).find(({ email }) => email?.toLowerCase() === address.toLowerCase());
  if (known) return known;
  const user = {
    id: "UOWNER",
    name: address.split("@")[0] ?? "me",
    realName: name,
    email: address,
    zone,
    isBot: false,
  };
  putUser(database, user);
  return user;
}

/** By `#name`, name or id; `@person` or its id is the conversation with that person, which need not exist yet. */
function findChannel(database: EmbeddedDatabase, asked: string): StoredChannel {
  const channels = listChannels(database);
  const wanted = asked.trim();
  const name = wanted.replace(/^#/, "");
  const found = channels.find(({ id }) => id === wanted) ?? findChannelNamed(name, channels);
  if (found) return found;
  if (wanted.startsWith("@")) return buildDirectChannel(findUser(database, wanted));
  const partner = listUsers(database).find(({ id }) => `D${id}` === wanted);
  if (partner) return buildDirectChannel(partner);
  const open = channels.filter(({ kind }) => kind !== "direct").map((each) => each.name);
  throw refuseChannel(name, open);
}

function buildDirectChannel({ id, name }: SlackUser): StoredChannel {
  return { id: `D${id}`, kind: "direct", name: `@${name}`, isShared: false, members: [id] };
}

/** An id or address, else a name, else a real name, else a word of one. */
function findUser(database: EmbeddedDatabase, asked: string): SlackUser {
  return pickPerson(asked, listUsers(database), [
    ({ id, email }) => [id, email],
    ({ name }) => [name],
    ({ realName }) => [realName],
    ({ realName }) => realName.split(/\s+/),
  ]);
}

/** A stored channel; a direct conversation is named after the other person's `@name`. */
export type StoredChannel = {
  readonly id: string;
  readonly kind: "public" | "private" | "direct";
  readonly name: string;
  readonly isShared: boolean;
  readonly members: readonly string[];
};

/** A stored message, with Slack's own markup in its text. */
export type StoredMessage = {
  readonly channelId: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly userId: string;
  /** For an author who is not in the list of users, such as a bot. */
  readonly userName?: string;
  readonly text: string;
  readonly reactions: readonly { readonly name: string; readonly count: number }[];
  readonly callKey?: string;
};

/** Stores a user, replacing the one with this id. Returns whether the user is new. */
export function putUser(database: EmbeddedDatabase, user: SlackUser): boolean {
  return database.within(() => {
    const isNew = database.get("SELECT 1 FROM slack_users WHERE id = ?", [user.id]) === undefined;
    database.run(
      `INSERT INTO slack_users (id, name, profile) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, profile = excluded.profile`,
      [user.id, user.name, JSON.stringify(user)],
    );
    return isNew;
  });
}

/** Stores a channel unless its id or name is taken. Returns whether it did. */
export function putChannel(database: EmbeddedDatabase, channel: StoredChannel): boolean {
  const { id, kind, name, isShared, members } = channel;
  const row = { id, kind, name, is_shared: Number(isShared), members: JSON.stringify(members) };
  return database.insert("slack_channels", row) !== null;
}

/** Stores a message unless the channel has one with this timestamp. Returns whether it did. */
export function putMessage(database: EmbeddedDatabase, message: StoredMessage, names: Names): boolean {
  return database.within(() => {
    const rowid = database.insert("slack_messages", {
      channel_id: message.channelId,
      ts: message.ts,
      at: Number(message.ts),
      thread_ts: message.threadTs ?? null,
      user_id: message.userId,
      user_name: message.userName ?? null,
      text: message.text,
      reactions: JSON.stringify(message.reactions),
      call_key: message.callKey ?? null,
    });
    if (rowid === null) return false;
    database.insert("slack_texts", { rowid, body: readSlackMarkup(message.text, names) });
    return true;
  });
}

/** Everybody in the workspace, by name. */
export function listUsers(database: EmbeddedDatabase): SlackUser[] {
  const rows = database.all("SELECT profile FROM slack_users ORDER BY name, id");
  return rows.map(({ profile }) => parseStored<SlackUser>(profile));
}

/** All channels, by name. */
export function listChannels(database: EmbeddedDatabase): StoredChannel[] {
  const rows = database.all("SELECT * FROM slack_channels ORDER BY name");
  return rows.map((row) => ({
    id: String(row.id),
    kind: readKind(row.kind),
    name: String(row.name),
    isShared: Number(row.is_shared) === 1,
    members: parseStored<string[]>(row.members),
  }));
}

/** Whether there is a channel of this id. */
export function hasChannel(database: EmbeddedDatabase, id: string): boolean {
  return database.get("SELECT 1 FROM slack_channels WHERE id = ?", [id]) !== undefined;
}

function readKind(column: unknown): StoredChannel["kind"] {
  return column === "private" || column === "direct" ? column : "public";
}

/** How the ids of this workspace are named. */
export function loadSlackNames(database: EmbeddedDatabase): Names {
  const people = new Map(listUsers(database).map(({ id, name }) => [id, name]));
  const channels = new Map(listChannels(database).map(({ id, name }) => [id, name]));
  return { person: (id) => people.get(id), channel: (id) => channels.get(id) };
}

/** A stored message from its row. */
export function readStoredMessage(row: Row): StoredMessage {
  return {
    channelId: String(row.channel_id),
    ts: String(row.ts),
    threadTs: textIn(row.thread_ts),
    userId: String(row.user_id),
    userName: textIn(row.user_name),
    text: String(row.text),
    reactions: parseStored(row.reactions),
    callKey: textIn(row.call_key),
  };
}

/** A row as a reader sees it. `replies` is the count of its thread's, if it begins one. */
function showMessage(row: Row, names: Names): SlackMessage {
  const { channelId, ts, threadTs, userId, userName, text, reactions } = readStoredMessage(row);
  const replies = Number(row.replies) || undefined;
  const channel = names.channel(channelId) ?? channelId;
  return {
    ts,
    channel: { id: channelId, name: channel },
    user: { id: userId, name: names.person(userId) ?? userName ?? userId },
    text: readSlackMarkup(text, names),
    threadTs: threadTs ?? (replies ? ts : undefined),
    replies,
    reactions,
    link: `retinue:slack/${encodeURIComponent(channel)}/p${ts.replace(".", "")}`,
  };
}
