import { type Entry, isFolderMode, readEntry, removeEntry, writeEntry } from "../files/entry.ts";
import { type BlobStore, hashOf } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createId } from "../run/create-id.ts";
import type { ChangeOpening, FileState } from "../schema/change.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { ChangeKind } from "../schema/result.ts";

/** Larger files are changed without being kept, which is said. */
export const MAX_KEPT_BYTES = 512 * 1024 * 1024;

/** What stands at a path now; its content is kept. */
export async function keepState(
  root: string,
  path: string,
  blobs: BlobStore,
  durable: boolean,
): Promise<FileState> {
  const entry = await readEntry(root, path, MAX_KEPT_BYTES);
  if (!entry) return null;
  if (isFolderMode(entry.mode)) return { mode: entry.mode, hash: "" };
  return { mode: entry.mode, hash: await blobs.put(entry.content, durable) };
}

/** What stands at a path now, without keeping it. */
export async function lookAt(root: string, path: string): Promise<FileState> {
  const entry = await readEntry(root, path, MAX_KEPT_BYTES);
  return entry && { mode: entry.mode, hash: isFolderMode(entry.mode) ? "" : hashOf(entry.content) };
}

/** Makes a path what it was. A folder goes only if it is empty; false says that something is left. */
export async function restoreState(
  root: string,
  path: string,
  state: FileState,
  blobs: BlobStore,
): Promise<boolean> {
  const entry = state && (await entryOf(state, blobs));
  try {
    if (!entry) return await removeEntry(root, path);
    await writeEntry(root, path, entry);
    return true;
  } catch (thrown) {
    // Entries are opened by handles, whose own names in the system's message would tell a person nothing.
    const [reason] = messageOf(thrown).split(", ");
    throw new RetinueError(
      "failed",
      `${path} cannot be ${entry ? "written" : "removed"}: ${reason}`,
      "put that right; the same command then finishes what is left",
      { cause: thrown },
    );
  }
}

/** The entry that a kept state describes. */
export async function entryOf(state: NonNullable<FileState>, blobs: BlobStore): Promise<Entry> {
  const content = isFolderMode(state.mode) ? Buffer.alloc(0) : await blobs.get(state.hash);
  return { mode: state.mode, content };
}

/** Whether two states are the same in kind, permissions and content. */
export function sameState(one: FileState, other: FileState): boolean {
  return one?.mode === other?.mode && one?.hash === other?.hash;
}

/** Whether a state is that of a folder. */
export function isFolder(state: FileState): boolean {
  return state !== null && isFolderMode(state.mode);
}

/** What became of a path, by what was there before and after. */
export function nameChange(before: FileState, after: FileState): ChangeKind {
  if (before === null) return "created";
  return after === null ? "deleted" : "modified";
}

/** Folders that a new file would need, the outermost first; without those that are known to be made. */
export async function findMissingFolders(
  root: string,
  path: string,
  made: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const missing: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    const folder = path.slice(0, at);
    if (made.has(folder) || (await lookAt(root, folder))) break;
    missing.unshift(folder);
  }
  return missing;
}

/** What is done to the paths of a folder by one act: the changes as they are booked, and the steps in their order. */
export type Act = {
  about: Pick<ChangeOpening, "sessionId" | "runId" | "aboutRun" | "messageId" | "root" | "source">;
  changes: readonly Pick<ChangeOpening, "path" | "before" | "after">[];
  steps: readonly { path: string; target: FileState }[];
};

/**
 * Puts paths into other states. Everything is on record before it is done, so that it can be undone and, after a crash,
 * finished; then what came of it. Gives the paths at which something is left.
 */
export async function performAct(
  { record, blobs }: { record: Record; blobs: BlobStore },
  { about, changes, steps }: Act,
): Promise<string[]> {
  const opened = changes.map((change) => ({ changeId: createId("chg"), ...about, ...change, done: false }));
  for (const change of opened) record.append({ kind: "change.open", change });
  await record.committed();
  const left: string[] = [];
  for (const { path, target } of steps)
    if (!(await restoreState(about.root, path, target, blobs))) left.push(path);
  for (const { changeId, path } of opened)
    record.append({ kind: "change.close", changeId, after: await lookAt(about.root, path) });
  await record.committed();
  return left;
}
