// Exports the local store as .mbox, .ics, .vcf and a Slack export, which an import takes.

import { constants } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeEntry } from "@retinue/core/files/entry";
import { RetinueError } from "@retinue/core/schema/error";
import type { SlackUser } from "../slack/slack-provider.ts";
import { CALL_EVENT } from "../slack/slack-text.ts";
import { OWN_CALENDAR } from "./embedded-calendar.ts";
import type { EmbeddedDatabase } from "./embedded-database.ts";
import {
  listChannels,
  listUsers,
  readStoredMessage,
  type StoredChannel,
  type StoredMessage,
} from "./embedded-slack.ts";
import type { EmbeddedStore } from "./embedded-store.ts";
import { OWNER_PROPERTY } from "./import-files.ts";
import type { Counts } from "./import-source.ts";
import { writeMbox } from "./mbox.ts";
import { CHANNEL_FILES } from "./slack-export.ts";

/** A file of an export, by its path in the folder. */
type ExportedFile = { readonly path: string; readonly content: Buffer };

const FILE_MODE = constants.S_IFREG | 0o600;
const FOLDER_MODE = constants.S_IFDIR | 0o700;
/** Less than an import takes, so that every export can be imported again. */
const MBOX_BYTES = 64 * 1024 * 1024;
const FOLDERS = ["inbox", "sent", "drafts"] as const;

/** Writes the whole store into a new or empty folder that only the person can read, in the formats that an import reads. */
export async function exportTo(
  store: EmbeddedStore,
  dir: string,
): Promise<{ readonly counts: Counts; readonly files: readonly string[] }> {
  const root = resolve(dir);
  await mkdir(root, { recursive: true, mode: 0o700 });
  if ((await readdir(root)).length > 0)
    throw new RetinueError("input", `the folder ${dir} is not empty`, "Name a new folder for the export.");
  const database = store.database();
  const counts: Counts = { mails: 0, events: 0, contacts: 0, channels: 0, messages: 0 };
  const files: string[] = [];
  for (const { path, content } of exportAll(database, counts)) {
    for (const folder of listParents(path))
      await writeEntry(root, folder, { mode: FOLDER_MODE, content: Buffer.alloc(0) });
    await writeEntry(root, path, { mode: FILE_MODE, content });
    files.push(path);
  }
  return { counts, files };
}

function* exportAll(database: EmbeddedDatabase, counts: Counts): Generator<ExportedFile> {
  const owner = Buffer.from(`${JSON.stringify(database.owner(), null, 2)}\n`);
  yield { path: "owner.json", content: owner };
  for (const folder of FOLDERS) yield* exportMail(database, folder, counts);
  yield* exportCalendars(database, counts);
  const cards = database.all("SELECT vcard FROM contacts ORDER BY id");
  counts.contacts = cards.length;
  if (cards.length > 0)
    yield { path: "contacts.vcf", content: Buffer.from(cards.map(({ vcard }) => String(vcard)).join("")) };
  yield* exportSlack(database, counts);
}

/** One mbox file for a folder, or several numbered ones if it is large. */
function* exportMail(database: EmbeddedDatabase, folder: string, counts: Counts): Generator<ExportedFile> {
  const rows = database.db
    .prepare("SELECT bytes, unread, date_ms FROM mails WHERE folder = ? ORDER BY date_ms, id")
    .iterate(folder);
  let parts: Buffer[] = [];
  let size = 0;
  let number = 1;
  const file = (): ExportedFile => ({
    path: `mail/${folder}${number === 1 ? "" : `.${number}`}.mbox`,
    content: Buffer.concat(parts),
  });
  for (const { bytes, unread, date_ms } of rows) {
    if (!(bytes instanceof Uint8Array)) continue;
    const part = writeMbox(bytes, { isRead: Number(unread) === 0, dateMs: Number(date_ms) });
    if (size > 0 && size + part.length > MBOX_BYTES) {
      yield file();
      [parts, size, number] = [[], 0, number + 1];
    }
    parts.push(part);
    size += part.length;
    counts.mails++;
  }
  if (parts.length > 0) yield file();
}

function* exportCalendars(database: EmbeddedDatabase, counts: Counts): Generator<ExportedFile> {
  const calendars = database.all("SELECT DISTINCT calendar FROM events ORDER BY calendar");
  for (const [at, { calendar }] of calendars.entries()) {
    const rows = database.all("SELECT ics FROM events WHERE calendar = ? ORDER BY uid", [String(calendar)]);
    counts.events += rows.length;
    const isOwn = calendar === OWN_CALENDAR;
    const begin = isOwn ? "BEGIN:VCALENDAR" : `BEGIN:VCALENDAR\r\n${OWNER_PROPERTY}:${calendar}`;
    const text = rows.map(({ ics }) => String(ics).replace(/^BEGIN:VCALENDAR/, begin)).join("");
    yield { path: `calendar/${isOwn ? "calendar" : `other-${at}`}.ics`, content: Buffer.from(text) };
  }
}

function listParents(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => join(...parts.slice(0, at + 1)));
}

/** The files of a Slack export: people, channels, and the messages of each day. */
function* exportSlack(database: EmbeddedDatabase, counts: Counts): Generator<ExportedFile> {
  const users = listUsers(database);
  const channels = listChannels(database);
  if (users.length + channels.length === 0) return;
  yield buildJsonFile("users.json", users.map(describeUser));
  counts.channels = channels.length;
  for (const { file, kind } of CHANNEL_FILES) {
    const own = channels.filter((channel) => channel.kind === kind);
    if (own.length > 0 || kind === "public") yield buildJsonFile(file, own.map(describeChannel));
    for (const channel of own) yield* exportDays(database, channel, counts);
  }
}

function* exportDays(
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
    const message = readStoredMessage(row);
    const date = new Date(Number(row.at) * 1000).toISOString().slice(0, 10);
    if (date !== day && messages.length > 0) {
      yield buildJsonFile(`${folder}/${day}.json`, messages);
      messages = [];
    }
    day = date;
    messages.push(describeMessage(message));
    counts.messages++;
  }
  if (messages.length > 0) yield buildJsonFile(`${folder}/${day}.json`, messages);
}

function buildJsonFile(path: string, list: readonly object[]): ExportedFile {
  return { path: `slack/${path}`, content: Buffer.from(`${JSON.stringify(list, null, 2)}\n`) };
}

function describeUser({ id, name, realName, title, email, zone, status, isBot }: SlackUser): object {
  const profile = { real_name: realName, title, email, status_text: status };
  return { id, name, real_name: realName, tz: zone, is_bot: isBot, profile };
}

function describeChannel({ id, name, kind, isShared, members }: StoredChannel): object {
  return kind === "direct"
    ? { id, members }
    : { id, name, is_private: kind === "private", is_ext_shared: isShared, members };
}

function describeMessage({
  ts,
  threadTs,
  userId,
  userName,
  text,
  reactions,
  callKey,
}: StoredMessage): object {
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
