import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { treeOf } from "../../../../test/fixtures/project-tree.ts";
import { createBlobStore } from "../record/blob-store.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { WorktreeRow } from "../schema/change.ts";
import { type MergeRequest, mergeTarget, mergeWorktree } from "./merge.ts";
import { PathLocks } from "./path-locks.ts";
import { undoChanges } from "./undo.ts";
import { makeWorktree, type WorktreeParts } from "./worktrees.ts";

let root = "";
let project = "";
let parts: WorktreeParts;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-merge-")));
  project = join(root, "project");
  mkdirSync(project);
  write("a.txt", "a\n");
  write("b.txt", "b\n");
  const record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({ sessionId: "ses_1", title: "t", project, workspace: root });
  parts = { record, blobs: createBlobStore(join(root, "blobs")), dataDir: join(root, "data") };
});
afterEach(async () => {
  await parts.record.close();
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string, folder = project): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A run's own copy, marked as one whose run has ended with changes. */
async function makeCopy(runId = "run_1", from = project): Promise<WorktreeRow> {
  const about = { sessionId: "ses_1", agent: "worker", line: [runId], nowMs: 0 };
  const row: WorktreeRow = { ...(await makeWorktree(parts, { ...about, runId, from })), status: "kept" };
  await parts.record.write({ kind: "worktree.save", row });
  return row;
}

const merge = (row: WorktreeRow, more: Partial<MergeRequest> = {}) =>
  mergeWorktree(parts, {
    row,
    by: { runId: "mrg_1", sessionId: "ses_1", messageId: null },
    partial: false,
    refuse: () => null,
    ...more,
  });
const statusOf = async (row: WorktreeRow) => (await parts.record.findWorktree({ runId: row.runId }))?.status;
const inProject = (path: string) => readFileSync(join(project, path), "utf8");

test("a partial merge keeps the copy for what conflicts, and a later merge brings in the rest", async () => {
  const row = await makeCopy();
  write("a.txt", "by the run\n", row.path);
  write("b.txt", "by the run\n", row.path);
  write("a.txt", "by hand\n");
  const before = treeOf(project);
  expect(await merge(row)).toMatchObject({ merged: [], conflicts: [{ path: "a.txt" }], done: false });
  expect(treeOf(project)).toEqual(before);
  const partial = await merge(row, { partial: true });
  expect(partial).toMatchObject({ merged: [{ path: "b.txt", kind: "modified" }], done: false });
  expect(partial.conflicts).toEqual([
    { path: "a.txt", why: expect.stringMatching(/^a\.txt changed in the same place on both sides/) },
  ]);
  expect([inProject("a.txt"), inProject("b.txt")]).toEqual(["by hand\n", "by the run\n"]);
  expect(readFileSync(join(row.path, "a.txt"), "utf8")).toBe("by the run\n");
  expect(await statusOf(row)).toBe("kept");
  write("a.txt", "a\n");
  expect(await merge(row)).toMatchObject({ merged: [{ path: "a.txt" }], same: ["b.txt"], done: true });
  expect(existsSync(row.path)).toBe(false);
  expect(await statusOf(row)).toBe("merged");
});

test("a merge names what it created, modified and deleted, by path", async () => {
  const row = await makeCopy();
  write("z/new.txt", "new\n", row.path);
  write("b.txt", "changed\n", row.path);
  rmSync(join(row.path, "a.txt"));
  const { merged, same, conflicts } = await merge(row);
  expect(merged).toEqual([
    { path: "a.txt", kind: "deleted" },
    { path: "b.txt", kind: "modified" },
    { path: "z/new.txt", kind: "created" },
  ]);
  expect([same, conflicts]).toEqual([[], []]);
});

test("a merge is booked on the run that merges, about the run that made the changes, and undone with its new folders", async () => {
  const before = treeOf(project);
  const row = await makeCopy();
  write("deep/er/new.txt", "new\n", row.path);
  write("deep/other.txt", "other\n", row.path);
  await merge(row, { by: { runId: "mrg_1", sessionId: "ses_1", messageId: 7 } });
  const changes = await parts.record.listChanges({ ids: ["mrg_1"] });
  expect(changes.map(({ path }) => path)).toEqual(["deep", "deep/er", "deep/er/new.txt", "deep/other.txt"]);
  for (const change of changes)
    expect(change).toMatchObject({ aboutRun: "run_1", source: "merge", messageId: 7, root: project });
  expect(changes.every(({ closedSeq, outcomeKnown, after }) => closedSeq && outcomeKnown && after)).toBe(
    true,
  );
  await undoChanges(parts, "mrg_1", false);
  expect(treeOf(project)).toEqual(before);
});

test("a file that became a folder, or a folder that became a file, is left for a person", async () => {
  write("folder/x.txt", "x\n");
  const row = await makeCopy();
  rmSync(join(row.path, "a.txt"));
  write("a.txt/inside.txt", "inside\n", row.path);
  rmSync(join(row.path, "folder"), { recursive: true });
  write("folder", "a file now\n", row.path);
  const before = treeOf(project);
  const { conflicts, done } = await merge(row);
  expect([conflicts.map(({ path }) => path), done]).toEqual([["a.txt/inside.txt", "folder"], false]);
  expect(treeOf(project)).toEqual(before);
});

test("a new file conflicts where its folder is a file in the project; a file deleted there is deleted already", async () => {
  write("gone/x.txt", "x\n");
  const row = await makeCopy();
  write("made/new.txt", "new\n", row.path);
  rmSync(join(row.path, "gone"), { recursive: true });
  write("made", "a file of the person\n");
  rmSync(join(project, "gone"), { recursive: true });
  write("gone", "a file of the person\n");
  expect(await merge(row, { partial: true })).toMatchObject({
    merged: [],
    same: ["gone/x.txt"],
    conflicts: [{ path: "made/new.txt", why: "made/new.txt: made is no folder in the project" }],
  });
  expect([inProject("made"), inProject("gone")]).toEqual([
    "a file of the person\n",
    "a file of the person\n",
  ]);
});

test("a path that is refused conflicts with the reason, whatever it holds", async () => {
  const row = await makeCopy();
  write("a.txt", "changed\n", row.path);
  const report = await merge(row, { refuse: (path) => (path === "a.txt" ? "not allowed" : null) });
  expect(report).toMatchObject({ conflicts: [{ path: "a.txt", why: "a.txt: not allowed" }], done: false });
  expect(inProject("a.txt")).toBe("a\n");
});

test("every file is locked while it is merged, and free again afterwards, also when the merge fails", async () => {
  const row = await makeCopy();
  write("a.txt", "changed\n", row.path);
  write("b.txt", "changed\n", row.path);
  const locks = new PathLocks();
  const free: Record<string, boolean> = {};
  const look = async (path: string) => {
    const isHeld = (await locks.take(join(project, path), true, new AbortController().signal)) === null;
    free[path] = !isHeld;
    return null;
  };
  await merge(row, { locks, refuse: look });
  expect(free).toEqual({ "a.txt": false, "b.txt": false });
  const other = await makeCopy("run_2");
  write("a.txt", "again\n", other.path);
  const fail = () => Promise.reject(new Error("no rights"));
  await expect(merge(other, { locks, refuse: fail })).rejects.toThrow("no rights");
  for (const path of ["a.txt", "b.txt"]) await look(path);
  expect(free).toEqual({ "a.txt": true, "b.txt": true });
});

test("a copy of copies that are gone is merged into the folder that those were made from, if that is still there", async () => {
  const outer = await makeCopy("run_1");
  const middle = await makeCopy("run_2", outer.path);
  const inner = await makeCopy("run_3", middle.path);
  expect(await mergeTarget(parts, inner)).toBe(middle.path);
  rmSync(middle.path, { recursive: true });
  expect(await mergeTarget(parts, inner)).toBe(outer.path);
  rmSync(outer.path, { recursive: true });
  expect(await mergeTarget(parts, inner)).toBe(project);
  write("c.txt", "c\n", inner.path);
  expect(await merge(inner)).toMatchObject({ into: project, merged: [{ path: "c.txt" }] });
  rmSync(project, { recursive: true });
  const gone = `the folder to merge into is not there any more: ${project}`;
  await expect(mergeTarget(parts, inner)).rejects.toThrow(gone);
});
