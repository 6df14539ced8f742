import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BlobStore, createBlobStore } from "../record/blob-store.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { CallChanges } from "../run/ports.ts";
import { type ChangeKeeper, createChangeKeeper } from "./keep-changes.ts";

let root = "";
let project = "";
let record: Record;
let blobs: BlobStore;
let keeper: ChangeKeeper;
let changed: string[];

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-keep-")));
  project = join(root, "project");
  mkdirSync(project);
  record = createSqliteRecord({ path: ":memory:" });
  await record.startSession({ sessionId: "ses_1", title: "t", project, workspace: root });
  blobs = createBlobStore(join(root, "blobs"));
  changed = [];
  const redact = (text: string) => text.replaceAll("hunter2", "[secret]");
  keeper = createChangeKeeper({ record, blobs, dataDir: join(root, "data"), redact });
});
afterEach(async () => {
  await keeper.close();
  await record.close();
  rmSync(root, { recursive: true, force: true });
});

const begin = (runId = "run_1"): CallChanges =>
  keeper.keep({
    sessionId: "ses_1",
    runId,
    rowId: 1,
    projectDir: project,
    signal: new AbortController().signal,
    changed: (path, kind) => changed.push(`${kind} ${path.slice(project.length + 1)}`),
  });

async function booked(runId = "run_1") {
  await record.committed();
  return record.listChanges({ ids: [runId] });
}
const textOf = async (hash = "") => String(await blobs.get(hash));

test("what a file held is kept before it is changed, and what came of it when the call ends", async () => {
  writeFileSync(join(project, "a.txt"), "before");
  const call = begin();
  await call.beforeChange(join(project, "a.txt"));
  // The row is on disk already, for the case that the process ends here.
  const [opened] = await record.listChanges({ ids: ["run_1"] });
  expect(opened).toMatchObject({ path: "a.txt", closedSeq: null });
  expect(await textOf(opened?.before?.hash)).toBe("before");
  expect(call.busy).toBe(true);
  writeFileSync(join(project, "a.txt"), "after");
  expect(await call.end()).toEqual([]);
  expect(call.busy).toBe(false);
  const [closed] = await booked();
  expect(await textOf(closed?.after?.hash)).toBe("after");
});

test("folders that a new file needs are booked before it, the outermost first", async () => {
  mkdirSync(join(project, "x"));
  const call = begin();
  await call.beforeChange(join(project, "x/y/z/new.txt"));
  await call.end();
  expect((await booked()).map(({ path }) => path)).toEqual(["x/y", "x/y/z", "x/y/z/new.txt"]);
});

test("only what lies in the project is booked; a name that begins with two dots lies in it", async () => {
  const call = begin();
  for (const path of [project, root, join(root, "other.txt"), join(project, "..hidden")])
    await call.beforeChange(path);
  await call.end();
  expect((await booked()).map(({ path }) => path)).toEqual(["..hidden"]);
});

test("a path that two calls change has one of them at a time", async () => {
  const path = join(project, "a.txt");
  const [first, second] = [begin(), begin("run_2")];
  await first.beforeChange(path);
  const waiting = second.beforeChange(path);
  writeFileSync(path, "by the first");
  await first.end();
  await waiting;
  writeFileSync(path, "by the second");
  await second.end();
  const [[one], [two]] = [await booked("run_1"), await booked("run_2")];
  expect(one?.after).toEqual(two?.before);
  expect(await textOf(two?.after?.hash)).toBe("by the second");
});

test("what cannot be kept is said, and holds up nobody else who changes it", async () => {
  const pipe = join(project, "pipe");
  execFileSync("mkfifo", [pipe]);
  const call = begin();
  await call.beforeChange(pipe);
  await begin("run_2").beforeChange(pipe);
  expect(await call.end()).toEqual([
    "what pipe held is not kept and cannot be undone: pipe is not a regular file",
  ]);
  expect(await booked()).toMatchObject([{ path: "pipe", note: "not kept: pipe is not a regular file" }]);
});

test("a secret in the name of a file does not reach the record, from a tool or from a command", async () => {
  const call = begin();
  await call.beforeChange(join(project, "hunter2.txt"));
  await call.aroundChanges(async () => writeFileSync(join(project, "made-hunter2.txt"), "x"));
  expect(await call.end()).toEqual([
    "what [secret].txt held is not kept and cannot be undone: its name holds a secret",
    "what this command changed is not kept and cannot be undone: the name of a file holds a secret",
  ]);
  expect(JSON.stringify(await booked())).not.toContain("hunter2");
});

test("of a command that changed very many files all are booked, and the first 500 are listed in the result", async () => {
  const call = begin();
  await call.aroundChanges(async () => {
    for (let index = 0; index < 502; index++) writeFileSync(join(project, `${index}.txt`), `${index}`);
  });
  await call.end();
  expect(changed).toHaveLength(500);
  expect(await booked()).toHaveLength(502);
});

test("without git what a command changed is not kept, and that is said", async () => {
  const { PATH } = process.env;
  process.env.PATH = "/nowhere";
  try {
    const call = begin();
    await call.aroundChanges(async () => writeFileSync(join(project, "a.txt"), "made"));
    expect(await call.end()).toEqual([
      "what this command changed is not kept and cannot be undone: git is not on the PATH",
    ]);
  } finally {
    process.env.PATH = PATH;
  }
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("made");
});

test("a call is busy while a command of it is under way, also if that fails", async () => {
  const call = begin();
  const failing = call.aroundChanges(async () => {
    expect(call.busy).toBe(true);
    throw new Error("the command failed");
  });
  await expect(failing).rejects.toThrow("the command failed");
  expect(call.busy).toBe(false);
});

test("of two commands that overlap, each change is booked once: what came before the second began is the first one's", async () => {
  const first = begin("run_1");
  const second = begin("run_2");
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const long = first.aroundChanges(async () => {
    writeFileSync(join(project, "early.txt"), "by the first");
    begun.resolve();
    await over.promise;
    writeFileSync(join(project, "late.txt"), "by the first");
  });
  await begun.promise;
  await second.aroundChanges(async () => writeFileSync(join(project, "middle.txt"), "by the second"));
  over.resolve();
  await long;
  const paths = async (runId: string) => (await booked(runId)).map(({ path }) => path);
  expect(await paths("run_1")).toEqual(["early.txt", "late.txt"]);
  expect(await paths("run_2")).toEqual(["middle.txt"]);
});

test("what a person changes between two commands is nobody's", async () => {
  await begin("run_1").aroundChanges(async () => writeFileSync(join(project, "a.txt"), "1"));
  writeFileSync(join(project, "mine.txt"), "a person's");
  await begin("run_2").aroundChanges(async () => writeFileSync(join(project, "b.txt"), "2"));
  const all = [...(await booked("run_1")), ...(await booked("run_2"))];
  expect(all.map(({ path, runId }) => `${path} ${runId}`)).toEqual(["a.txt run_1", "b.txt run_2"]);
});
