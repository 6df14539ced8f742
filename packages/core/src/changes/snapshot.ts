import type { BlobStore } from "../record/blob-store.ts";
import type { FileState } from "../schema/change.ts";
import type { ShadowEntry } from "./git.ts";
import type { Shadow } from "./shadow.ts";
import { type Layout, walkLayout } from "./walk.ts";

/** A project at one moment: contents by their names in the shadow, modes, folders, and what is left alone. */
export type ProjectSnapshot = Layout & { files: Map<string, ShadowEntry> };

/** Something that differs between two snapshots. Folders have no content. */
export type Difference = { path: string; before: Seen; after: Seen };
type Seen = { mode: number; oid: string | null } | null;

/** The times of files come from a coarser clock than ours. */
const CLOCK_MS = 100;

/**
 * Takes a snapshot of the shadow's folder. Git counts the times of changes in seconds: of a file that changed in the second of
 * this look it could not tell a later change in that same second, so its content is looked at anew the next time.
 */
export async function takeSnapshot(shadow: Shadow): Promise<ProjectSnapshot> {
  const sinceMs = Math.floor((Date.now() - CLOCK_MS) / 1_000) * 1_000;
  const { files, leftAlone } = await shadow.refresh();
  const layout = await walkLayout(shadow.root, { files, leftAlone, sinceMs });
  shadow.doubt(layout.late);
  return { files, ...layout };
}

/** What differs, without what was there before but left alone then, such as files that `.gitignore` no longer names. */
export function compareSnapshots(before: ProjectSnapshot, after: ProjectSnapshot): Difference[] {
  const differences: Difference[] = [];
  for (const path of everyPath(before, after)) {
    const [then, now] = [seenIn(before, path), seenIn(after, path)];
    if (then?.mode === now?.mode && then?.oid === now?.oid) continue;
    if (!then && wasLeftAlone(before, path)) continue;
    if (!now && wasLeftAlone(after, path)) continue;
    differences.push({ path, before: then, after: now });
  }
  return differences;
}

function everyPath(before: ProjectSnapshot, after: ProjectSnapshot): Set<string> {
  return new Set([
    ...before.files.keys(),
    ...after.files.keys(),
    ...before.folders.keys(),
    ...after.folders.keys(),
  ]);
}

/** A file that went between listing and looking has no mode and counts as gone. */
function seenIn(snapshot: ProjectSnapshot, path: string): Seen {
  const folder = snapshot.folders.get(path);
  if (folder !== undefined) return { mode: folder, oid: null };
  const entry = snapshot.files.get(path);
  const mode = snapshot.modes.get(path);
  return entry && mode !== undefined ? { mode, oid: entry.oid } : null;
}

function wasLeftAlone({ others }: ProjectSnapshot, path: string): boolean {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/"))))
    if (others.has(at)) return true;
  return false;
}

const MAX_DIFFERENCES = 20_000;

/** Puts the contents of both sides where changes are kept, and gives their states. */
export async function keepDifferences(
  differences: readonly Difference[],
  shadow: Shadow,
  blobs: BlobStore,
): Promise<{ path: string; before: FileState; after: FileState }[]> {
  if (differences.length > MAX_DIFFERENCES)
    throw new Error(`${differences.length} files changed, and at most ${MAX_DIFFERENCES} are kept`);
  const seen = differences.flatMap(({ before, after }) => [before, after]);
  const hashes = await shadow.keepContents(seen, blobs, false);
  const stateOf = (seen: Seen): FileState =>
    seen && { mode: seen.mode, hash: seen.oid === null ? "" : (hashes.get(seen.oid) ?? "") };
  return differences.map(({ path, before, after }) => ({
    path,
    before: stateOf(before),
    after: stateOf(after),
  }));
}
