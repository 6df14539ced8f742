import { spawn } from "node:child_process";
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
import { DatabaseSync } from "node:sqlite";
import { write } from "@retinue/code/file-tools/write-tools";
import { undoChanges } from "@retinue/core/changes/undo";
import { createBlobStore } from "@retinue/core/record/blob-store";
import { createRecordJournal, recordText } from "@retinue/core/record/record-journal";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { cleanUp, compactRecord, planCleanUp } from "@retinue/core/runtime/clean-up";
import { callTool, hang, type Script, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-clean-")));
  mkdirSync(join(root, "project"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const dataDir = () => join(root, "data");
const database = () => join(dataDir(), "retinue.db");

function open(script: Script) {
  return testRuntime(
    { lead: script },
    {
      projectDir: join(root, "project"),
      dataDir: dataDir(),
      database: database(),
      tools: [write],
      lenient: true,
      permissionMode: "bypassPermissions",
    },
  );
}

/** Makes everything in the data folder look as if it were from yesterday. */
function age(): void {
  const then = new Date(Date.now() - 86_400_000);
  for (const folder of ["sessions", "blobs", "shadow"])
    if (existsSync(join(dataDir(), folder)))
      for (const name of readdirSync(join(dataDir(), folder), { recursive: true, encoding: "utf8" }))
        utimesSync(join(dataDir(), folder, name), then, then);
}

async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fits())) await new Promise((resolve) => setImmediate(resolve));
}

const blobCount = () =>
  readdirSync(join(dataDir(), "blobs"), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  ).length;

const ABOUT_SESSIONS = [
  "messages",
  "approvals",
  "leases",
  "worktrees",
  "stop_requests",
  "prompt_uses",
  "file_changes",
];

/** Tables with rows that belong to no session of the record. */
function orphans(): string[] {
  using db = new DatabaseSync(database());
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  return ABOUT_SESSIONS.filter(
    (table) =>
      db
        .prepare(`SELECT 1 FROM ${table} WHERE session_id NOT IN (SELECT session_id FROM sessions) LIMIT 1`)
        .get() !== undefined,
  );
}

test("what a removed session alone needed goes, and another that shares contents with it can still be undone", async () => {
  const run = async (files: Record<string, string>) => {
    const calls = Object.entries(files).map(([path, content]) => callTool("write", { path, content }));
    const t = open([...calls, say("done")]);
    const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
    await t.close();
    return session_id;
  };
  const first = await run({ "a.txt": "only in the first", "b.txt": "shared" });
  const second = await run({ "c.txt": "shared", "d.txt": "of the second" });
  expect(blobCount()).toBe(3);
  age();
  const record = createSqliteRecord({ path: database() });
  const parts = { record, dataDir: dataDir() };
  const plan = await planCleanUp(parts, [await record.findSession(first)]);
  expect(plan).toMatchObject({ removable: [{ session: { session_id: first } }], kept: [] });
  expect(plan.bytes).toBeGreaterThan(200);
  const report = await cleanUp(parts, [first]);
  expect(report).toMatchObject({ sessions: 1, contents: 1 });
  expect(await compactRecord(parts)).toBeNull();
  expect([await record.readSession(first), (await record.readSession(second))?.status]).toEqual([
    undefined,
    "completed",
  ]);
  expect(existsSync(join(dataDir(), "sessions", first))).toBe(false);
  expect(orphans()).toEqual([]);
  const blobs = createBlobStore(join(dataDir(), "blobs"));
  const { act } = await undoChanges({ record, blobs }, second, false);
  expect(readdirSync(join(root, "project"))).toEqual(["a.txt", "b.txt"]);
  await undoChanges({ record, blobs }, act ?? "", false);
  expect(readFileSync(join(root, "project", "c.txt"), "utf8")).toBe("shared");
  await record.close();
});

test("of the newest session nothing is left either, and the changes of the next one have new numbers", async () => {
  const change = async (path: string) => {
    const t = open([callTool("write", { path, content: `of ${path}` }), say("done")]);
    const { session_id: sessionId, run_id: runId } = await t.runtime.run({ agent: "lead", task: "go" });
    await t.close();
    const record = createSqliteRecord({ path: database() });
    const [{ closedSeq, position } = { closedSeq: 0, position: 0 }] = await record.listChanges({
      ids: [runId],
    });
    return { record, sessionId, closedSeq: closedSeq ?? 0, position };
  };
  const { record, ...before } = await change("a.txt");
  age();
  const report = await cleanUp({ record, dataDir: dataDir() }, [before.sessionId]);
  expect(report).toMatchObject({ sessions: 1, contents: 1 });
  expect([orphans(), blobCount(), (await record.listContents()).size]).toEqual([[], 0, 0]);
  expect(await record.readLastChange()).toBe(before.closedSeq);
  await record.close();
  const { record: later, ...after } = await change("b.txt");
  expect(after.closedSeq).toBeGreaterThan(before.closedSeq);
  expect(after.position).toBeGreaterThan(before.position);
  await later.close();
});

test("the folders of a session and of its isolated runs stay as long as it does, and go with it however young", async () => {
  const t = open([say("done")]);
  const { session_id: id } = await t.runtime.run({ agent: "lead", task: "go" });
  await t.close();
  const folders = [join(dataDir(), "sessions", id), join(dataDir(), "sessions", `${id}-runs`)];
  for (const folder of folders) {
    mkdirSync(join(folder, "run_1"), { recursive: true });
    writeFileSync(join(folder, "run_1", "result.txt"), "x".repeat(1_000));
  }
  age();
  const record = createSqliteRecord({ path: database() });
  const parts = { record, dataDir: dataDir() };
  await cleanUp(parts, []);
  expect(folders.map((folder) => existsSync(join(folder, "run_1", "result.txt")))).toEqual([true, true]);
  expect((await planCleanUp(parts, [await record.findSession(id)])).bytes).toBeGreaterThan(2_000);
  for (const folder of folders) utimesSync(folder, new Date(), new Date());
  expect(await cleanUp(parts, [id])).toMatchObject({ sessions: 1, workspaces: 2, freedBytes: 2_000 });
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false]);
  await record.close();
});

/** The texts that are kept, and how often a session needs one. */
function keptTexts(): { texts: unknown[]; uses: number } {
  using db = new DatabaseSync(database());
  const texts = db.prepare("SELECT content FROM prompts").all();
  const uses = Number(db.prepare("SELECT count(*) AS uses FROM prompt_uses").get()?.uses);
  return { texts: texts.map(({ content }) => content), uses };
}

test("system prompts, definitions and condensed conversations go with the last session that needs them", async () => {
  const big = defineTool<object>({
    name: "big",
    description: "Much text.",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "x".repeat(5_000),
  });
  const t = testRuntime(
    {
      lead: ({ prompt, turn }) => {
        if (!prompt.includes("You are lead.")) return say("WHAT WAS SAID");
        return turn < 4 ? callTool("big", { turn }) : say("done");
      },
    },
    {
      ...{ projectDir: join(root, "project"), dataDir: dataDir(), database: database(), lenient: true },
      tools: [big],
      agents: { lead: { limits: { contextChars: 12_000 } } },
    },
  );
  const { record } = t.runtime;
  const first = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  const second = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  await record.committed();
  expect(JSON.stringify(keptTexts().texts)).toContain("WHAT WAS SAID");
  await until(async () => (await record.whyKept(first)) === null && (await record.whyKept(second)) === null);
  await cleanUp({ record, dataDir: dataDir() }, [first]);
  const named = (await record.readRows({ sessionId: second })).flatMap(
    ({ system_prompt_id: system, metadata_json: metadata }) => {
      const { snapshot, history } = JSON.parse(metadata ?? "{}");
      return [system, snapshot, history].filter((id) => typeof id === "string");
    },
  );
  expect(named.length).toBeGreaterThanOrEqual(3);
  for (const id of named) expect(await record.readText(id)).toBeTypeOf("string");
  await cleanUp({ record, dataDir: dataDir() }, [second]);
  expect(keptTexts()).toEqual({ texts: [], uses: 0 });
  // This process remembers them as saved, and saves them again with the next run.
  const third = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  expect(await t.runtime.replay(third)).toBeDefined();
  await t.close();
});

test("a text that another process removes before the row is written that names it is there with that row", async () => {
  const ours = createSqliteRecord({ path: database() });
  const theirs = createSqliteRecord({ path: database() });
  const use = async (record: typeof ours, sessionId: string) => {
    const systemPromptId = recordText(record, "You are lead.");
    const journal = await createRecordJournal(record);
    return () =>
      journal.open({
        ...{ sessionId, parentId: null, runId: `run_${sessionId}`, type: "prompt", agentRole: "x", depth: 0 },
        ...{ startedAtMs: 0, systemPromptId },
      });
  };
  const begin = (record: typeof ours, sessionId: string, status: "completed" | "running") =>
    record.startSession({ sessionId, title: "", project: "/p", workspace: "", status });
  await begin(theirs, "ses_theirs", "completed");
  (await use(theirs, "ses_theirs"))();
  await theirs.committed();
  await begin(ours, "ses_ours", "running");
  const open = await use(ours, "ses_ours");
  await ours.committed();
  expect(await theirs.deleteSession("ses_theirs")).toBe(true);
  expect(keptTexts()).toEqual({ texts: [], uses: 0 });
  open();
  await ours.committed();
  expect(keptTexts()).toEqual({ texts: ["You are lead."], uses: 1 });
  await Promise.all([ours.close(), theirs.close()]);
});

test("a session that runs, waits or has changes to merge stays, and its files with it", async () => {
  const t = open(() => hang());
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  await t.runtime.record.committed();
  const record = createSqliteRecord({ path: database() });
  const parts = { record, dataDir: dataDir() };
  age();
  expect(await record.deleteSession(sessionId)).toBe(false);
  expect((await planCleanUp(parts, [await record.findSession(sessionId)])).kept).toEqual([
    { sessionId, why: "it has not ended" },
  ]);
  await cleanUp(parts, [sessionId]);
  expect(existsSync(join(dataDir(), "sessions", sessionId))).toBe(true);
  await record.startSession({
    sessionId: "ses_merge",
    title: "",
    project: "/p",
    workspace: "",
    status: "completed",
  });
  await record.write({
    kind: "worktree.save",
    row: {
      ...{
        runId: "run_m",
        sessionId: "ses_merge",
        agent: "x",
        path: "/w",
        into: "/p",
        status: "kept",
        line: [],
      },
      ...{ baseTree: null, baseCommit: null, gitDir: null, tainted: false, createdAtMs: 0 },
    },
  });
  await record.committed();
  expect(await record.whyKept("ses_merge")).toBe("changes of it wait to be merged");
  expect(
    (await record.listSessions({ status: "ended", untilMs: Date.now() + 1_000, limit: -1 })).sessions
      .toReversed()
      .map((row) => row.session_id),
  ).toEqual(["ses_merge"]);
  await record.close();
  await t.close();
});

test("an empty workspace is removed, and made again when its session goes on", async () => {
  const t = open([say("one")]);
  const { session_id: id } = await t.runtime.run({ agent: "lead", task: "go" });
  await t.close();
  const record = createSqliteRecord({ path: database() });
  await cleanUp({ record, dataDir: dataDir() }, []);
  expect(existsSync(join(dataDir(), "sessions", id))).toBe(false);
  await record.close();
  const again = open([say("two")]);
  const { result } = await again.runtime.start({ agent: "lead", task: "more", session: id });
  expect((await result).status).toBe("completed");
  expect(existsSync(join(dataDir(), "sessions", id))).toBe(true);
  await again.close();
});

const CLEANER = `
import { createSqliteRecord } from ${JSON.stringify(new URL("../../packages/core/src/record/sqlite/create-sqlite-record.ts", import.meta.url).href)};
import { cleanUp } from ${JSON.stringify(new URL("../../packages/core/src/runtime/clean-up.ts", import.meta.url).href)};
const [path, dataDir] = process.argv.slice(1);
const record = createSqliteRecord({ path });
const ids = (await record.listSessions({ limit: -1 })).sessions.map((row) => row.session_id);
const { deleteSession } = record;
let count = 0;
const slow = { ...record, async deleteSession(id) { const gone = await deleteSession(id); if (++count % 10 === 0) console.log(count); return gone; } };
await cleanUp({ record: slow, dataDir }, ids);
console.log("done");
`;

test("a kill in the middle leaves a sound record, and the next call finishes what was begun", async () => {
  const count = 120;
  const record = createSqliteRecord({ path: database() });
  const journal = await createRecordJournal(record);
  for (let index = 0; index < count; index++) {
    const sessionId = `ses_${index}`;
    await record.startSession({ sessionId, title: "", project: "/p", workspace: "", status: "completed" });
    for (let row = 0; row < 20; row++)
      journal.open({
        ...{
          sessionId,
          parentId: null,
          runId: `run_${index}_${row}`,
          type: "prompt",
          agentRole: "x",
          depth: 0,
        },
        ...{ startedAtMs: 0, requestContent: "x".repeat(1_000) },
      });
    mkdirSync(join(dataDir(), "sessions", sessionId), { recursive: true });
    writeFileSync(join(dataDir(), "sessions", sessionId, "f"), "x");
  }
  await record.committed();
  await record.close();
  age();
  const child = spawn(
    process.execPath,
    ["--conditions=retinue-source", "--input-type=module", "--eval", CLEANER, database(), dataDir()],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (text) => String(text).includes("20") && resolve());
  });
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
  expect(orphans()).toEqual([]);
  const after = createSqliteRecord({ path: database() });
  const left = (await after.listSessions({ limit: -1 })).sessions.map((row) => row.session_id);
  expect(left.length).toBeLessThan(count);
  for (const id of left) expect(await after.readRows({ sessionId: id })).toHaveLength(20);
  age();
  await cleanUp({ record: after, dataDir: dataDir() }, left);
  expect((await after.listSessions({ limit: -1 })).sessions).toEqual([]);
  expect(readdirSync(join(dataDir(), "sessions"))).toEqual([]);
  expect(await compactRecord({ record: after, dataDir: dataDir() })).toBeNull();
  expect((await after.measure()).freeBytes).toBe(0);
  await after.close();
});
