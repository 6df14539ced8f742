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
import { type BlobStore, createBlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { ChangeOpening, FileState } from "../schema/change.ts";
import { keepState, lookAt } from "./state.ts";
import { planUndo, undoChanges } from "./undo.ts";

let root = "";
let project = "";
let record: Record;
let blobs: BlobStore;
let booked = 0;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-undo-")));
  project = join(root, "project");
  mkdirSync(project);
  record = createSqliteRecord({ path: ":memory:" });
  blobs = createBlobStore(join(root, "blobs"));
  booked = 0;
  await record.startSession({ sessionId: "ses_1", title: "t", project, workspace: root });
  const first = await record.reserveRowIds(2);
  for (const [index, runId] of ["run_one", "run_two"].entries())
    await record.write({
      kind: "row.open",
      id: first + index,
      row: {
        sessionId: "ses_1",
        parentId: null,
        runId,
        type: "prompt",
        agentRole: "lead",
        depth: 0,
        startedAtMs: 1,
        metadata: {},
      },
    });
});
afterEach(async () => {
  await record.close();
  rmSync(root, { recursive: true, force: true });
});

const inProject = (path: string) => join(project, path);
const textOf = (path: string) => readFileSync(inProject(path), "utf8");
const write = (path: string, text: string) => writeFileSync(inProject(path), text);
const undo = (name: string, force = false) => undoChanges({ record, blobs }, name, force);

/** Books that a run is about to change a path; the answer books what came of it. */
async function open(runId: string, path: string, more: Partial<ChangeOpening> = {}) {
  const { root: folder = project } = more;
  const changeId = `chg_${++booked}`;
  const before = await keepState(folder, path, blobs, true);
  const about = { changeId, sessionId: "ses_1", runId, messageId: null, root: folder, path };
  await record.write({
    kind: "change.open",
    change: { ...about, source: "tool", before, done: false, ...more },
  });
  return async (measured?: FileState) => {
    const after = measured ?? (await lookAt(folder, path));
    if (after?.hash) await keepState(folder, path, blobs, true);
    await record.write({ kind: "change.close", changeId, after });
  };
}

/** A change of one run, from beginning to end. */
async function change(runId: string, path: string, act: () => void, more: Partial<ChangeOpening> = {}) {
  const close = await open(runId, path, more);
  act();
  await close();
}

test("what a run changed outside of the project is left as it is, and so is a file of that name in the project", async () => {
  const outside = join(root, "workspace");
  mkdirSync(outside);
  await change("run_one", "own.txt", () => write("own.txt", "1"));
  await change("run_one", "note.txt", () => writeFileSync(join(outside, "note.txt"), "1"), { root: outside });
  write("note.txt", "1");
  expect(await undo("run_one")).toMatchObject({ restored: ["own.txt"], left: [] });
  expect(existsSync(join(outside, "note.txt"))).toBe(true);
  expect([existsSync(inProject("own.txt")), existsSync(inProject("note.txt"))]).toEqual([false, true]);
});

test("what an undo is about to do is on disk before it touches a file, and what it did when it has ended", async () => {
  write("a.txt", "old");
  await change("run_one", "a.txt", () => write("a.txt", "new"));
  const steps: string[] = [];
  const watched: Record = {
    ...record,
    append(write) {
      steps.push(write.kind);
      record.append(write);
    },
    committed() {
      steps.push("committed");
      return record.committed();
    },
  };
  const get = (hash: string) => {
    steps.push("read the old content");
    return blobs.get(hash);
  };
  await undoChanges({ record: watched, blobs: { ...blobs, get } }, "run_one", false);
  const begun = steps.indexOf("change.open");
  expect(steps.slice(begun)).toEqual([
    "change.open",
    "committed",
    "read the old content",
    "change.close",
    "committed",
  ]);
});

test("a file that a person put in place of a folder that the run made is left alone", async () => {
  await change("run_one", "made", () => mkdirSync(inProject("made")));
  rmSync(inProject("made"), { recursive: true });
  write("made", "by hand");
  expect(await undo("run_one")).toEqual({ act: null, restored: [], left: [] });
  expect(textOf("made")).toBe("by hand");
});

test("a folder that a person made again after the run had removed it is no conflict", async () => {
  mkdirSync(inProject("folder"), { mode: 0o755 });
  await change("run_one", "folder", () => rmSync(inProject("folder"), { recursive: true }));
  mkdirSync(inProject("folder"), { mode: 0o700 });
  expect(await planUndo({ record, blobs }, "run_one")).toMatchObject({ steps: [], conflicts: [] });
});

test("a folder of the run in which a person keeps something stays, and is named", async () => {
  await change("run_one", "made", () => mkdirSync(inProject("made")));
  await change("run_one", "made/a.txt", () => write("made/a.txt", "1"));
  write("made/own.txt", "by hand");
  expect(await undo("run_one")).toMatchObject({ restored: ["made/a.txt"], left: ["made"] });
  expect([existsSync(inProject("made/a.txt")), textOf("made/own.txt")]).toEqual([false, "by hand"]);
});

test("a file that somebody else changed between two changes of the run conflicts", async () => {
  write("a.txt", "old");
  await change("run_one", "a.txt", () => write("a.txt", "1"));
  write("a.txt", "by hand");
  await change("run_one", "a.txt", () => write("a.txt", "2"));
  await expect(undo("run_one")).rejects.toThrow("a.txt (something else changed it in between)");
  expect(textOf("a.txt")).toBe("2");
  await undo("run_one", true);
  expect(textOf("a.txt")).toBe("old");
});

test("calls of one run that overlapped are not taken for later changes of another", async () => {
  write("a.txt", "old");
  const closeFirst = await open("run_one", "a.txt");
  write("a.txt", "1");
  const first = await lookAt(project, "a.txt");
  const closeSecond = await open("run_one", "a.txt");
  write("a.txt", "2");
  await closeSecond();
  await closeFirst(first);
  expect((await planUndo({ record, blobs }, "run_one")).conflicts).toEqual([]);
});

test("a later change of another run is a conflict; one that could not be kept, or an undo, is none", async () => {
  await change("run_one", "a.txt", () => write("a.txt", "1"));
  const { act } = await undo("ses_1");
  await undo(act ?? "");
  await change("run_two", "a.txt", () => {}, { note: "too large" });
  expect((await planUndo({ record, blobs }, "run_one")).conflicts).toEqual([]);
  await change("run_two", "a.txt", () => {});
  await expect(undo("run_one")).rejects.toThrow("a.txt (run_two changed it later)");
  expect(textOf("a.txt")).toBe("1");
});

test("an undo holds the session while it works, and lets go of it when it fails", async () => {
  await change("run_one", "a.txt", () => write("a.txt", "1"));
  write("a.txt", "by hand");
  const held: string[] = [];
  const takeLease: Record["takeLease"] = async (id) => {
    held.push(id);
    const release = await record.takeLease(id);
    return async () => {
      held.pop();
      await release();
    };
  };
  const listChanges: Record["listChanges"] = (query) => {
    seen.push(...held);
    return record.listChanges(query);
  };
  const seen: string[] = [];
  const watched = { ...record, takeLease, listChanges };
  await expect(undoChanges({ record: watched, blobs }, "run_one", false)).rejects.toThrow("it changed since");
  expect([seen.includes("ses_1"), held]).toEqual([true, []]);
});

test("nothing is touched if what one of the files held is not there any more", async () => {
  for (const name of ["a.txt", "b.txt"]) {
    write(name, `old ${name}`);
    await change("run_one", name, () => write(name, "new"));
  }
  const { hash = "" } = (await record.listChanges({ ids: ["run_one"] }))[1]?.before ?? {};
  const get = (wanted: string) => (wanted === hash ? Promise.reject(new Error("lost")) : blobs.get(wanted));
  await expect(undoChanges({ record, blobs: { ...blobs, get } }, "run_one", true)).rejects.toThrow("lost");
  expect([textOf("a.txt"), textOf("b.txt")]).toEqual(["new", "new"]);
});

test("a change that a crash prevented does not keep the one before it from being undone", async () => {
  await change("run_one", "a.txt", () => write("a.txt", "1"));
  await open("run_one", "a.txt");
  expect(await undo("run_one")).toMatchObject({ restored: ["a.txt"] });
  expect(existsSync(inProject("a.txt"))).toBe(false);
});

test("a crash inside a change of unknown outcome is a conflict, even if the file is gone", async () => {
  write("a.txt", "old");
  await open("run_one", "a.txt");
  rmSync(inProject("a.txt"));
  await expect(undo("run_one")).rejects.toThrow("a.txt (the process ended while it was being changed)");
});

test("a folder whose place a file had taken comes back with its mode and what was in it", async () => {
  mkdirSync(inProject("deep/er"), { recursive: true, mode: 0o750 });
  write("deep/er/a.txt", "a");
  for (const path of ["deep/er/a.txt", "deep/er", "deep"])
    await change("run_one", path, () => rmSync(inProject(path), { recursive: true }));
  await change("run_one", "deep", () => write("deep", "a file"));
  await undo("run_one");
  expect(textOf("deep/er/a.txt")).toBe("a");
  expect((await lookAt(project, "deep/er"))?.mode).toBe(0o40750);
});
