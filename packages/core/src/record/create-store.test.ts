import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { MessageClosing, MessageOpening } from "../schema/record.ts";
import { createStore, type Store } from "./create-store.ts";
import { openDatabase } from "./file/open-database.ts";
import { STORE_MIGRATIONS } from "./file/store-migrations.ts";
import type { StoreNotice } from "./writer.ts";

const SEED_COLUMNS =
  `id session_id parent_message_id started_at completed_at duration_ms agent_role agent_depth model_id
  system_prompt_id request_type request_content context_mode context_token_count response_content response_summary
  tool_calls_json files_modified_json prompt_tokens completion_tokens total_tokens iteration_count max_iterations
  max_duration_ms bailout_reason status error_message metadata_json`.split(/\s+/);

let folder: string;
let path: string;
let store: Store;
let notices: StoreNotice[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-store-"));
  path = join(folder, "retinue.sqlite");
  notices = [];
  store = reopen();
});

afterEach(async () => {
  await store.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

function reopen(): Store {
  return createStore({ path, now: () => 5_000, onNotice: (notice) => notices.push(notice) });
}

function begin(sessionId = "ses_1", title = "A title"): string {
  store.startSession({ sessionId, title, project: "/project", workspace: "/workspace" });
  return sessionId;
}

function opening(
  sessionId: string,
  parentId: number | null,
  more: Partial<MessageOpening> = {},
): MessageOpening {
  return {
    sessionId,
    parentId,
    runId: "run_1",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1_000,
    ...more,
  };
}

function closing(more: Partial<MessageClosing> = {}): MessageClosing {
  return { status: "completed", completedAtMs: 2_000, durationMs: 1_000, ...more };
}

test("the table has every column, default, foreign key and index that was asked for", async () => {
  using db = new DatabaseSync(path);
  const columns = db.prepare("PRAGMA table_info(messages)").all();
  expect(columns.map((column) => column.name).slice(0, SEED_COLUMNS.length)).toEqual(SEED_COLUMNS);
  const defaults = columns
    .filter((column) => column.dflt_value !== null)
    .map((column) => [column.name, column.dflt_value]);
  expect(defaults).toEqual(
    expect.arrayContaining([
      ["agent_depth", "0"],
      ["iteration_count", "0"],
      ["status", "'pending'"],
    ]),
  );
  const keys = db.prepare("PRAGMA foreign_key_list(messages)").all();
  expect(keys.map((key) => `${key.from}>${key.table}.${key.to}`).sort()).toEqual([
    "parent_message_id>messages.id",
    "session_id>sessions.session_id",
  ]);
  const indexes = db
    .prepare("PRAGMA index_list(messages)")
    .all()
    .map((index) => String(index.name));
  for (const name of ["session", "parent", "role", "depth", "started", "status"])
    expect(indexes).toContain(`idx_messages_${name}`);
});

test("a row written as the seed describes it needs none of the added columns", async () => {
  begin();
  await store.committed();
  using db = new DatabaseSync(path);
  db.exec("INSERT INTO messages (session_id, started_at) VALUES ('ses_1', '2026-01-01T00:00:00.000Z')");
  const [row] = store.messages("ses_1");
  expect(row).toMatchObject({
    agent_depth: 0,
    iteration_count: 0,
    status: "pending",
    run_id: "",
    opened_seq: 0,
  });
});

test("everything an opening and a closing say comes back", async () => {
  const session = begin();
  const promptId = store.savePrompt("You are main.");
  const id = store.open(
    opening(session, null, {
      modelId: "a/b",
      systemPromptId: promptId,
      requestContent: "Do it",
      contextMode: "summary",
      contextTokenCount: 5,
      maxIterations: 20,
      maxDurationMs: 300_000,
      replay: "lookup",
      callId: "call_1",
      metadata: { a: 1, b: 2 },
    }),
  );
  await store.committed();
  expect(store.message(id)).toMatchObject({
    status: "running",
    closed_seq: null,
    completed_at: null,
    metadata_json: '{"a":1,"b":2}',
  });
  store.close(
    id,
    session,
    closing({
      responseContent: "Done",
      responseSummary: "ok",
      toolCalls: [{ tool: "read" }],
      filesModified: ["a.ts"],
      promptTokens: 1,
      completionTokens: 2,
      totalTokens: 3,
      iterationCount: 4,
      bailoutReason: "deadline",
      errorMessage: "late",
      costUsd: 0.25,
      contextTokenCount: 6,
      metadata: { b: 3, c: null },
    }),
  );
  await store.committed();
  expect(store.message(id)).toEqual({
    id,
    session_id: session,
    parent_message_id: null,
    started_at: "1970-01-01T00:00:01.000Z",
    completed_at: "1970-01-01T00:00:02.000Z",
    duration_ms: 1000,
    agent_role: "main",
    agent_depth: 0,
    model_id: "a/b",
    system_prompt_id: promptId,
    request_type: "prompt",
    request_content: "Do it",
    context_mode: "summary",
    context_token_count: 6,
    response_content: "Done",
    response_summary: "ok",
    tool_calls_json: '[{"tool":"read"}]',
    files_modified_json: '["a.ts"]',
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    iteration_count: 4,
    max_iterations: 20,
    max_duration_ms: 300_000,
    bailout_reason: "deadline",
    status: "completed",
    error_message: "late",
    metadata_json: '{"a":1,"b":3,"c":null}',
    run_id: "run_1",
    call_id: "call_1",
    opened_seq: 1,
    closed_seq: 2,
    cost_usd: 0.25,
    replay: "lookup",
  });
  expect(store.prompt(promptId)).toBe("You are main.");
});

test("a row that opens and closes in one tick equals one that closes later", async () => {
  const session = begin();
  const end = closing({ responseContent: "x", modelId: "other", metadata: { b: 1 } });
  const atOnce = store.open(opening(session, null, { modelId: "first", metadata: { a: 1 } }));
  store.close(atOnce, session, end);
  const later = store.open(opening(session, null, { modelId: "first", metadata: { a: 1 } }));
  await store.committed();
  store.close(later, session, end);
  await store.committed();
  const [first, second] = store.messages(session);
  expect({ ...first, id: 0, opened_seq: 0, closed_seq: 0 }).toEqual({
    ...second,
    id: 0,
    opened_seq: 0,
    closed_seq: 0,
  });
  expect([first?.opened_seq, first?.closed_seq, second?.opened_seq, second?.closed_seq]).toEqual([
    1, 2, 3, 4,
  ]);
});

test("listeners are called in order, only once their row is on disk", async () => {
  const session = begin();
  const heard: string[] = [];
  using other = new DatabaseSync(path);
  const seen = other.prepare("SELECT count(*) AS n FROM messages");
  let parent: number | null = null;
  for (let index = 0; index < 450; index++) {
    const id: number = store.open(opening(session, parent), (seq) =>
      heard.push(`${seq}:${Number(seen.get()?.n) > index}`),
    );
    if (index % 3 === 0) store.close(id, session, closing(), (seq) => heard.push(`${seq}:true`));
    parent ??= id;
  }
  expect(heard).toEqual([]);
  await store.committed();
  expect(heard).toEqual(Array.from({ length: 600 }, (_, index) => `${index + 1}:true`));
});

test("a listener that throws is reported and stops nothing", async () => {
  const session = begin();
  store.open(opening(session, null), () => {
    throw new Error("listener broke");
  });
  store.open(opening(session, null));
  await store.committed();
  expect(notices.map((notice) => notice.message).join()).toContain("listener broke");
  expect(store.messages(session)).toHaveLength(2);
});

test("seqs go on where they were after a restart, and open rows can be closed", async () => {
  const session = begin();
  const id = store.open(opening(session, null, { metadata: { a: 1 } }));
  await store.shutdown();
  store = reopen();
  store.close(id, session, closing({ metadata: { b: 2 } }));
  store.open(opening(session, id));
  await store.committed();
  expect(store.changesAfter(session, 0).map(({ seq, kind }) => `${seq} ${kind}`)).toEqual([
    "1 opened",
    "2 closed",
    "3 opened",
  ]);
  expect(store.message(id)?.metadata_json).toBe('{"a":1,"b":2}');
});

test("changes can be read in pages without gap or repetition", async () => {
  const session = begin();
  const ids = Array.from({ length: 12 }, () => store.open(opening(session, null)));
  for (const id of ids.reverse()) store.close(id, session, closing());
  await store.committed();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), (limit) => {
      const seqs: number[] = [];
      for (
        let page = store.changesAfter(session, 0, limit);
        page.length > 0;
        page = store.changesAfter(session, seqs.at(-1) ?? 0, limit)
      ) {
        seqs.push(...page.map((change) => change.seq));
      }
      expect(seqs).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
    }),
  );
});

test("the first outcome of a row stays; a late one is reported", async () => {
  const session = begin();
  const id = store.open(opening(session, null));
  store.close(id, session, closing({ status: "cancelled" }));
  store.close(id, session, closing({ status: "completed" }));
  await store.committed();
  store.fail(id, session, new Error("even later"));
  await store.committed();
  expect(store.message(id)?.status).toBe("cancelled");
  expect(notices.map((notice) => notice.level)).toEqual(["warning", "warning"]);
});

test("a failure closes its row with message and duration", async () => {
  const session = begin();
  const id = store.open(opening(session, null));
  store.fail(id, session, new Error("boom"));
  await store.committed();
  expect(store.message(id)).toMatchObject({
    status: "failed",
    error_message: "boom",
    duration_ms: 4_000,
    closed_seq: 2,
  });
});

test("a row for an unknown session, an unknown row or the wrong session is refused at once", () => {
  const session = begin();
  begin("ses_2");
  const id = store.open(opening(session, null));
  expect(() => store.open(opening("ses_none", null))).toThrow("no session 'ses_none'");
  expect(() => store.close(99_999, session, closing())).toThrow("no row 99999");
  expect(() => store.close(id, "ses_2", closing())).toThrow("belongs to session 'ses_1'");
});

test("a row that can never be written is named, and the rows around it are kept", async () => {
  const session = begin();
  const before = store.open(opening(session, null));
  store.open(opening(session, 123_456));
  const after = store.open(opening(session, before));
  await expect(store.committed()).rejects.toThrow("cannot write open of row");
  await store.committed();
  expect(store.messages(session).map((row) => row.id)).toEqual([before, after]);
  expect(notices.map((notice) => notice.level)).toEqual(["error"]);
});

test("processes that share a database never share an id", async () => {
  const other = reopen();
  const session = begin();
  await store.committed();
  other.startSession({ sessionId: "ses_other", title: "", project: "", workspace: "" });
  using plain = new DatabaseSync(path);
  const foreign = plain.prepare("INSERT INTO messages (session_id, started_at) VALUES ('ses_1', '')");
  for (let index = 0; index < 1_500; index++) {
    store.open(opening(session, null));
    other.open(opening("ses_other", null));
    if (index % 500 === 250) {
      foreign.run();
      await store.committed();
    }
  }
  await Promise.all([store.committed(), other.committed()]);
  expect(notices).toEqual([]);
  expect(store.messages(session)).toHaveLength(1_503);
  expect(store.messages("ses_other")).toHaveLength(1_500);
  await other.shutdown();
});

test("a damaged parent link makes a root, never a lost row or a cycle", async () => {
  const session = begin();
  const first = store.open(opening(session, null));
  const second = store.open(opening(session, first));
  await store.committed();
  using db = new DatabaseSync(path);
  db.prepare("UPDATE messages SET parent_message_id = ? WHERE id = ?").run(second, first);
  expect(store.tree(session)).toMatchObject([{ id: first, children: [{ id: second, children: [] }] }]);
});

test("after shutdown nothing is accepted any more", async () => {
  const session = begin();
  await store.shutdown();
  expect(() => store.open(opening(session, null))).toThrow("already closed");
  expect(() => store.sessions()).toThrow(path);
});

test("sessions are listed by the order of their changes, even if the clock jumps back by hours", async () => {
  let nowMs = Date.UTC(2030, 0, 2);
  const store = createStore({ path: ":memory:", now: () => nowMs });
  for (const sessionId of ["ses_a", "ses_b", "ses_c"]) {
    store.startSession({ sessionId, title: "", project: sessionId === "ses_c" ? "/q" : "/p", workspace: "" });
    nowMs -= 3 * 3_600_000;
  }
  const ids = (query = {}) => store.sessions(query).map((row) => row.session_id);
  await store.committed();
  expect(ids()).toEqual(["ses_c", "ses_b", "ses_a"]);
  store.endSession("ses_a", "completed");
  await store.committed();
  expect(ids()).toEqual(["ses_a", "ses_c", "ses_b"]);
  expect(ids({ project: "/p", limit: 1 })).toEqual(["ses_a"]);
  expect(ids({ status: "running", limit: -1 })).toEqual(["ses_c", "ses_b"]);
  expect(store.searchSessions({ limit: -1 }).sessions.map((row) => row.session_id)).toEqual(ids());
  await store.shutdown();
});

test("an older record gets its order from the times it has", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-order-"));
  const path = join(folder, "retinue.db");
  const { db, close } = openDatabase(
    path,
    STORE_MIGRATIONS.filter(({ version }) => version < 10),
  );
  const insert = db.prepare("INSERT INTO sessions (session_id, created_at, updated_at) VALUES (?, ?, ?)");
  for (const [id, at] of [
    ["ses_new", "2030-02"],
    ["ses_old", "2030-01"],
  ])
    insert.run(String(id), String(at), String(at));
  close();
  const store = createStore({ path });
  expect(store.sessions().map((row) => row.session_id)).toEqual(["ses_new", "ses_old"]);
  await store.shutdown();
  rmSync(folder, { recursive: true });
});

test("texts of an older record that no row names are removed, and the others go with their last session", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-texts-"));
  const path = join(folder, "retinue.db");
  const { db, close } = openDatabase(
    path,
    STORE_MIGRATIONS.filter(({ version }) => version < 12),
  );
  for (const id of ["system", "shared", "snapshot", "history", "nobody"])
    db.prepare("INSERT INTO prompts VALUES (?1, ?1)").run(id);
  const insert = db.prepare(
    "INSERT INTO messages (session_id, started_at, system_prompt_id, metadata_json) VALUES (?, '', ?, ?)",
  );
  for (const session of ["ses_a", "ses_b"])
    db.prepare(
      "INSERT INTO sessions (session_id, created_at, updated_at, status) VALUES (?, '', '', 'completed')",
    ).run(session);
  insert.run("ses_a", "system", '{"snapshot":"snapshot"}');
  insert.run("ses_a", "shared", '{"history":"history"}');
  insert.run("ses_b", "shared", "no JSON");
  insert.run("ses_b", null, null);
  close();
  const store = createStore({ path });
  const texts = () => ["system", "shared", "snapshot", "history", "nobody"].filter((id) => store.prompt(id));
  expect(texts()).toEqual(["system", "shared", "snapshot", "history"]);
  expect(store.deleteSession("ses_a")).toBe(true);
  expect(texts()).toEqual(["shared"]);
  expect(store.deleteSession("ses_b")).toBe(true);
  expect(texts()).toEqual([]);
  await store.shutdown();
  rmSync(folder, { recursive: true });
});

test("plans, answers and copies of an older record get their order from the times they have", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-order-"));
  const path = join(folder, "retinue.db");
  const { db, close } = openDatabase(
    path,
    STORE_MIGRATIONS.filter(({ version }) => version < 11),
  );
  for (const [id, at] of [
    ["new", 2],
    ["old", 1],
  ] as const) {
    const plan = JSON.stringify({ id: `pln_${id}`, project: `/${id}` });
    db.prepare("INSERT INTO plans VALUES (?, 1, 'draft', ?, 1, ?)").run(`pln_${id}`, `2030-0${at}`, plan);
    db.prepare(`INSERT INTO approvals (approval_id, session_id, run_id, call_id, tool, input_hash, request_json,
      requested_at, allowed, answered_by, answered_at) VALUES (?1, 's', 'r', ?1, 't', 'h', '{}', 1, 1, 'me', ?2)`).run(
      `apr_${id}`,
      at,
    );
    db.prepare(
      `INSERT INTO worktrees VALUES (?, 's', 'a', '/c', '/p', 'kept', null, null, null, '[]', 0, ?)`,
    ).run(`run_${id}`, at);
  }
  db.exec("INSERT INTO plans VALUES ('pln_odd', 1, 'draft', '2030-03', 99, 'no JSON')");
  close();
  const store = createStore({ path });
  expect(store.plans({ project: "/old" })).toMatchObject([{ id: "pln_old" }]);
  expect(() => store.plans()).toThrow("newer version");
  expect(store.answeredApprovals().map(({ approvalId }) => approvalId)).toEqual(["apr_new", "apr_old"]);
  expect(store.liveWorktrees().map(({ runId }) => runId)).toEqual(["run_old", "run_new"]);
  await store.shutdown();
  using moved = new DatabaseSync(path);
  expect(moved.prepare("SELECT plan_id FROM plans ORDER BY changed").all()).toEqual([
    { plan_id: "pln_old" },
    { plan_id: "pln_new" },
    { plan_id: "pln_odd" },
  ]);
  rmSync(folder, { recursive: true });
});

test("no number of a deleted session is given again: not to sessions, questions or answers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-numbers-"));
  const path = join(folder, "retinue.db");
  const store = createStore({ path });
  const numbers = async (id: string) => {
    const sessionId = `ses_${id}`;
    store.startSession({ sessionId, title: "t", project: "/p", workspace: "/w" });
    store.addApproval({
      ...{ approvalId: `apr_${id}`, sessionId, runId: `run_${id}`, callId: "c", inputHash: "h" },
      ...{ tool: "write", request: { tool: "write", input: {} }, requestedAtMs: 1 },
    });
    store.answerApproval(`apr_${id}`, { allowed: true, by: "me", atMs: 2 });
    store.updateSession(sessionId, { status: "completed" });
    await store.written();
    using db = new DatabaseSync(path);
    const [first] = db
      .prepare(`SELECT sessions.changed, position, answer_position FROM sessions JOIN approvals USING (session_id)
        WHERE session_id = ?`)
      .all(sessionId);
    return { ...first };
  };
  const before = await numbers("a");
  expect(store.deleteSession("ses_a")).toBe(true);
  expect(store.lastChange()).toBe(before.changed);
  const after = await numbers("b");
  for (const name of ["changed", "position", "answer_position"])
    expect(Number(after[name])).toBeGreaterThan(Number(before[name]));
  await store.shutdown();
  rmSync(folder, { recursive: true });
});

test("what an older version kept of the changes of deleted sessions goes, and their numbers stay used", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-spared-"));
  const path = join(folder, "retinue.db");
  const { db, close } = openDatabase(
    path,
    STORE_MIGRATIONS.filter(({ version }) => version < 14),
  );
  db.exec(`INSERT INTO file_changes (change_id, session_id, run_id, root, path, source, outcome_known, opened_at,
    before_hash, before_mode, closed_seq, position) VALUES ('chg_1', 'ses_gone', 'run_1', '/p', 'a', 'tool', 1, '2030', 'aa', 420, 7, 7)`);
  close();
  const store = createStore({ path });
  expect([store.changesOf(["run_1"]), store.neededContents().size, store.lastClosedSeq()]).toEqual([
    [],
    0,
    7,
  ]);
  await store.shutdown();
  rmSync(folder, { recursive: true });
});
