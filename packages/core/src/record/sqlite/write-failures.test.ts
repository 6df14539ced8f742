import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RetinueError } from "../../schema/error.ts";
import type { Record, RecordNotice } from "../record.ts";
import { createSqliteRecord } from "./create-sqlite-record.ts";
import type { SqliteRecordPorts } from "./record-writer.ts";

let folder: string;
let path: string;
let notices: RecordNotice[];
/** Why the session was not started. */
let refused: unknown[];
let timers: { work: () => void; delayMs: number }[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-faults-"));
  path = join(folder, "retinue.sqlite");
  notices = [];
  timers = [];
  refused = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A record whose writing goes through `execute`, with a session that is handed over and not yet written. */
function openWith(execute: SqliteRecordPorts["execute"]): Record {
  const schedule: SqliteRecordPorts["schedule"] = (work, delayMs) => {
    const timer = { work, delayMs };
    timers.push(timer);
    return () => timers.splice(timers.indexOf(timer), 1);
  };
  const record = createSqliteRecord(
    { path, onNotice: (notice) => notices.push(notice) },
    { execute, schedule },
  );
  record
    .startSession({ sessionId: "ses_1", title: "", project: "", workspace: "" })
    .catch((thrown: unknown) => refused.push(thrown));
  return record;
}

async function addRows(record: Record, count: number, size = 10): Promise<void> {
  const first = await record.reserveRowIds(count);
  for (let index = 0; index < count; index++) {
    record.append({
      kind: "row.open",
      id: first + index,
      row: {
        ...{ sessionId: "ses_1", parentId: null, runId: `run_${index}`, type: "prompt", agentRole: "main" },
        ...{ depth: 0, startedAtMs: 0, requestContent: "x".repeat(size) },
      },
    });
  }
}

function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
}

/** Lets the event loop reach the writer's turn. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

function retry(): void {
  timers.shift()?.work();
}

async function isPending(promise: Promise<void>): Promise<boolean> {
  const pending = {};
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}

test.each([
  ["a full disk", 13, "database or disk is full", "Free some disk space"],
  ["a broken disk", 10 | (3 << 8), "disk I/O error", "check it"],
  ["another process in the way", 5, "database is locked", "Another process"],
])("%s makes everyone wait, loudly and once, and nothing is lost", async (_, errcode, message, remedy) => {
  let broken = true;
  const record = openWith((write) => {
    if (broken) throw sqliteError(errcode, message);
    write();
  });
  await addRows(record, 3);
  const committed = record.committed();
  await turn();
  await addRows(record, 300);
  retry();
  retry();
  expect(timers.map((timer) => timer.delayMs)).toEqual([400]);
  expect(await isPending(committed)).toBe(true);
  expect(notices).toHaveLength(1);
  expect(notices[0]?.level).toBe("error");
  expect(notices[0]?.message).toContain(path);
  expect(notices[0]?.message).toContain(message);
  expect(notices[0]?.message).toContain(remedy);

  broken = false;
  retry();
  await committed;
  await record.committed();
  expect(notices.map((notice) => notice.level)).toEqual(["error", "info"]);
  const rows = await record.readRows({ sessionId: "ses_1" });
  expect(rows.map((row) => row.opened_seq)).toEqual(Array.from({ length: 303 }, (_row, index) => index + 1));
  await record.close();
});

test("a disk that is really full keeps the batch whole until there is room", async () => {
  let limit: number | undefined;
  const record = openWith((write, db) => {
    const pages = limit ?? Number(db.prepare("PRAGMA page_count").get()?.page_count);
    db.exec(`PRAGMA max_page_count = ${pages}`);
    write();
  });
  await addRows(record, 100, 10_000);
  const committed = record.committed();
  await turn();
  expect(notices[0]?.message).toContain("full");
  using other = new DatabaseSync(path);
  expect(other.prepare("SELECT count(*) AS n FROM sessions").get()?.n).toBe(0);

  limit = 1_000_000;
  retry();
  await committed;
  expect(await record.readRows({ sessionId: "ses_1" })).toHaveLength(100);
  expect(other.prepare("PRAGMA integrity_check").get()?.integrity_check).toBe("ok");
  await record.close();
});

test("a lock that another process really holds is waited for", async () => {
  const record = openWith((write, db) => {
    db.exec("PRAGMA busy_timeout = 1");
    write();
  });
  using other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const committed = record.committed();
  await turn();
  expect(notices[0]?.message).toContain("locked");
  other.exec("ROLLBACK");
  retry();
  await committed;
  expect(await record.readSession("ses_1")).toBeDefined();
  await record.close();
});

test("a change of the reason is told again", async () => {
  let errcode = 5;
  const record = openWith((write) => {
    if (errcode) throw sqliteError(errcode, `code ${errcode}`);
    write();
  });
  await turn();
  errcode = 13;
  retry();
  retry();
  expect(notices.map((notice) => /code \d+/.exec(notice.message)?.[0])).toEqual(["code 5", "code 13"]);
  errcode = 0;
  await record.close();
  expect(notices.at(-1)?.level).toBe("info");
});

test("closing while the disk refuses says what was not written and stops trying", async () => {
  const record = openWith(() => {
    throw sqliteError(13, "database or disk is full");
  });
  await addRows(record, 9);
  const committed = record.committed();
  committed.catch(() => {});
  await turn();
  const error = await record.close().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RetinueError);
  expect(String(error)).toMatch(
    /10 changes were not written to .*the start of session ses_1, the opening of row \d+.* and 5 more/,
  );
  await expect(committed).rejects.toBe(error);
  expect(refused).toEqual([error]);
  expect(timers).toEqual([]);
});

test("closing before the first write still writes everything", async () => {
  const record = openWith((write) => write());
  await addRows(record, 1_000);
  await record.close();
  using other = new DatabaseSync(path);
  expect(other.prepare("SELECT count(*) AS n FROM messages").get()?.n).toBe(1_000);
});
