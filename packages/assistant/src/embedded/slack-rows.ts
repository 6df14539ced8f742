import type { SlackMessage, SlackUser } from "../slack/slack-provider.ts";
import { type Names, readableText } from "../slack/slack-text.ts";
import { bindRowid, cleanColumn, type EmbeddedDatabase } from "./embedded-database.ts";
import { parseStored } from "./mail-rows.ts";

/** A channel as it is kept; a direct conversation is named after the other person's `@name`. */
export type StoredChannel = {
  readonly id: string;
  readonly kind: "public" | "private" | "direct";
  readonly name: string;
  readonly isShared: boolean;
  readonly members: readonly string[];
};

/** A message as it is kept, with Slack's own markup in its text. */
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
  return database.within((db) => {
    const isNew = db.prepare("SELECT 1 FROM slack_users WHERE id = ?").get(user.id) === undefined;
    db.prepare(
      `INSERT INTO slack_users (id, name, profile) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, profile = excluded.profile`,
    ).run(user.id, cleanColumn(user.name), cleanColumn(JSON.stringify(user)));
    return isNew;
  });
}

/** Stores a channel unless its id or name is taken. Returns whether it did. */
export function putChannel(database: EmbeddedDatabase, channel: StoredChannel): boolean {
  const { changes } = database.db
    .prepare(
      "INSERT OR IGNORE INTO slack_channels (id, kind, name, is_shared, members) VALUES (?, ?, ?, ?, ?)",
    )
    .run(
      channel.id,
      channel.kind,
      cleanColumn(channel.name),
      channel.isShared ? 1 : 0,
      JSON.stringify(channel.members),
    );
  return Number(changes) > 0;
}

/** Stores a message unless the channel has one with this timestamp. Returns whether it did. */
export function putMessage(database: EmbeddedDatabase, message: StoredMessage, names: Names): boolean {
  return database.within((db) => {
    const { changes, lastInsertRowid } = db
      .prepare(
        `INSERT OR IGNORE INTO slack_messages
           (channel_id, ts, at, thread_ts, user_id, user_name, text, reactions, call_key)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        message.channelId,
        message.ts,
        Number(message.ts),
        message.threadTs ?? null,
        cleanColumn(message.userId),
        message.userName === undefined ? null : cleanColumn(message.userName),
        cleanColumn(message.text),
        cleanColumn(JSON.stringify(message.reactions)),
        message.callKey ?? null,
      );
    if (Number(changes) === 0) return false;
    db.prepare("INSERT INTO slack_texts (rowid, body) VALUES (?, ?)").run(
      bindRowid(lastInsertRowid),
      cleanColumn(readableText(message.text, names)),
    );
    return true;
  });
}

/** Everybody in the workspace, by name. */
export function listUsers(database: EmbeddedDatabase): SlackUser[] {
  const rows = database.db.prepare("SELECT profile FROM slack_users ORDER BY name, id").all();
  return rows.map(({ profile }) => parseStored<SlackUser>(profile));
}

/** All channels, by name. */
export function listChannels(database: EmbeddedDatabase): StoredChannel[] {
  const rows = database.db.prepare("SELECT * FROM slack_channels ORDER BY name").all();
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
  return database.db.prepare("SELECT 1 FROM slack_channels WHERE id = ?").get(id) !== undefined;
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

/** A row as it is kept. */
export function readStoredMessage(row: Record<string, unknown>): StoredMessage {
  return {
    channelId: String(row.channel_id),
    ts: String(row.ts),
    ...(row.thread_ts === null ? {} : { threadTs: String(row.thread_ts) }),
    userId: String(row.user_id),
    ...(row.user_name === null ? {} : { userName: String(row.user_name) }),
    text: String(row.text),
    reactions: parseStored(row.reactions),
    ...(row.call_key === null ? {} : { callKey: String(row.call_key) }),
  };
}

/** A row as a reader sees it. `replies` is the count of its thread's, if it begins one. */
export function showMessage(row: Record<string, unknown>, names: Names): SlackMessage {
  const { channelId, ts, threadTs, userId, userName, text, reactions } = readStoredMessage(row);
  const replies = Number(row.replies ?? 0);
  const thread = threadTs ?? (replies > 0 ? ts : undefined);
  const channel = names.channel(channelId) ?? channelId;
  return {
    ts,
    channel: { id: channelId, name: channel },
    user: { id: userId, name: names.person(userId) ?? userName ?? userId },
    text: readableText(text, names),
    ...(thread === undefined ? {} : { threadTs: thread }),
    ...(replies > 0 ? { replies } : {}),
    reactions,
    link: `retinue:slack/${encodeURIComponent(channel)}/p${ts.replace(".", "")}`,
  };
}
