import { basename, join } from "node:path";
import type { EmbeddedDatabase } from "../embedded-database.ts";
import {
  allChannels,
  allUsers,
  namesOf,
  putChannel,
  putMessage,
  putUser,
  type StoredChannel,
} from "../slack-rows.ts";
import { addProblem, count, type ImportReport } from "./import-report.ts";
import { readBounded } from "./read-bounded.ts";
import { channelIn, type Fields, messageIn, objectsIn, userIn } from "./read-slack-export.ts";

/** Files that say which channels an export has. */
export const CHANNEL_FILES: readonly { readonly file: string; readonly kind: StoredChannel["kind"] }[] = [
  { file: "channels.json", kind: "public" },
  { file: "groups.json", kind: "private" },
  { file: "dms.json", kind: "direct" },
];

type Export = {
  readonly database: EmbeddedDatabase;
  readonly root: string;
  /** The export's folder below the root. */
  readonly folder: string;
  /** All files below the root. */
  readonly files: readonly string[];
  readonly report: ImportReport;
};

/** Imports the folder of a Slack export: people, then channels, then the messages of each day. */
export async function importSlack(source: Export): Promise<void> {
  const { database, report, folder } = source;
  for (const fields of await topList(source, "users.json")) {
    const user = userIn(fields);
    if (user) putUser(database, user);
    else addProblem(report, join(folder, "users.json"), "a user has no id or name");
  }
  for (const { file, kind } of CHANNEL_FILES)
    for (const fields of await topList(source, file))
      await importChannel(source, { file: join(folder, file), kind, fields });
}

async function importChannel(
  source: Export,
  { file, kind, fields }: { file: string; kind: StoredChannel["kind"]; fields: Fields },
): Promise<void> {
  const { database, report, folder, files } = source;
  const channel = channelIn(fields, kind, (members) => partnerName(database, members));
  if (!channel) return addProblem(report, file, "a channel has an id or name that cannot be one");
  const isNew = putChannel(database, channel);
  if (!isNew && !allChannels(database).some(({ id }) => id === channel.id))
    return addProblem(report, file, `another channel is called ${channel.name} already`);
  count(report, "channels", isNew);
  const days = join(folder, kind === "direct" ? channel.id : channel.name);
  const names = namesOf(database);
  for (const path of files.filter((each) => each.startsWith(`${days}/`) && each.endsWith(".json"))) {
    if (!/^\d{4}-\d{2}-\d{2}\.json$/.test(basename(path))) continue;
    const list = await listOf(source, path);
    database.within(() => {
      for (const item of list) {
        const message = messageIn(item, channel.id);
        if (message) count(report, "messages", putMessage(database, message, names));
      }
    });
  }
}

async function topList(source: Export, file: string): Promise<Fields[]> {
  const path = join(source.folder, file);
  return source.files.includes(path) ? listOf(source, path) : [];
}

async function listOf({ root, report }: Export, path: string): Promise<Fields[]> {
  try {
    return objectsIn((await readBounded(root, path)).toString("utf8"));
  } catch (thrown) {
    addProblem(report, path, thrown);
    return [];
  }
}

/** A conversation of two is named after the one who is not the owner. */
function partnerName(database: EmbeddedDatabase, members: readonly string[]): string | undefined {
  const own = database.owner().address.toLowerCase();
  const users = new Map(allUsers(database).map((user) => [user.id, user]));
  const partner = members.find((id) => users.get(id)?.email?.toLowerCase() !== own) ?? members[0];
  return partner === undefined ? undefined : `@${users.get(partner)?.name ?? partner}`;
}
