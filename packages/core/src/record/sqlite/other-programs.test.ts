import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { closeRow, makeOpening, openRow } from "../contract/contract-stage.ts";
import type { Record } from "../record.ts";
import { createSqliteRecord } from "./create-sqlite-record.ts";

let folder: string;
let path: string;
let record: Record;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "retinue-others-"));
  path = join(folder, "retinue.sqlite");
  record = createSqliteRecord({ path, onNotice: (notice) => expect.fail(notice.message) });
  await record.startSession({ sessionId: "ses_1", title: "", project: "", workspace: "" });
});
afterEach(async () => {
  await record.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a row that another program writes needs only a session and a time", async () => {
  using db = new DatabaseSync(path);
  db.exec("INSERT INTO messages (session_id, started_at) VALUES ('ses_1', '2026-01-01T00:00:00.000Z')");
  expect(await record.readRows({ sessionId: "ses_1" })).toMatchObject([
    { agent_depth: 0, iteration_count: 0, status: "pending", run_id: "", opened_seq: 0 },
  ]);
});

test("rows that other programs insert without an id never meet reserved ids", async () => {
  using db = new DatabaseSync(path);
  const insert = db.prepare(
    "INSERT INTO messages (session_id, started_at) VALUES ('ses_1', '') RETURNING id",
  );
  const ids = new Set<number>();
  const add = (id: number) => {
    expect(ids.has(id)).toBe(false);
    ids.add(id);
  };
  for (const count of [10, 1, 1_000]) {
    const first = await record.reserveRowIds(count);
    for (let id = first; id < first + count; id++) add(id);
    add(Number(insert.get()?.id));
  }
  db.exec("DELETE FROM sqlite_sequence WHERE name = 'messages'");
  const first = await record.reserveRowIds(5);
  for (let id = first; id < first + 5; id++) if (id > Math.max(...ids)) add(id);
  add(Number(insert.get()?.id));
  await record.write({ kind: "row.open", id: first, row: makeOpening() });
});

test("rows with odd names, metadata and numbers are counted and break nothing", async () => {
  const id = await openRow(record, { agentRole: "lone \ud800", modelId: "__proto__" });
  await closeRow(record, id, { bailoutReason: "__proto__" });
  using db = new DatabaseSync(path);
  const insert = db.prepare(
    `INSERT INTO messages (session_id, started_at, completed_at, request_type, status, duration_ms, metadata_json)
      VALUES ('ses_1', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z', 'prompt', ?, ?, ?)`,
  );
  insert.run("completed", 2n ** 62n, "{ not json");
  insert.run("completed", null, '"text"');
  insert.run("exploded", 1, '{"attempt": 99999999999999999999, "result": []}');
  insert.run(null, null, null);
  const { groups, total } = await record.readStats();
  expect(groups.map(({ role, model, runs }) => [role, model, runs])).toEqual([
    [null, null, 4],
    ["lone \ud800", "__proto__", 1],
  ]);
  expect(Object.entries(total.bailouts)).toEqual([["__proto__", 1]]);
  expect(total).toMatchObject({ successes: 3, open: 1, failures: { exploded: 1 }, retries: 1, costUsd: 0 });
  expect((await record.readStats({ agent: "lone \ud800" })).total.runs).toBe(1);
});

test("a call of another program whose metadata is no JSON has no name", async () => {
  using db = new DatabaseSync(path);
  db.exec(`INSERT INTO messages (session_id, started_at, request_type, opened_seq, metadata_json)
    VALUES ('ses_1', '', 'tool_call', 1, '{ not json'), ('ses_1', '', 'tool_call', 2, '{}')`);
  const moments = await record.readMoments({ sessionId: "ses_1" });
  expect(moments.map(({ tool }) => tool)).toEqual(["?", "?"]);
});
