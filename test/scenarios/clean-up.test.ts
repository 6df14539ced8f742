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
import { createBlobStore } from "@retinue/core/record/checkpoints/blob-store";
import { createStore } from "@retinue/core/record/create-store";
import { cleanUp, compactRecord, planCleanUp } from "@retinue/core/session/clean-up";
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

async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise((resolve) => setImmediate(resolve));
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
  const store = createStore({ path: database() });
  const parts = { store, dataDir: dataDir() };
  const plan = await planCleanUp(parts, [store.findSession(first)]);
  expect(plan).toMatchObject({ removable: [{ session: { session_id: first } }], kept: [] });
  expect(plan.bytes).toBeGreaterThan(200);
  const report = await cleanUp(parts, [first]);
  expect(report).toMatchObject({ sessions: 1, contents: 1 });
  expect(compactRecord(parts)).toBeNull();
  expect([store.session(first), store.session(second)?.status]).toEqual([undefined, "completed"]);
  expect(existsSync(join(dataDir(), "sessions", first))).toBe(false);
  expect(orphans()).toEqual([]);
  const blobs = createBlobStore(join(dataDir(), "blobs"));
  const { act } = await undoChanges({ store, blobs }, second, false);
  expect(readdirSync(join(root, "project"))).toEqual(["a.txt", "b.txt"]);
  await undoChanges({ store, blobs }, act ?? "", false);
  expect(readFileSync(join(root, "project", "c.txt"), "utf8")).toBe("shared");
  await store.shutdown();
});

test("of the newest session nothing is left either, and the changes of the next one have new numbers", async () => {
  const change = async (path: string) => {
    const t = open([callTool("write", { path, content: `of ${path}` }), say("done")]);
    const { session_id: sessionId, run_id: runId } = await t.runtime.run({ agent: "lead", task: "go" });
    await t.close();
    const store = createStore({ path: database() });
    const [{ closedSeq, position } = { closedSeq: 0, position: 0 }] = store.changesOf([runId]);
    return { store, sessionId, closedSeq: closedSeq ?? 0, position };
  };
  const { store, ...before } = await change("a.txt");
  age();
  const report = await cleanUp({ store, dataDir: dataDir() }, [before.sessionId]);
  expect(report).toMatchObject({ sessions: 1, contents: 1 });
  expect([orphans(), blobCount(), store.neededContents().size]).toEqual([[], 0, 0]);
  expect(store.lastClosedSeq()).toBe(before.closedSeq);
  await store.shutdown();
  const { store: later, ...after } = await change("b.txt");
  expect(after.closedSeq).toBeGreaterThan(before.closedSeq);
  expect(after.position).toBeGreaterThan(before.position);
  await later.shutdown();
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
  const store = createStore({ path: database() });
  const parts = { store, dataDir: dataDir() };
  await cleanUp(parts, []);
  expect(folders.map((folder) => existsSync(join(folder, "run_1", "result.txt")))).toEqual([true, true]);
  expect((await planCleanUp(parts, [store.findSession(id)])).bytes).toBeGreaterThan(2_000);
  for (const folder of folders) utimesSync(folder, new Date(), new Date());
  expect(await cleanUp(parts, [id])).toMatchObject({ sessions: 1, workspaces: 2, freedBytes: 2_000 });
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false]);
  await store.shutdown();
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
  const { store } = t.runtime;
  const first = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  const second = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  await store.committed();
  expect(JSON.stringify(keptTexts().texts)).toContain("WHAT WAS SAID");
  await until(() => store.whyKept(first) === null && store.whyKept(second) === null);
  await cleanUp({ store, dataDir: dataDir() }, [first]);
  const named = store.messages(second).flatMap(({ system_prompt_id: system, metadata_json: metadata }) => {
    const { snapshot, history } = JSON.parse(metadata ?? "{}");
    return [system, snapshot, history].filter((id) => typeof id === "string");
  });
  expect(named.length).toBeGreaterThanOrEqual(3);
  for (const id of named) expect(store.prompt(id)).toBeTypeOf("string");
  await cleanUp({ store, dataDir: dataDir() }, [second]);
  expect(keptTexts()).toEqual({ texts: [], uses: 0 });
  // This process remembers them as saved, and saves them again with the next run.
  const third = (await t.runtime.run({ agent: "lead", task: "go" })).session_id;
  expect(await t.runtime.replay(third)).toBeDefined();
  await t.close();
});

test("a text that another process removes before the row is written that names it is there with that row", async () => {
  const ours = createStore({ path: database() });
  const theirs = createStore({ path: database() });
  const use = (store: typeof ours, sessionId: string) => {
    const systemPromptId = store.savePrompt("You are lead.");
    return () =>
      store.open({
        ...{ sessionId, parentId: null, runId: `run_${sessionId}`, type: "prompt", agentRole: "x", depth: 0 },
        ...{ startedAtMs: 0, systemPromptId },
      });
  };
  const begin = (store: typeof ours, sessionId: string, status: "completed" | "running") =>
    store.startSession({ sessionId, title: "", project: "/p", workspace: "", status });
  begin(theirs, "ses_theirs", "completed");
  use(theirs, "ses_theirs")();
  await theirs.committed();
  begin(ours, "ses_ours", "running");
  const open = use(ours, "ses_ours");
  await ours.committed();
  expect(theirs.deleteSession("ses_theirs")).toBe(true);
  expect(keptTexts()).toEqual({ texts: [], uses: 0 });
  open();
  await ours.committed();
  expect(keptTexts()).toEqual({ texts: ["You are lead."], uses: 1 });
  await Promise.all([ours.shutdown(), theirs.shutdown()]);
});

test("a session that runs, waits or has changes to merge stays, and its files with it", async () => {
  const t = open(() => hang());
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  await t.runtime.store.committed();
  const store = createStore({ path: database() });
  const parts = { store, dataDir: dataDir() };
  age();
  expect(store.deleteSession(sessionId)).toBe(false);
  expect((await planCleanUp(parts, [store.findSession(sessionId)])).kept).toEqual([
    { sessionId, why: "it has not ended" },
  ]);
  await cleanUp(parts, [sessionId]);
  expect(existsSync(join(dataDir(), "sessions", sessionId))).toBe(true);
  store.startSession({
    sessionId: "ses_merge",
    title: "",
    project: "/p",
    workspace: "",
    status: "completed",
  });
  store.saveWorktree({
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
  });
  await store.committed();
  expect(store.whyKept("ses_merge")).toBe("changes of it wait to be merged");
  expect(store.endedBefore(Date.now() + 1_000).map((row) => row.session_id)).toEqual(["ses_merge"]);
  await store.shutdown();
  await t.close();
});

test("an empty workspace is removed, and made again when its session goes on", async () => {
  const t = open([say("one")]);
  const { session_id: id } = await t.runtime.run({ agent: "lead", task: "go" });
  await t.close();
  const store = createStore({ path: database() });
  await cleanUp({ store, dataDir: dataDir() }, []);
  expect(existsSync(join(dataDir(), "sessions", id))).toBe(false);
  await store.shutdown();
  const again = open([say("two")]);
  const { result } = await again.runtime.start({ agent: "lead", task: "more", session: id });
  expect((await result).status).toBe("completed");
  expect(existsSync(join(dataDir(), "sessions", id))).toBe(true);
  await again.close();
});

const CLEANER = `
import { createStore } from ${JSON.stringify(new URL("../../packages/core/src/record/create-store.ts", import.meta.url).href)};
import { cleanUp } from ${JSON.stringify(new URL("../../packages/core/src/session/clean-up.ts", import.meta.url).href)};
const [path, dataDir] = process.argv.slice(1);
const store = createStore({ path });
const ids = store.sessions({ limit: -1 }).map((row) => row.session_id);
const { deleteSession } = store;
let count = 0;
const slow = { ...store, deleteSession(id) { const gone = deleteSession(id); if (++count % 10 === 0) console.log(count); return gone; } };
await cleanUp({ store: slow, dataDir }, ids);
console.log("done");
`;

test("a kill in the middle leaves a sound record, and the next call finishes what was begun", async () => {
  const count = 120;
  const store = createStore({ path: database() });
  for (let index = 0; index < count; index++) {
    const sessionId = `ses_${index}`;
    store.startSession({ sessionId, title: "", project: "/p", workspace: "", status: "completed" });
    for (let row = 0; row < 20; row++)
      store.open({
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
  await store.committed();
  await store.shutdown();
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
  const after = createStore({ path: database() });
  const left = after.sessions({ limit: -1 }).map((row) => row.session_id);
  expect(left.length).toBeLessThan(count);
  for (const id of left) expect(after.messages(id)).toHaveLength(20);
  age();
  await cleanUp({ store: after, dataDir: dataDir() }, left);
  expect(after.sessions({ limit: -1 })).toEqual([]);
  expect(readdirSync(join(dataDir(), "sessions"))).toEqual([]);
  expect(compactRecord({ store: after, dataDir: dataDir() })).toBeNull();
  expect(after.fileSize().freeBytes).toBe(0);
  await after.shutdown();
});
