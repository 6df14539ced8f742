import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git } from "../../../../test/fixtures/project-tree.ts";
import { createBlobStore } from "../record/blob-store.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { WorktreeStatus } from "../schema/change.ts";
import { shadowDir } from "./shadow.ts";
import {
  changesOfWorktree,
  hiddenRef,
  makeWorktree,
  removeWorktree,
  sweepWorktrees,
  type WorktreeParts,
} from "./worktrees.ts";

let root = "";
let project = "";
let parts: WorktreeParts;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-worktrees-")));
  project = join(root, "project");
  mkdirSync(project);
  writeFileSync(join(project, "a.txt"), "a\n");
  const record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({ sessionId: "ses_1", title: "t", project, workspace: root });
  parts = { record, blobs: createBlobStore(join(root, "blobs")), dataDir: join(root, "data") };
  await endSession();
});
afterEach(async () => {
  await parts.record.close();
  rmSync(root, { recursive: true, force: true });
});

const setSession = (status: "running" | "completed") =>
  parts.record.write({ kind: "session.update", sessionId: "ses_1", change: { status } });
const endSession = () => setSession("completed");

const make = (runId: string, from = project) =>
  makeWorktree(parts, { runId, from, sessionId: "ses_1", agent: "worker", line: [runId], nowMs: 0 });

/** A copy with the status that a process had written when it ended. */
async function leave(runId: string, status: WorktreeStatus) {
  const made = await make(runId);
  const row = { ...made, status, ...(status === "making" && { baseTree: null, baseCommit: null }) };
  await parts.record.write({ kind: "worktree.save", row });
  return row;
}
const copies = () => readdirSync(join(root, "data", "worktrees")).toSorted();

function asRepository(folder = project): void {
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
}

test("a copy is private, and what differs from its beginning is told, a mode as well", async () => {
  writeFileSync(join(project, "tool.sh"), "#!/bin/sh\n", { mode: 0o644 });
  const row = await make("run_1");
  expect(statSync(row.path).mode & 0o777).toBe(0o700);
  expect(await changesOfWorktree(parts, row)).toEqual([]);
  chmodSync(join(row.path, "tool.sh"), 0o755);
  writeFileSync(join(row.path, "new.txt"), "new\n");
  rmSync(join(row.path, "a.txt"));
  const changed = await changesOfWorktree(parts, row);
  expect(
    Object.fromEntries(changed.map(({ path, before, after }) => [path, [before?.mode, after?.mode]])),
  ).toEqual({
    "a.txt": [0o100644, undefined],
    "new.txt": [undefined, 0o100644],
    "tool.sh": [0o100644, 0o100755],
  });
});

test("changes of a copy that is gone, or was never finished, cannot be read, and that is said", async () => {
  const row = await make("run_1");
  await expect(changesOfWorktree(parts, { ...row, baseTree: null })).rejects.toThrow(
    `the copy of run_1 is not there any more: ${row.path}`,
  );
  rmSync(row.path, { recursive: true });
  await expect(changesOfWorktree(parts, row)).rejects.toThrow("is not there any more");
});

test("a copy that cannot be made leaves nothing behind but the reason", async () => {
  const missing = join(root, "missing");
  await expect(make("run_1", missing)).rejects.toThrow(`the run's own copy of ${missing} cannot be made`);
  expect(copies()).toEqual([]);
  expect(await parts.record.findWorktree({ runId: "run_1" })).toMatchObject({ status: "removed" });
});

test("what a crash left of a copy is cleared before it is made again", async () => {
  asRepository();
  const half = await make("run_1");
  writeFileSync(join(half.path, "half.txt"), "half");
  const row = await make("run_1");
  expect(readdirSync(row.path).toSorted()).toEqual([".git", "a.txt"]);
  expect(await changesOfWorktree(parts, row)).toEqual([]);
});

test("a repository without a commit gets a plain copy", async () => {
  git(project, "init", "-q", "-b", "main");
  const row = await make("run_1");
  expect([row.baseCommit, row.gitDir]).toEqual([null, null]);
  expect(readdirSync(row.path)).toEqual(["a.txt"]);
});

test("removing a copy leaves a person's own worktrees and the copies of other runs as they are", async () => {
  asRepository();
  git(project, "worktree", "add", "-q", "--detach", join(root, "own"));
  const [one, two] = [await make("run_1"), await make("run_2")];
  const shadow = shadowDir(parts.dataDir, one.path);
  expect(existsSync(shadow)).toBe(true);
  await removeWorktree(parts, one, "merged");
  expect(existsSync(shadow)).toBe(false);
  const listed = git(project, "worktree", "list");
  expect([listed.includes(join(root, "own")), listed.includes(two.path), listed.includes(one.path)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(git(project, "for-each-ref", "--format=%(refname)", "refs/retinue").trim()).toBe(hiddenRef("run_2"));
  expect(git(two.path, "status", "--porcelain")).toBe("");
});

test("a copy goes also where its repository is gone", async () => {
  asRepository();
  const row = await make("run_1");
  rmSync(project, { recursive: true });
  await removeWorktree(parts, row, "removed");
  expect(copies()).toEqual([]);
});

test("sweeping leaves alone the copies of a session that may go on", async () => {
  await leave("run_making", "making");
  await leave("run_open", "open");
  await setSession("running");
  await sweepWorktrees(parts);
  expect(copies()).toEqual(["run_making", "run_open"]);
  expect((await parts.record.listWorktrees()).map(({ status }) => status).toSorted()).toEqual([
    "making",
    "open",
  ]);
});

test("sweeping keeps a copy with changes and one that was kept for a person, and removes the others", async () => {
  await leave("run_idle", "open");
  await leave("run_half", "making");
  await leave("run_kept", "kept");
  const changed = await leave("run_changed", "open");
  writeFileSync(join(changed.path, "work.txt"), "work");
  await sweepWorktrees(parts);
  expect(copies()).toEqual(["run_changed", "run_kept"]);
  expect(readFileSync(join(changed.path, "work.txt"), "utf8")).toBe("work");
  const statuses: (string | undefined)[] = [];
  for (const runId of ["run_idle", "run_half", "run_kept", "run_changed"])
    statuses.push((await parts.record.findWorktree({ runId }))?.status);
  expect(statuses).toEqual(["removed", "removed", "kept", "kept"]);
});

test.each(["merged", "empty", "removed"] as const)(
  "sweeping clears what a crash left of a copy that was %s already",
  async (status) => {
    const row = await leave("run_1", status);
    mkdirSync(join(root, "data", "worktrees", "not-ours"));
    await sweepWorktrees(parts);
    expect(existsSync(row.path)).toBe(false);
    expect(copies()).toEqual(["not-ours"]);
    expect((await parts.record.findWorktree({ runId: "run_1" }))?.status).toBe(status);
  },
);
