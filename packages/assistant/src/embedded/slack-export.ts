// Imports the folder of a Slack export into the local store.

import { basename, join } from "node:path";
import { type JsonObject, recordIn, recordsIn, textIn } from "../service-tools/service-requests.ts";
import type { SlackUser } from "../slack/slack-provider.ts";
import { isSlackTs, isSystemMessage, readCallKey } from "../slack/slack-text.ts";
import type { EmbeddedDatabase } from "./embedded-database.ts";
import {
  hasChannel,
  listUsers,
  loadSlackNames,
  putChannel,
  putMessage,
  putUser,
  type StoredChannel,
  type StoredMessage,
} from "./embedded-slack.ts";
import { addProblem, count, findParent, type ImportReport, readBounded } from "./import-source.ts";

/** Files that say which channels an export has. */
export const CHANNEL_FILES: readonly { readonly file: string; readonly kind: StoredChannel["kind"] }[] = [
  { file: "channels.json", kind: "public" },
  { file: "groups.json", kind: "private" },
  { file: "dms.json", kind: "direct" },
];

const DAY_FILE = /^\d{4}-\d{2}-\d{2}\.json$/;

type Export = {
  readonly database: EmbeddedDatabase;
  readonly root: string;
  /** The export's folder below the root. */
  readonly folder: string;
  /** All files below the root. */
  readonly files: readonly string[];
  readonly report: ImportReport;
};

const ID = /^[A-Z][A-Z0-9]{1,30}$/;
/** One longer: a conversation that began here is named after the other person's id. */
const CHANNEL_ID = /^[A-Z][A-Z0-9]{1,31}$/;
const CHANNEL_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}$/u;
const MAX_TEXT_CHARS = 100_000;
const MAX_REACTIONS = 100;

/** Imports the folder of a Slack export: people, then channels, then the messages of each day. */
export async function importSlack(source: Export): Promise<void> {
  const { database, report, folder, files } = source;
  for (const fields of await readTopList(source, "users.json")) {
    const user = readUser(fields);
    if (user) putUser(database, user);
    else addProblem(report, join(folder, "users.json"), "a user has no id or name");
  }
  const channels = await importChannels(source);
  const names = loadSlackNames(database);
  const days = Map.groupBy(
    files.filter((path) => DAY_FILE.test(basename(path))),
    findParent,
  );
  for (const { id, kind, name } of channels)
    for (const path of days.get(join(folder, kind === "direct" ? id : name)) ?? []) {
      const list = await readList(source, path);
      database.within(() => {
        for (const item of list) {
          const message = readMessage(item, id);
          if (message) count(report, "messages", putMessage(database, message, names));
        }
      });
    }
}

/** Imports the channels; gives those that are in the store now. */
async function importChannels(source: Export): Promise<StoredChannel[]> {
  const { database, report, folder } = source;
  const directName = createNamer(database);
  const channels = new Map<string, StoredChannel>();
  for (const { file, kind } of CHANNEL_FILES)
    for (const fields of await readTopList(source, file)) {
      const channel = readChannel(fields, kind, directName);
      if (!channel) {
        addProblem(report, join(folder, file), "a channel has an id or name that cannot be one");
        continue;
      }
      const isNew = putChannel(database, channel);
      if (isNew || hasChannel(database, channel.id)) {
        channels.set(channel.id, channel);
        count(report, "channels", isNew);
      } else addProblem(report, join(folder, file), `another channel is called ${channel.name} already`);
    }
  return [...channels.values()];
}

async function readTopList(source: Export, file: string): Promise<readonly JsonObject[]> {
  const path = join(source.folder, file);
  return source.files.includes(path) ? readList(source, path) : [];
}

async function readList({ root, report }: Export, path: string): Promise<readonly JsonObject[]> {
  try {
    const list: unknown = JSON.parse((await readBounded(root, path)).toString("utf8"));
    if (!Array.isArray(list)) throw new TypeError("it is not a list");
    return recordsIn(list);
  } catch (thrown) {
    addProblem(report, path, thrown);
    return [];
  }
}

/** A conversation of two is named after the one who is not the owner. */
function createNamer(database: EmbeddedDatabase): (members: readonly string[]) => string | undefined {
  const own = database.owner().address.toLowerCase();
  const users = new Map(listUsers(database).map((user) => [user.id, user]));
  return (members) => {
    const partner = members.find((id) => users.get(id)?.email?.toLowerCase() !== own) ?? members[0];
    return partner === undefined ? undefined : `@${users.get(partner)?.name ?? partner}`;
  };
}

/** A user of `users.json`; null if it has no id or name. */
function readUser(fields: JsonObject): SlackUser | null {
  const id = readText(fields.id);
  const profile = recordIn(fields.profile);
  const name = readText(fields.name) ?? readText(profile.display_name);
  if (id === undefined || !ID.test(id) || name === undefined) return null;
  return {
    id,
    name: name.slice(0, 80),
    realName: readText(profile.real_name) ?? readText(fields.real_name) ?? name,
    title: readText(profile.title),
    email: readText(profile.email),
    zone: readText(fields.tz),
    status: readText(profile.status_text),
    isBot: fields.is_bot === true,
  };
}

/** A channel of `channels.json`, `groups.json` or `dms.json`; null if its id or name cannot be one, as with `../x`. */
function readChannel(
  fields: JsonObject,
  kind: StoredChannel["kind"],
  directName: (members: readonly string[]) => string | undefined,
): StoredChannel | null {
  const id = readText(fields.id);
  if (id === undefined || !CHANNEL_ID.test(id)) return null;
  const members = (Array.isArray(fields.members) ? fields.members : []).filter(
    (member): member is string => typeof member === "string" && ID.test(member),
  );
  const isShared = fields.is_ext_shared === true || fields.is_shared === true;
  const name = kind === "direct" ? directName(members) : readText(fields.name);
  if (name === undefined || (kind !== "direct" && !CHANNEL_NAME.test(name))) return null;
  const isPrivate = fields.is_private === true && kind === "public";
  return { id, kind: isPrivate ? "private" : kind, name, isShared, members };
}

/** A message of a day's file; null for anything else. */
function readMessage(fields: JsonObject, channelId: string): StoredMessage | null {
  const ts = readText(fields.ts);
  if (fields.type !== "message" || !isSlackTs(ts) || isSystemMessage(fields.subtype)) return null;
  const threadTs = readText(fields.thread_ts);
  return {
    channelId,
    ts,
    threadTs: isSlackTs(threadTs) ? threadTs : undefined,
    userId: readText(fields.user) ?? readText(fields.bot_id) ?? "unknown",
    userName: readText(fields.username),
    text: (textIn(fields.text) ?? "").slice(0, MAX_TEXT_CHARS).toWellFormed(),
    reactions: readReactions(fields.reactions),
    callKey: readText(readCallKey(fields.metadata)),
  };
}

function readReactions(value: unknown): StoredMessage["reactions"] {
  return recordsIn(value)
    .slice(0, MAX_REACTIONS)
    .flatMap(({ name, count }) => {
      const shown = readText(name);
      return shown === undefined
        ? []
        : [{ name: shown, count: Number.isSafeInteger(count) ? Number(count) : 1 }];
    });
}

/** A text that is not empty, well formed and short enough to be shown. */
function readText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return (
    value
      .toWellFormed()
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, 500) || undefined
  );
}
