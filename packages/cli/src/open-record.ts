import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Record } from "@retinue/core/record/record";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { findPlaces } from "@retinue/core/settings/places";
import { type CommonOptions, findProjectDir } from "./open-project.ts";
import type { Terminal } from "./terminal.ts";

/** Opens the record for `read`; undefined if nothing was ever recorded. Another process may go on writing. */
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

/** If the folder cannot be read, opening the record says what is wrong. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The session that a person names: by its id, the beginning of it, or `last` for the last one of this project. */
export async function findSession(
  record: Record,
  id: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<SessionRow> {
  if (id !== "last") return await record.findSession(id);
  const project = realpathSync(findProjectDir(options, terminal));
  const [last] = (await record.listSessions({ project, limit: 1 })).sessions;
  if (last) return last;
  throw new RetinueError(
    "input",
    `no session of ${project} is recorded`,
    "see them all with: retinue sessions",
  );
}

/** The error for a named session when nothing is recorded. */
export function createNoSessionError(id: string): RetinueError {
  return new RetinueError("input", `no session '${id}'; there are none yet`, "start one with: retinue run");
}
