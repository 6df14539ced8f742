import type { BlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createId } from "../run/create-id.ts";
import type { FileChange, FileState } from "../schema/change.ts";
import { RetinueError } from "../schema/error.ts";
import { withProjectLock } from "./project-lock.ts";
import { findScope, type NetChange, netChanges, type Scope, unkept } from "./scope.ts";
import { isFolder, keepState, lookAt, performAct, sameState } from "./state.ts";

/** One path that an undo changes. */
export type UndoStep = { path: string; now: FileState; target: FileState };

/** What an undo would do, or why it must not. */
export type UndoPlan = {
  scope: Scope;
  root: string;
  steps: readonly UndoStep[];
  /** Files that are not as the run left them. */
  conflicts: readonly { path: string; why: string }[];
  /** What cannot be taken back because it was never kept. */
  unkept: readonly string[];
};

/** What an undo did; undoing `act` takes it back. */
export type UndoReport = { act: string | null; restored: readonly string[]; left: readonly string[] };

type Parts = { record: Record; blobs: BlobStore };

/** Compares what a run left with what is there now. Nothing in the project changes. */
export async function planUndo({ record }: Parts, name: string): Promise<UndoPlan> {
  const before = await findScope(record, name);
  await settleOpen(record, before.changes);
  const scope = await findScope(record, before.id);
  const root = scope.session.project;
  const steps: UndoStep[] = [];
  const conflicts: { path: string; why: string }[] = [];
  const own = new Set(scope.changes.map((change) => change.changeId));
  for (const net of netChanges(scope.changes)) {
    if (net.root !== root) continue;
    const now = await lookAt(root, net.path);
    if (sameState(now, net.before) || isSettled(now, net)) continue;
    const why = conflictOf(now, net) ?? (await laterChange(record, net, own));
    if (why) conflicts.push({ path: net.path, why });
    steps.push({ path: net.path, now, target: net.before });
  }
  return { scope, root, steps, conflicts, unkept: unkept(scope.changes) };
}

/** Folders matter only as far as they are in the way or missing. */
function isSettled(now: FileState, { before, after }: NetChange): boolean {
  if (before === null && isFolder(after)) return !isFolder(now);
  return isFolder(before) && after === null && isFolder(now);
}

function conflictOf(now: FileState, net: NetChange): string | null {
  if (net.before === null && isFolder(net.after)) return null;
  if (net.interrupted) return "something else changed it in between";
  if (!net.outcomeKnown) return "the process ended while it was being changed";
  return sameState(now, net.after) ? null : "it changed since";
}

/** The content may be what the run left and still be another run's work by now. */
async function laterChange(record: Record, net: NetChange, own: ReadonlySet<string>): Promise<string | null> {
  if (isFolder(net.after) || net.closedSeq === null) return null;
  const later = (await record.listChanges({ root: net.root, path: net.path, after: net.closedSeq })).find(
    ({ changeId, source, note }) => !own.has(changeId) && source !== "undo" && note === null,
  );
  return later ? `${later.runId} changed it later` : null;
}

/**
 * Takes changes back, all files or none: a conflict throws before anything is touched, unless `force`. Every step is on
 * record before it is done, so that the undo can itself be undone, and so that after a crash the same call finishes it.
 */
export async function undoChanges(parts: Parts, name: string, force: boolean): Promise<UndoReport> {
  const { record } = parts;
  const { session, changes } = await findScope(record, name);
  const release = await record.takeLease(session.session_id);
  try {
    return await withProjectLock(record, session.project, async () => {
      const begun = changes.find(isUnfinishedUndo);
      const plan = await planUndo(parts, name);
      if (plan.conflicts.length > 0 && !force) throw conflictError(plan);
      return apply(parts, plan, begun?.runId ?? createId("und"), force);
    });
  } finally {
    await release();
  }
}

async function apply(parts: Parts, plan: UndoPlan, act: string, force: boolean): Promise<UndoReport> {
  const { blobs } = parts;
  const { scope, root, steps } = plan;
  for (const { target } of steps) if (target && !isFolder(target)) await blobs.get(target.hash);
  const found = new Map<string, FileState>();
  for (const { path } of steps) found.set(path, await keepState(root, path, blobs, true));
  const saved = steps.filter(({ path, now }) => !sameState(found.get(path) ?? null, now));
  const conflicts = saved.map(({ path }) => ({ path, why: "it changed since" }));
  if (conflicts.length > 0 && !force) throw conflictError({ ...plan, conflicts });
  const left = await performAct(parts, {
    about: {
      sessionId: scope.session.session_id,
      runId: act,
      aboutRun: scope.id,
      messageId: null,
      root,
      source: "undo",
    },
    changes: steps.map(({ path, target }) => ({ path, before: found.get(path) ?? null, after: target })),
    steps: inOrder(steps),
  });
  const restored = steps.map(({ path }) => path).filter((path) => !left.includes(path));
  return { act: steps.length > 0 ? act : null, restored, left };
}

/** First what must go, the deepest first; then folders, the outermost first; then files. */
function inOrder(steps: readonly UndoStep[]): UndoStep[] {
  const gone = steps
    .filter(({ now, target }) => now && (!target || isFolder(now) !== isFolder(target)))
    .sort((one, other) => depthOf(other.path) - depthOf(one.path));
  const kept = steps.filter(({ target }) => target !== null);
  const folders = kept
    .filter(({ target }) => isFolder(target))
    .sort((one, other) => depthOf(one.path) - depthOf(other.path));
  return [
    ...gone.map((step) => ({ ...step, target: null })),
    ...folders,
    ...kept.filter(({ target }) => !isFolder(target)),
  ];
}

function depthOf(path: string): number {
  return path.split("/").length;
}

/** Finds out about changes inside which a process ended: whether they happened can be seen where the outcome was planned. */
async function settleOpen(record: Record, changes: readonly FileChange[]): Promise<void> {
  for (const change of changes) {
    if (change.closedSeq !== null) continue;
    const now = await lookAt(change.root, change.path).catch(() => undefined);
    if (now === undefined) continue;
    if (sameState(now, change.before))
      record.append({ kind: "change.close", changeId: change.changeId, after: change.before });
    else if (change.outcomeKnown && sameState(now, change.after))
      record.append({ kind: "change.close", changeId: change.changeId, after: now });
  }
  await record.committed();
}

function isUnfinishedUndo(change: FileChange): boolean {
  return change.source === "undo" && change.closedSeq === null;
}

function conflictError({ conflicts, scope }: UndoPlan): RetinueError {
  const list = conflicts.map(({ path, why }) => `${path} (${why})`).join(", ");
  return new RetinueError(
    "failed",
    `${scope.id} is not undone, nothing was touched: ${list}`,
    "look at them with: retinue diff; --force restores them all the same, and can itself be undone",
  );
}
