import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { createStore, type Store } from "@retinue/core/record/create-store";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { findPlaces } from "@retinue/core/settings/places";
import { type CommonOptions, findProjectDir } from "./open-project.ts";
import type { Terminal } from "./terminal.ts";

/** Opens the record for `read`; undefined if nothing was ever recorded. Another process may go on writing. */
export async function withRecord<Value>(
  terminal: Terminal,
  read: (store: Store) => Value | Promise<Value>,
): Promise<Value | undefined> {
  const path = join(findPlaces(terminal.env).dataDir, "retinue.db");
  if (isMissing(path)) return undefined;
  const store = createStore({
    path,
    onNotice: ({ level, message }) => terminal.tell(`${level}: ${message}`),
  });
  try {
    return await read(store);
  } finally {
    await store.shutdown();
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
export function findSession(
  store: Store,
  id: string,
  options: CommonOptions,
  terminal: Terminal,
): SessionRow {
  if (id !== "last") return store.findSession(id);
  const project = realpathSync(findProjectDir(options, terminal));
  const [last] = store.sessions({ project, limit: 1 });
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
