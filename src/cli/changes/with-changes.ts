import { join } from "node:path";
import { findPlaces } from "../../runtime/project/places.ts";
import { RetinueError } from "../../schema/error.ts";
import { type BlobStore, createBlobStore } from "../../store/checkpoints/blob-store.ts";
import type { Store } from "../../store/create-store.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { findSession } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";

/** Where changes are kept: the record and the contents beside it. */
export type KeptChanges = { store: Store; blobs: BlobStore; dataDir: string };

/** Lets `work` at the kept changes; an error if nothing was ever recorded. */
export async function withChanges<Value>(
  terminal: Terminal,
  name: string,
  work: (kept: KeptChanges) => Promise<Value>,
): Promise<Value> {
  const { dataDir } = findPlaces(terminal.env);
  const blobs = createBlobStore(join(dataDir, "blobs"));
  const answer = await withRecord(terminal, async (store) => ({
    value: await work({ store, blobs, dataDir }),
  }));
  if (answer) return answer.value;
  const hint = "start one with: retinue run";
  throw new RetinueError("input", `no run or session '${name}'; there are none yet`, hint);
}

/** What a person names: `last` is this project's last session, because nobody means the files of another folder. */
export function nameChanges(store: Store, name: string, options: CommonOptions, terminal: Terminal): string {
  return name === "last" ? findSession(store, name, options, terminal).session_id : name;
}
