import { existsSync } from "node:fs";
import type { FileState, WorktreeRow } from "../schema/change.ts";
import { RetinueError } from "../schema/error.ts";
import type { ChangeKind } from "../schema/result.ts";
import { type Merged, mergeFile } from "./merge-file.ts";
import type { FileStates } from "./patch.ts";
import type { PathLocks } from "./path-locks.ts";
import { withProjectLock } from "./project-lock.ts";
import { findMissingFolders, keepState, lookAt, nameChange, performAct, sameState } from "./state.ts";
import { changesOfWorktree, removeWorktree, type WorktreeParts } from "./worktrees.ts";

/** Who merges, and how. */
export type MergeRequest = {
  row: WorktreeRow;
  /** The run, or the act of a person, that the changes are booked to. */
  by: { runId: string; sessionId: string; messageId: number | null };
  /** Merge what goes together even if other files conflict. */
  partial: boolean;
  /** Why a path may not be written; null if it may. */
  refuse: (path: string) => string | null | Promise<string | null>;
  /** Keeps other calls of this process off the files meanwhile. */
  locks?: PathLocks;
};

/** What came of a merge. `conflicts` were left as they are in the project, and in the copy. */
export type MergeReport = {
  into: string;
  merged: readonly { path: string; kind: ChangeKind }[];
  /** Files that were in the project already as they are in the copy. */
  same: readonly string[];
  conflicts: readonly { path: string; why: string }[];
  /** Nothing is left to merge, and the copy is gone. */
  done: boolean;
};

/** The folder that a copy is merged into: what it was made from or, if that was a copy that is gone, what that was made from. */
export async function mergeTarget({ record }: WorktreeParts, row: WorktreeRow): Promise<string> {
  let into = row.into;
  while (!existsSync(into)) {
    const above = await record.findWorktree({ path: into });
    if (!above) throw new RetinueError("failed", `the folder to merge into is not there any more: ${into}`);
    into = above.into;
  }
  return into;
}

/**
 * Brings the changes of a run's copy into the project's files, three-way and file by file. Nothing is committed, and
 * nothing is touched if a file conflicts, unless `partial`. Merges into one project come one after the other.
 */
export async function mergeWorktree(parts: WorktreeParts, request: MergeRequest): Promise<MergeReport> {
  const { row, locks } = request;
  const into = await mergeTarget(parts, row);
  return withProjectLock(parts.record, into, async () => {
    const changed = await changesOfWorktree(parts, row);
    changed.sort((one, other) => (one.path < other.path ? -1 : 1));
    const releases: (() => void)[] = [];
    try {
      const signal = AbortSignal.timeout(LOCK_WAIT_MS);
      for (const { path } of changed)
        releases.push((await locks?.take(`${into}/${path}`, false, signal)) ?? (() => {}));
      return await mergeAll(parts, request, into, changed);
    } finally {
      for (const release of releases) release();
    }
  });
}

const LOCK_WAIT_MS = 30_000;

type Planned = { change: FileStates; ours: FileState; merged: Merged };

async function mergeAll(
  parts: WorktreeParts,
  request: MergeRequest,
  into: string,
  changed: readonly FileStates[],
): Promise<MergeReport> {
  const planned: Planned[] = [];
  for (const change of changed) planned.push(await plan(parts, request, into, change));
  const conflicts = planned.flatMap(({ change, merged }) =>
    merged.kind === "conflict" ? [{ path: change.path, why: merged.why }] : [],
  );
  const same = planned.filter(({ merged }) => merged.kind === "same").map(({ change }) => change.path);
  if (conflicts.length > 0 && !request.partial) return { into, merged: [], same, conflicts, done: false };
  const merged = await apply(parts, request, into, planned);
  const done = conflicts.length === 0;
  if (done) await removeWorktree(parts, request.row, "merged");
  return { into, merged, same, conflicts, done };
}

async function plan(
  { blobs, dataDir }: WorktreeParts,
  { refuse }: MergeRequest,
  into: string,
  change: FileStates,
): Promise<Planned> {
  const ours = await keepState(into, change.path, blobs, true);
  const why = (await refuse(change.path)) ?? (await inTheWay(into, change));
  if (why) return { change, ours, merged: { kind: "conflict", why: `${change.path}: ${why}` } };
  return { change, ours, merged: await mergeFile(ours, change, { blobs, dataDir }) };
}

async function inTheWay(into: string, { path, after }: FileStates): Promise<string | null> {
  if (!after) return null;
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    const above = await lookAt(into, path.slice(0, at));
    if (above && (above.mode & 0o170000) !== 0o040000)
      return `${path.slice(0, at)} is no folder in the project`;
  }
  return null;
}

/** Every step is on record before it is done, and can be undone with the changes of the run that merges. */
async function apply(
  parts: WorktreeParts,
  { row, by }: MergeRequest,
  into: string,
  planned: readonly Planned[],
): Promise<MergeReport["merged"]> {
  const steps = planned.flatMap(({ change, ours, merged }) =>
    merged.kind === "take" ? [{ path: change.path, ours, target: merged.state }] : [],
  );
  for (const { path, ours } of steps) await mustBeAsPlanned(into, path, ours);
  const changes: { path: string; before: FileState; after?: FileState }[] = [];
  const folders = new Set<string>();
  for (const { path, ours, target } of steps) {
    const missing = target ? await findMissingFolders(into, path, folders) : [];
    for (const folder of missing) {
      folders.add(folder);
      changes.push({ path: folder, before: null });
    }
    changes.push({ path, before: ours, after: target });
  }
  await performAct(parts, {
    about: { ...by, aboutRun: row.runId, root: into, source: "merge" },
    changes,
    steps: [...steps.filter(({ target }) => !target), ...steps.filter(({ target }) => target)],
  });
  return steps.map(({ path, ours, target }) => ({ path, kind: nameChange(ours, target) }));
}

async function mustBeAsPlanned(into: string, path: string, ours: FileState): Promise<void> {
  if (sameState(await lookAt(into, path), ours)) return;
  const message = `${path} changed in the project while it was being merged; nothing was touched`;
  throw new RetinueError("failed", message, "merge again");
}
