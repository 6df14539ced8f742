import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@retinue/core/record/checkpoints/blob-store";
import type { Record } from "@retinue/core/record/record";
import { RetinueError } from "@retinue/core/schema/error";
import { findPlaces } from "@retinue/core/settings/places";
import type { CommonOptions } from "./open-project.ts";
import { findSession, withRecord } from "./open-record.ts";
import type { Terminal } from "./terminal.ts";

/** What names something that changed files. */
export const NAMED_CHANGES =
  "id of a run, a session, a merge or an undo, or the beginning of it; `last` for this project's last session";

/** Where changes are kept: the record and the contents beside it. */
export type KeptChanges = { record: Record; blobs: BlobStore; dataDir: string };

/** Opens the kept changes for `work`; an error if nothing was ever recorded. */
export async function withChanges<Value>(
  terminal: Terminal,
  name: string,
  work: (kept: KeptChanges) => Promise<Value>,
): Promise<Value> {
  const { dataDir } = findPlaces(terminal.env);
  const blobs = createBlobStore(join(dataDir, "blobs"));
  const answer = await withRecord(terminal, async (record) => ({
    value: await work({ record, blobs, dataDir }),
  }));
  if (answer) return answer.value;
  const hint = "start one with: retinue run";
  throw new RetinueError("input", `no run or session '${name}'; there are none yet`, hint);
}

/** What a person names: `last` is this project's last session, because nobody means the files of another folder. */
export async function nameChanges(
  record: Record,
  name: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<string> {
  return name === "last" ? (await findSession(record, name, options, terminal)).session_id : name;
}
