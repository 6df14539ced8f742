import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { write } from "@retinue/code/file-tools/write-tools";
import { mergeWorktree } from "@retinue/core/changes/merge";
import { Shadow } from "@retinue/core/changes/shadow";
import { makeWorktree, removeWorktree, sweepWorktrees } from "@retinue/core/changes/worktrees";
import { createBlobStore } from "@retinue/core/record/blob-store";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  hang,
  type Step,
  type StepMaker,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git } from "../fixtures/project-tree.ts";

let root: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-isolation-")));
  project = join(root, "project");
  mkdirSync(project);
  writeFileSync(join(project, "text.txt"), "text\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function start(scripts: Parameters<typeof testRuntime>[0], more: TestRuntimeOptions = {}): TestRuntime {
  return testRuntime(scripts, {
    projectDir: project,
    dataDir: join(root, "data"),
    tools: [write],
    agents: { worker: { workspace: "isolated" } },
    ...more,
  });
}

function asRepository(): void {
  git(project, "init", "-q", "-b", "main");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
}

const writing = (path: string, content: string): Step => callTool("write", { path, content });
/** Merges the run whose result came last. */
const merging: StepMaker = ({ last }) =>
  callTool("merge_changes", { run: /run_id="(\w+)"/.exec(last)?.[1] ?? "none" });
const partsOf = (t: TestRuntime) => ({
  record: t.runtime.record,
  blobs: createBlobStore(join(root, "data", "blobs")),
  dataDir: join(root, "data"),
});

/** A copy of a session that has ended, as a process leaves it that is killed while it makes the result. */
async function leftBehind(t: TestRuntime) {
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: "go" });
  const about = { sessionId, agent: "worker", from: project, nowMs: 0 };
  const row = await makeWorktree(partsOf(t), { ...about, runId: "run_left", line: ["run_left"] });
  writeFileSync(join(row.path, "work.txt"), "work");
  return row;
}

test("a copy whose changes cannot be read stays until a person deletes it", async () => {
  await using t = start({ lead: [say("done")] });
  const row = await leftBehind(t);
  rmSync(join(root, "data", "shadow"), { recursive: true });
  await sweepWorktrees(partsOf(t));
  expect(readFileSync(join(row.path, "work.txt"), "utf8")).toBe("work");
  rmSync(row.path, { recursive: true });
  await sweepWorktrees(partsOf(t));
  await t.runtime.record.committed();
  expect(await t.runtime.record.listWorktrees()).toEqual([]);
});

test("a copy that another process makes during a clearing is left alone", async () => {
  await using t = start({ lead: [say("done")] });
  const row = await leftBehind(t);
  const parts = partsOf(t);
  const record = { ...parts.record, listWorktrees: async () => [] };
  await sweepWorktrees({ ...parts, record });
  expect(existsSync(row.path)).toBe(true);
});

test("a child that was killed after its changes were counted goes on with them", async () => {
  asRepository();
  const places = { database: join(root, "data", "retinue.db"), lenient: true };
  let hung = false;
  const hanging = () => {
    hung = true;
    return hang();
  };
  const first = start(
    { lead: [callDelegate("worker", "x")], worker: [writing("a.txt", "1"), hanging] },
    places,
  );
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  while (!hung) await new Promise((resolve) => setImmediate(resolve));
  const [row] = await first.runtime.record.listWorktrees();
  if (row) await first.runtime.record.write({ kind: "worktree.save", row: { ...row, status: "kept" } });
  await first.runtime.record.committed();
  await using second = start({ lead: [merging, say("done")], worker: [say("done")] }, places);
  const { result } = await second.runtime.resume(sessionId);
  expect((await result).status).toBe("completed");
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("1");
  expect(readdirSync(join(root, "data", "worktrees"))).toEqual([]);
  await first.close().catch(() => {});
});

test("a child whose copy is still being made when its parent stops its children does not begin", async () => {
  const tasks = [
    { id: "quick", agent: "quick", task: "x" },
    { id: "slow", agent: "worker", task: "x" },
  ];
  await using t = start(
    {
      lead: [callDelegateMany(tasks, { mode: "parallel_streaming" }), ({ last }) => say(last)],
      quick: [say("done")],
      worker: () => hang(),
    },
    { agents: { lead: { limits: { turns: 1 } }, worker: { workspace: "isolated" } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", bailout_reason: "max_iterations" });
  expect(result.details).toContain('status="cancelled"');
  expect(t.models.worker?.requests ?? []).toEqual([]);
});

test("a copy can be made although git has pruned a content that the project's repository once had", async () => {
  asRepository();
  const draft = join(project, "draft.txt");
  writeFileSync(draft, "draft");
  utimesSync(draft, 1_000, 1_000);
  git(project, "add", "draft.txt");
  const shadow = await Shadow.open(join(root, "data"), project);
  await shadow.refresh();
  await shadow.close();
  git(project, "reset", "-q");
  git(project, "prune", "--expire=now");
  await using t = start({
    lead: [callDelegate("worker", "x"), merging, say("done")],
    worker: [writing("a.txt", "1"), say("done")],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("1");
});

test("many copies of one repository are made and removed at once", async () => {
  asRepository();
  await using t = start({ lead: [say("done")] });
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: "go" });
  const parts = partsOf(t);
  const about = { sessionId, agent: "worker", from: project, nowMs: 0 };
  const ids = Array.from({ length: 16 }, (_, index) => `run_${index}`);
  const making = ids.map(async (runId, index) => {
    const row = await makeWorktree(parts, { ...about, runId, line: [runId] });
    if (index % 2 === 0) await removeWorktree(parts, row, "empty");
  });
  const failed = (await Promise.allSettled(making)).flatMap((one) =>
    one.status === "rejected" ? [one.reason] : [],
  );
  expect(failed).toEqual([]);
  expect(readdirSync(join(root, "data", "worktrees"))).toHaveLength(8);
  expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(9);
});

test("what a person saves while a merge makes ready is not overwritten", async () => {
  await using t = start({ lead: [say("done")] });
  const row = await leftBehind(t);
  writeFileSync(join(row.path, "text.txt"), "by the run\n");
  const by = { runId: "mrg_x", sessionId: row.sessionId, messageId: null };
  const refuse = (path: string) => {
    if (path === "work.txt") writeFileSync(join(project, "text.txt"), "by hand\n");
    return null;
  };
  const merge = mergeWorktree(partsOf(t), { row, by, partial: false, refuse });
  await expect(merge).rejects.toThrow("text.txt changed in the project while it was being merged");
  expect(readFileSync(join(project, "text.txt"), "utf8")).toBe("by hand\n");
  expect(existsSync(join(project, "work.txt"))).toBe(false);
});
