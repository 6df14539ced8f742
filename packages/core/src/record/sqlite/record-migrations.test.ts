import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteRecord } from "./create-sqlite-record.ts";
import { openDatabase } from "./open-database.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";

const SEED_COLUMNS =
  `id session_id parent_message_id started_at completed_at duration_ms agent_role agent_depth model_id
  system_prompt_id request_type request_content context_mode context_token_count response_content response_summary
  tool_calls_json files_modified_json prompt_tokens completion_tokens total_tokens iteration_count max_iterations
  max_duration_ms bailout_reason status error_message metadata_json`.split(/\s+/);

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-migrations-"));
  path = join(folder, "retinue.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the table has every column, default, foreign key and index that was asked for", async () => {
  await createSqliteRecord({ path }).close();
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

test("an older record gets its order from the times it has", async () => {
  const { db, close } = openDatabase(
    path,
    RECORD_MIGRATIONS.filter(({ version }) => version < 10),
  );
  const insert = db.prepare("INSERT INTO sessions (session_id, created_at, updated_at) VALUES (?, ?, ?)");
  for (const [id, at] of [
    ["ses_new", "2030-02"],
    ["ses_old", "2030-01"],
  ])
    insert.run(String(id), String(at), String(at));
  close();
  const record = createSqliteRecord({ path });
  const { sessions } = await record.listSessions();
  expect(sessions.map((row) => row.session_id)).toEqual(["ses_new", "ses_old"]);
  await record.close();
});

test("texts of an older record that no row names are removed, and the others go with their last session", async () => {
  const { db, close } = openDatabase(
    path,
    RECORD_MIGRATIONS.filter(({ version }) => version < 12),
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
  const record = createSqliteRecord({ path });
  const texts = async () => {
    const kept: string[] = [];
    for (const id of ["system", "shared", "snapshot", "history", "nobody"])
      if ((await record.readText(id)) !== undefined) kept.push(id);
    return kept;
  };
  expect(await texts()).toEqual(["system", "shared", "snapshot", "history"]);
  expect(await record.deleteSession("ses_a")).toBe(true);
  expect(await texts()).toEqual(["shared"]);
  expect(await record.deleteSession("ses_b")).toBe(true);
  expect(await texts()).toEqual([]);
  await record.close();
});

test("plans, answers and copies of an older record get their order from the times they have", async () => {
  const { db, close } = openDatabase(
    path,
    RECORD_MIGRATIONS.filter(({ version }) => version < 11),
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
  const record = createSqliteRecord({ path });
  expect((await record.listPlans({ project: "/old" })).plans).toMatchObject([{ id: "pln_old" }]);
  await expect(record.listPlans()).rejects.toThrow("newer version");
  const answered = await record.listApprovals({ state: "answered" });
  expect(answered.map(({ approvalId }) => approvalId)).toEqual(["apr_new", "apr_old"]);
  expect((await record.listWorktrees()).map(({ runId }) => runId)).toEqual(["run_old", "run_new"]);
  await record.close();
  using moved = new DatabaseSync(path);
  expect(moved.prepare("SELECT plan_id FROM plans ORDER BY changed").all()).toEqual([
    { plan_id: "pln_old" },
    { plan_id: "pln_new" },
    { plan_id: "pln_odd" },
  ]);
});

test("what an older version kept of the changes of deleted sessions goes, and their numbers stay used", async () => {
  const { db, close } = openDatabase(
    path,
    RECORD_MIGRATIONS.filter(({ version }) => version < 14),
  );
  db.exec(`INSERT INTO file_changes (change_id, session_id, run_id, root, path, source, outcome_known, opened_at,
    before_hash, before_mode, closed_seq, position) VALUES ('chg_1', 'ses_gone', 'run_1', '/p', 'a', 'tool', 1, '2030', 'aa', 420, 7, 7)`);
  close();
  const record = createSqliteRecord({ path });
  expect(await record.listChanges({ ids: ["run_1"] })).toEqual([]);
  expect((await record.listContents()).size).toBe(0);
  expect(await record.readLastChange()).toBe(7);
  await record.close();
});
test("a record of a version without untrusted files opens, and keeps them from then on", async () => {
  const first = RECORD_MIGRATIONS.findIndex((one) => JSON.stringify(one).includes("untrusted_files"));
  openDatabase(path, RECORD_MIGRATIONS.slice(0, first)).close();
  const record = createSqliteRecord({ path });
  expect(await record.hasUntrusted()).toBe(false);
  const note = { root: "/project", sessionId: "ses_1", runId: "run_1", path: "notes.txt", hash: "aa" };
  await record.noteUntrusted({ ...note, size: 3 });
  await record.close();
  const again = createSqliteRecord({ path });
  expect(await again.listUntrusted()).toMatchObject([note]);
  await again.close();
});
