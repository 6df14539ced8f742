import { statSync } from "node:fs";
import { join } from "node:path";
import { findPlaces } from "../../runtime/project/places.ts";
import { createStore, type Store } from "../../store/create-store.ts";
import type { Terminal } from "../terminal.ts";

/** Lets `read` look into the record; undefined if nothing was ever recorded. Another process may go on writing. */
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

/** A folder that cannot be looked into is no proof that nothing was recorded: opening the record then says what is wrong. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
