import { statSync } from "node:fs";
import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@retinue/core/record/blob-store";
import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { findPlaces } from "@retinue/core/settings/places";
import { findRealProject } from "./open-project.ts";
import type { Cli, Terminal } from "./terminal.ts";

/** Opens the record for `read`; undefined if nothing was ever recorded. Another process may still write. */
export async function withRecord<Value>(
  terminal: Terminal,
  read: (record: Record) => Value | Promise<Value>,
): Promise<Value | undefined> {
  const path = join(findPlaces(terminal.env).dataDir, "retinue.db");
  if (isMissing(path)) return undefined;
  const record = createSqliteRecord({
    path,
    onNotice: ({ level, message }) => terminal.tell(`${level}: ${message}`),
  });
  try {
    return await read(record);
  } finally {
    await record.close();
  }
}

/** The same where there must be a record: `missing` is thrown if nothing was ever recorded. */
export async function requireRecord<Value>(
  terminal: Terminal,
  missing: RetinueError,
  work: (record: Record) => Promise<Value>,
): Promise<Value> {
  const done = await withRecord(terminal, async (record) => ({ value: await work(record) }));
  if (done) return done.value;
  throw missing;
}

/** Opens the record for `work` on the session that a person names. */
export function withSession<Value>(
  id: string,
  cli: Cli,
  work: (record: Record, session: SessionRow) => Promise<Value>,
): Promise<Value> {
  return requireRecord(cli, createNoneYetError(`session '${id}'`), async (record) =>
    work(record, await findSession(record, id, cli)),
  );
}

/** If the folder cannot be read, opening the record says what is wrong. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The session that a person names: by its id, the beginning of it, or `last` for the last one of this project. */
export async function findSession(record: Record, id: string, cli: Cli): Promise<SessionRow> {
  if (id !== "last") return await record.findSession(id);
  const project = findRealProject(cli);
  const [last] = (await record.listSessions({ project, limit: 1 })).sessions;
  if (last) return last;
  throw new RetinueError(
    "input",
    `no session of ${project} is recorded`,
    "see them all with: retinue sessions",
  );
}

/** The error for what a person names, such as `session 'ses_1'`, when nothing is recorded. */
export function createNoneYetError(what: string): RetinueError {
  return new RetinueError("input", `no ${what}; there are none yet`, "start one with: retinue run");
}

/** What names something that changed files. */
export const NAMED_CHANGES =
  "id of a run, a session, a merge or an undo, or the beginning of it; `last` for this project's last session";

/** Where changes are kept: the record and the contents beside it. */
export type KeptChanges = { record: Record; blobs: BlobStore; dataDir: string };

/** The kept changes of a record that is open. */
export function openKept(record: Record, { env }: Terminal): KeptChanges {
  const { dataDir } = findPlaces(env);
  return { record, dataDir, blobs: createBlobStore(join(dataDir, "blobs")) };
}

/**
 * Opens the kept changes for `work`, with the id of what a person names: `last` is this project's last session, because nobody
 * means the files of another folder.
 */
export function withChanges<Value>(
  name: string,
  cli: Cli,
  work: (kept: KeptChanges, id: string) => Promise<Value>,
): Promise<Value> {
  return requireRecord(cli, createNoneYetError(`run or session '${name}'`), async (record) => {
    const id = name === "last" ? (await findSession(record, name, cli)).session_id : name;
    return work(openKept(record, cli), id);
  });
}
