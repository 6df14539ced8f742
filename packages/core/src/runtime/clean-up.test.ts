import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shadowDir } from "../changes/shadow.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { WorktreeRow } from "../schema/change.ts";
import { cleanUp, compactRecord, measureStorage, planCleanUp } from "./clean-up.ts";

let dataDir = "";
let record: Record;
beforeEach(() => {
  dataDir = realpathSync(mkdtempSync(join(tmpdir(), "retinue-clean-up-")));
  record = createSqliteRecord({ path: join(dataDir, "retinue.db") });
});
afterEach(async () => {
  await record.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const parts = () => ({ record, dataDir });
const place = (...names: string[]) => join(dataDir, ...names);

/** Writes a file of so many bytes, from a day ago unless it is young; gives its path. */
function put(path: string, bytes = 10, isYoung = false): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "x".repeat(bytes));
  if (!isYoung) age(path, join(path, ".."));
  return path;
}

function age(...paths: string[]): void {
  const past = new Date(Date.now() - 86_400_000);
  for (const path of paths) utimesSync(path, past, past);
}

/** A session as the record has it, with a folder of its own that holds a file of so many bytes. */
async function addSession(
  id: string,
  status: "completed" | "running" = "completed",
  bytes = 100,
): Promise<void> {
  const about = {
    sessionId: id,
    title: "t",
    project: "/project",
    workspace: place("sessions", id),
    metadata: {},
  };
  await record.startSession(about);
  if (status !== "running") await record.write({ kind: "session.update", sessionId: id, change: { status } });
  if (bytes > 0) put(place("sessions", id, "a.txt"), bytes);
  else mkdirSync(place("sessions", id), { recursive: true });
}

const sessionsIn = async () => (await record.listSessions()).sessions;

test("what would go is measured with the folders of a session and of its runs, and what must stay is named", async () => {
  await addSession("ses_1", "completed", 1_000);
  put(place("sessions", "ses_1-runs", "run_1", "b.txt"), 2_000);
  await addSession("ses_2", "completed", 4_000);
  await addSession("ses_3", "running");
  const row = {
    sessionId: "ses_1",
    parentId: null,
    runId: "run_1",
    type: "prompt",
    agentRole: "lead",
  } as const;
  await record.write({
    ...{ kind: "row.open", id: await record.reserveRowIds(1) },
    row: { ...row, depth: 0, startedAtMs: 0, requestContent: "what was asked" },
  });
  const { removable, kept, bytes } = await planCleanUp(parts(), await sessionsIn());
  expect(kept.map(({ sessionId }) => sessionId)).toEqual(["ses_3"]);
  const own = await record.measureSession("ses_1");
  expect(removable.find(({ session }) => session.session_id === "ses_1")?.bytes).toBe(3_000 + own);
  expect(bytes).toBe(removable.reduce((sum, one) => sum + one.bytes, 0));
  expect(own).toBeGreaterThan(0);
  expect(existsSync(place("sessions", "ses_1", "a.txt"))).toBe(true);
});

test("sessions that are removed go with their folders, those that may not go stay whole", async () => {
  await addSession("ses_1", "completed", 1_000);
  put(place("sessions", "ses_1-runs", "run_1", "b.txt"), 2_000);
  await addSession("ses_2");
  await addSession("ses_3", "running");
  const report = await cleanUp(parts(), ["ses_1", "ses_3"]);
  expect(report).toMatchObject({ sessions: 1, workspaces: 2, freedBytes: 3_000 });
  expect((await sessionsIn()).map(({ session_id }) => session_id).toSorted()).toEqual(["ses_2", "ses_3"]);
  const there = ["ses_1", "ses_1-runs", "ses_2", "ses_3"].map((id) => existsSync(place("sessions", id)));
  expect(there).toEqual([false, false, true, true]);
});

test("of folders that belong to no session the old ones go, and of sessions the empty ones that nothing works in", async () => {
  age(join(put(place("sessions", "ses_old", "a.txt")), ".."));
  put(place("sessions", "ses_young", "a.txt"), 10, true);
  put(place("sessions", "of a person", "a.txt"));
  await addSession("ses_empty", "completed", 0);
  await addSession("ses_busy", "running", 0);
  await cleanUp(parts(), []);
  const names = ["ses_old", "ses_young", "of a person", "ses_empty", "ses_busy"];
  expect(names.filter((name) => existsSync(place("sessions", name)))).toEqual([
    "ses_young",
    "of a person",
    "ses_busy",
  ]);
});

test("kept contents that no change needs go once they are old, and whatever is no content stays", async () => {
  const hash = (letter: string) => letter.repeat(64);
  const content = (name: string, isYoung = false) =>
    put(place("blobs", name.slice(0, 2), name.slice(2)), 50, isYoung);
  const [old, young, unfinished] = [content(hash("a")), content(hash("b"), true), content("cc-half.tmp")];
  const other = content("notes-of-a-person.txt");
  const needed = content(hash("d"));
  const listContents = async () => new Set([hash("d")]);
  const keeping: Record = Object.assign(Object.create(record), { listContents });
  expect(await cleanUp({ record: keeping, dataDir }, [])).toMatchObject({ contents: 2, freedBytes: 100 });
  expect([old, young, unfinished, other, needed].map((path) => existsSync(path))).toEqual([
    ...[false, true, false, true, true],
  ]);
});

test("shadows go but for those of projects that something works in, here or in another process", async () => {
  await addSession("ses_1", "running", 0);
  const busy = shadowDir(dataDir, "/project");
  const [idle, used, dead] = ["idle", "used", "dead"].map((name) => place("shadow", name));
  for (const folder of [busy, idle, place("shadow", "left.gone")]) put(join(folder ?? "", "objects"), 20);
  put(join(used ?? "", `index-${process.pid}-1`));
  put(join(dead ?? "", "index-999999999-1"), 20);
  expect(await cleanUp(parts(), [])).toMatchObject({ shadows: 3, freedBytes: 60 });
  expect([busy, idle, used, dead].map((folder) => existsSync(folder ?? ""))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(existsSync(place("shadow", "idle.gone"))).toBe(false);
  expect(existsSync(place("shadow", "left.gone"))).toBe(false);
});

test("storage is measured by what it is for", async () => {
  put(place("sessions", "ses_1", "deep", "a.txt"), 1);
  put(place("blobs", "aa", "b"), 20);
  put(place("shadow", "s", "c"), 300);
  expect(await measureStorage(parts())).toMatchObject({
    workspaceBytes: 1,
    contentBytes: 20,
    shadowBytes: 300,
  });
});

test("the shadows of a copy that waits to be merged and of what it is merged into stay", async () => {
  const [path, into] = ["/copies/run_1", "/project"] as const;
  await addSession("ses_1");
  const row: WorktreeRow = {
    ...{ runId: "run_1", sessionId: "ses_1", agent: "worker", path, into, status: "kept", line: ["run_1"] },
    ...{ baseTree: null, baseCommit: null, gitDir: null, tainted: false, createdAtMs: 0 },
  };
  await record.write({ kind: "worktree.save", row });
  for (const root of [path, into, "/other"]) put(join(shadowDir(dataDir, root), "objects"), 20);
  expect(await cleanUp(parts(), [])).toMatchObject({ shadows: 1, freedBytes: 20 });
  const left = [path, into, "/other"].map((root) => existsSync(shadowDir(dataDir, root)));
  expect(left).toEqual([true, true, false]);
});

test("what was written before is in the record before a session is removed", async () => {
  await addSession("ses_1");
  const calls: string[] = [];
  const watched: Record = Object.assign(Object.create(record), {
    written: async () => {
      await record.written();
      calls.push("written");
    },
    deleteSession: (id: string) => {
      calls.push(`delete ${id}`);
      return record.deleteSession(id);
    },
  });
  await cleanUp({ record: watched, dataDir }, ["ses_1"]);
  expect(calls).toEqual(["written", "delete ses_1"]);
});

test("a folder that somebody else removes meanwhile is not counted", async () => {
  age(join(put(place("sessions", "ses_gone", "a.txt")), ".."));
  const readSession = async () => {
    rmSync(place("sessions", "ses_gone"), { recursive: true });
    return undefined;
  };
  const racing: Record = Object.assign(Object.create(record), { readSession });
  expect(await cleanUp({ record: racing, dataDir }, [])).toMatchObject({ workspaces: 0, freedBytes: 0 });
});

test("a compacted record has nothing unused, and one that cannot be compacted says why", async () => {
  await addSession("ses_1");
  await record.write({
    ...{ kind: "session.update", sessionId: "ses_1" },
    change: { metadata: { much: "x".repeat(1_000_000) } },
  });
  await cleanUp(parts(), ["ses_1"]);
  const before = await record.measure();
  expect(before.freeBytes).toBeGreaterThan(500_000);
  expect(await compactRecord(parts())).toBeNull();
  const after = await record.measure();
  expect(after.freeBytes).toBe(0);
  expect(after.bytes).toBeLessThan(before.bytes);
  const compact = () => Promise.reject(new Error("the disk is full"));
  const failing: Record = Object.assign(Object.create(record), { compact });
  expect(await compactRecord({ record: failing, dataDir })).toBe("the disk is full");
});
