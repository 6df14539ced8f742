import { basename, join } from "node:path";
import type { EmbeddedDatabase } from "../embedded-database.ts";
import {
  allUsers,
  hasChannel,
  namesOf,
  putChannel,
  putMessage,
  putUser,
  type StoredChannel,
} from "../slack-rows.ts";
import { addProblem, count, type ImportReport } from "./import-report.ts";
import { folderOf, readBounded } from "./read-bounded.ts";
import { channelIn, type Fields, messageIn, objectsIn, userIn } from "./read-slack-export.ts";

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

/** Imports the folder of a Slack export: people, then channels, then the messages of each day. */
export async function importSlack(source: Export): Promise<void> {
  const { database, report, folder, files } = source;
  for (const fields of await topList(source, "users.json")) {
    const user = userIn(fields);
    if (user) putUser(database, user);
    else addProblem(report, join(folder, "users.json"), "a user has no id or name");
  }
  const channels = await importChannels(source);
  const names = namesOf(database);
  const days = Map.groupBy(
    files.filter((path) => DAY_FILE.test(basename(path))),
    folderOf,
  );
  for (const { id, kind, name } of channels)
    for (const path of days.get(join(folder, kind === "direct" ? id : name)) ?? []) {
      const list = await listOf(source, path);
      database.within(() => {
        for (const item of list) {
          const message = messageIn(item, id);
          if (message) count(report, "messages", putMessage(database, message, names));
        }
      });
    }
}

/** Imports the channels; gives those that are in the store now. */
async function importChannels(source: Export): Promise<StoredChannel[]> {
  const { database, report, folder } = source;
  const directName = partnerNames(database);
  const channels = new Map<string, StoredChannel>();
  for (const { file, kind } of CHANNEL_FILES)
    for (const fields of await topList(source, file)) {
      const channel = channelIn(fields, kind, directName);
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
function partnerNames(database: EmbeddedDatabase): (members: readonly string[]) => string | undefined {
  const own = database.owner().address.toLowerCase();
  const users = new Map(allUsers(database).map((user) => [user.id, user]));
  return (members) => {
    const partner = members.find((id) => users.get(id)?.email?.toLowerCase() !== own) ?? members[0];
    return partner === undefined ? undefined : `@${users.get(partner)?.name ?? partner}`;
  };
}
