import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import type { FileState, WorktreeRow, WorktreeStatus } from "../schema/change.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import { hasGit, runShadowGit, type ShadowEntry } from "./git.ts";
import type { FileStates } from "./patch.ts";
import { withProjectLock } from "./project-lock.ts";
import { findRepository, type ProjectRepository } from "./repository.ts";
import { Shadow, shadowDir } from "./shadow.ts";

/** What copies of projects are made and kept with. */
export type WorktreeParts = { record: Record; blobs: BlobStore; dataDir: string };

/** The run that gets a copy, and what it is a copy of. */
export type WorktreeRequest = Pick<WorktreeRow, "runId" | "sessionId" | "agent" | "line"> & {
  from: string;
  nowMs: number;
};

/** The hidden ref that keeps what a run's copy began with. */
export function hiddenRef(runId: string): string {
  return `refs/retinue/${runId}`;
}

/**
 * Makes a run's own copy of a project: all files that `.gitignore` does not name, as they are now, committed or not. In
 * git it is a worktree of the same repository, on a commit of exactly these files that only a hidden ref points to; the
 * project's index, branches and files stay as they are, and no hook or filter runs.
 */
export async function makeWorktree(parts: WorktreeParts, request: WorktreeRequest): Promise<WorktreeRow> {
  const { record, dataDir } = parts;
  const { from, nowMs, ...about } = request;
  if (!(await hasGit(from)))
    throw new RetinueError(
      "config",
      "a run of its own workspace needs git, which is not on the PATH",
      "install git, or set `workspace: shared` in the agent's file",
    );
  await mkdir(join(dataDir, "worktrees"), { recursive: true, mode: 0o700 });
  const folder = await realpath(join(dataDir, "worktrees"));
  const making: WorktreeRow = {
    ...about,
    path: join(folder, request.runId),
    into: from,
    status: "making",
    baseTree: null,
    baseCommit: null,
    gitDir: null,
    tainted: false,
    createdAtMs: nowMs,
  };
  await clear(parts, (await record.findWorktree({ runId: request.runId })) ?? making);
  await record.write({ kind: "worktree.save", row: making });
  try {
    const open: WorktreeRow = { ...making, ...(await fill(parts, making)), status: "open" };
    await record.write({ kind: "worktree.save", row: open });
    return open;
  } catch (thrown) {
    await removeWorktree(parts, making, "removed").catch(() => {});
    throw new RetinueError("failed", `the run's own copy of ${from} cannot be made: ${messageOf(thrown)}`);
  }
}

type Base = Pick<WorktreeRow, "baseTree" | "baseCommit" | "gitDir">;

async function fill({ dataDir, record }: WorktreeParts, { path, into, runId }: WorktreeRow): Promise<Base> {
  const repository = findRepository(into);
  const head = repository && (await headOf(repository));
  if (repository && head) {
    const { commonDir } = repository;
    const add = ["worktree", "add", "-q", "--detach", "--no-checkout", path, head];
    const env = { GIT_DIR: commonDir };
    await withProjectLock(record, commonDir, () => runShadowGit(add, { cwd: into, env }));
  } else await mkdir(path, { mode: 0o700 });
  {
    await using source = await Shadow.open(dataDir, into);
    await source.refresh();
    await source.copyTo(path);
  }
  await using shadow = await Shadow.open(dataDir, path, { pin: true });
  if (!repository || !head) {
    await shadow.refresh();
    return { baseTree: await shadow.writeTree(), baseCommit: null, gitDir: null };
  }
  return await commitBase(shadow, { repository, head, runId });
}

async function commitBase(
  shadow: Shadow,
  { repository, head, runId }: { repository: ProjectRepository; head: string; runId: string },
): Promise<Base> {
  const { commonDir } = repository;
  const objects = join(commonDir, "objects");
  await shadow.refresh(objects);
  const baseTree = await shadow.writeTree(objects);
  const message = `The project as it was when ${runId} began`;
  const baseCommit = await shadow.commitTree(baseTree, head, message, objects);
  const own = findRepository(shadow.root);
  if (!own) throw new Error("git made no worktree");
  const cwd = shadow.root;
  await runShadowGit(["update-ref", hiddenRef(runId), baseCommit], { cwd, env: { GIT_DIR: commonDir } });
  const env = { GIT_DIR: own.gitDir, GIT_WORK_TREE: cwd };
  await runShadowGit(["update-ref", "--no-deref", "HEAD", baseCommit], { cwd, env });
  await runShadowGit(["read-tree", baseCommit], { cwd, env });
  return { baseTree, baseCommit, gitDir: commonDir };
}

/** The commit a repository stands on; null before its first. */
async function headOf({ gitDir, commonDir }: ProjectRepository): Promise<string | null> {
  const { code, stdout } = await runShadowGit(["rev-parse", "-q", "--verify", "HEAD^{commit}"], {
    cwd: commonDir,
    env: { GIT_DIR: gitDir },
    expect: () => true,
  });
  return code === 0 ? stdout.toString("utf8").trim() : null;
}

/** What differs between a copy as it is now and as it began; the contents of both are kept. */
export async function changesOfWorktree(parts: WorktreeParts, row: WorktreeRow): Promise<FileStates[]> {
  const { dataDir, blobs } = parts;
  if (!existsSync(row.path) || row.baseTree === null)
    throw new RetinueError("failed", `the copy of ${row.runId} is not there any more: ${row.path}`);
  await using shadow = await Shadow.open(dataDir, row.path);
  const [then, { files: now }] = [await shadow.readTree(row.baseTree), await shadow.refresh()];
  const paths = [...new Set([...then.keys(), ...now.keys()])].filter((path) => {
    const [old, current] = [then.get(path), now.get(path)];
    return old?.oid !== current?.oid || old?.mode !== current?.mode;
  });
  const entries = paths.flatMap((path) => [then.get(path), now.get(path)]);
  const hashes = await shadow.keepContents(entries, blobs, true);
  const stateOf = (entry: ShadowEntry | undefined): FileState =>
    entry ? { mode: Number.parseInt(entry.mode, 8), hash: hashes.get(entry.oid) ?? "" } : null;
  return paths.map((path) => ({ path, before: stateOf(then.get(path)), after: stateOf(now.get(path)) }));
}

/** Removes a copy with everything that belongs to it: its worktree entry, its hidden ref and its shadow. */
export async function removeWorktree(
  parts: WorktreeParts,
  row: WorktreeRow,
  status: WorktreeStatus,
): Promise<void> {
  await parts.record.write({ kind: "worktree.save", row: { ...row, status } });
  await clear(parts, row);
}

async function clear({ dataDir, record }: WorktreeParts, row: WorktreeRow): Promise<void> {
  await rm(row.path, { recursive: true, force: true });
  await rm(shadowDir(dataDir, row.path), { recursive: true, force: true });
  const commonDir = row.gitDir ?? findRepository(row.into)?.commonDir;
  if (!commonDir || !existsSync(commonDir)) return;
  const env = { GIT_DIR: commonDir };
  await runShadowGit(["update-ref", "-d", hiddenRef(row.runId)], { cwd: commonDir, env, expect: () => true });
  await withProjectLock(record, commonDir, () => removeEntry(join(commonDir, "worktrees"), row.path));
}

/** Git fails at an entry of another worktree that is half there, so entries are made and removed one after the other. */
async function removeEntry(entries: string, path: string): Promise<void> {
  for (const name of await readdir(entries).catch(() => [])) {
    const pointer = await readFile(join(entries, name, "gitdir"), "utf8").catch(() => "");
    if (pointer.trim() === join(path, ".git")) await rm(join(entries, name), { recursive: true });
  }
}

/**
 * Clears away what a crash left: copies that were never finished or already given up, and whose session cannot go on, and
 * what belongs to copies whose folder somebody has deleted. A copy that cannot be read may hold work, so it stays.
 */
export async function sweepWorktrees(parts: WorktreeParts): Promise<void> {
  const { record, dataDir } = parts;
  for (const row of await record.listWorktrees()) {
    if ((await record.readSession(row.sessionId))?.status === "running") continue;
    const isThere = row.status !== "making" && existsSync(row.path);
    if (isThere && row.status === "kept") continue;
    if (isThere && (await mayBeChanged(parts, row)))
      await record.write({ kind: "worktree.save", row: { ...row, status: "kept" } });
    else await removeWorktree(parts, row, "removed");
  }
  for (const name of await readdir(join(dataDir, "worktrees")).catch(() => [])) {
    const row = await record.findWorktree({ runId: name });
    if (row && GIVEN_UP.has(row.status)) await clear(parts, row);
  }
}

/** Statuses after which a copy is no longer needed; one that is just being made, maybe elsewhere, has none of them. */
const GIVEN_UP: ReadonlySet<WorktreeStatus> = new Set(["merged", "empty", "removed"]);

function mayBeChanged(parts: WorktreeParts, row: WorktreeRow): Promise<boolean> {
  return changesOfWorktree(parts, row).then(
    (changed) => changed.length > 0,
    () => true,
  );
}
