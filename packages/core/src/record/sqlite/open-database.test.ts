import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RetinueError } from "../../schema/error.ts";
import { type Migration, openDatabase } from "./open-database.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";

const ONE: Migration = { version: 1, sql: "CREATE TABLE things (name TEXT)" };
const TWO: Migration = {
  version: 2,
  up: (db) => db.exec("ALTER TABLE things ADD COLUMN size INTEGER DEFAULT 7"),
};

let folder: string;
let file: string;
let umask: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-open-"));
  file = join(folder, "data", "deep", "things.sqlite");
  umask = process.umask(0);
});

afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function withRows(count: number): void {
  const { db, close } = openDatabase(file, [ONE]);
  const insert = db.prepare("INSERT INTO things (name) VALUES (?)");
  for (let index = 0; index < count; index++) insert.run(`thing ${index} `.repeat(20));
  close();
}

function refusal(migrations: readonly Migration[], path = file): RetinueError {
  try {
    openDatabase(path, migrations).close();
  } catch (thrown) {
    if (thrown instanceof RetinueError) return thrown;
    throw thrown;
  }
  throw new Error("the database was opened");
}

test("folder, file, log and shared memory belong to the owner only, even under a permissive umask", () => {
  const { db, close } = openDatabase(file, [ONE]);
  db.exec("INSERT INTO things VALUES ('a')");
  expect(modeOf(join(folder, "data"))).toBe(0o700);
  expect(modeOf(join(folder, "data", "deep"))).toBe(0o700);
  for (const suffix of ["", "-wal", "-shm"]) expect(modeOf(file + suffix)).toBe(0o600);
  close();
});

test("a file that others could read is closed to them", () => {
  withRows(1);
  chmodSync(file, 0o644);
  openDatabase(file, [ONE]).close();
  expect(modeOf(file)).toBe(0o600);
});

test("it writes ahead, checks foreign keys and syncs as asked", () => {
  const { db, close } = openDatabase(file, [ONE], { synchronous: "FULL" });
  expect(db.prepare("PRAGMA journal_mode").get()?.journal_mode).toBe("wal");
  expect(db.prepare("PRAGMA foreign_keys").get()?.foreign_keys).toBe(1);
  expect(db.prepare("PRAGMA synchronous").get()?.synchronous).toBe(2);
  close();
});

test("an older database is brought up to date and keeps its rows", () => {
  withRows(3);
  const { db, close } = openDatabase(file, [ONE, TWO]);
  expect(db.prepare("SELECT count(*) AS n, min(size) AS size FROM things").get()).toEqual({ n: 3, size: 7 });
  expect(db.prepare("PRAGMA user_version").get()?.user_version).toBe(2);
  close();
});

test("a record without the view of usage gets it, over the rows that it has", () => {
  const before = openDatabase(file, RECORD_MIGRATIONS.slice(0, 7));
  before.db.exec(`INSERT INTO sessions (session_id, created_at, updated_at) VALUES ('s', '', '');
    INSERT INTO messages (session_id, started_at, request_type, run_id, total_tokens) VALUES ('s', '', 'prompt', 'r', 5);
    INSERT INTO messages (session_id, started_at, completed_at, request_type, run_id, total_tokens, parent_message_id)
      VALUES ('s', '', 'x', 'continuation', 'r', 5, 1)`);
  before.close();
  const { db, close } = openDatabase(file, RECORD_MIGRATIONS);
  const used = db.prepare("SELECT run_id, model_calls, total_tokens, cost_usd FROM run_usage").all();
  expect(used).toEqual([{ run_id: "r", model_calls: 1, total_tokens: 5, cost_usd: null }]);
  close();
});

test("a step that fails leaves the file as it was", () => {
  withRows(2);
  const broken: Migration = { version: 3, sql: "CREATE TABLE extra (a); CREATE TABLE things (b)" };
  expect(refusal([ONE, TWO, broken]).message).toContain("version 3");
  const { db, close } = openDatabase(file, [ONE, TWO]);
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'extra'").get()).toBeUndefined();
  expect(db.prepare("SELECT count(*) AS n FROM things").get()?.n).toBe(2);
  close();
});

test("a newer database is refused with both versions and stays untouched", () => {
  openDatabase(file, [ONE, TWO]).close();
  const before = readFileSync(file);
  const error = refusal([ONE]);
  expect(error.code).toBe("store");
  expect(error.message).toMatch(/version 2.*up to 1/);
  expect(error.hint).toContain("Update Retinue");
  expect(readFileSync(file).equals(before)).toBe(true);
});

test("a file that is no database is set aside with its companions and named in a notice", () => {
  mkdirSync(join(folder, "data", "deep"), { recursive: true });
  writeFileSync(file, "this is not a database ".repeat(100));
  writeFileSync(`${file}-wal`, "some log");
  const { notices, db, close } = openDatabase(file, [ONE], { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) });
  const aside = `${file}.corrupt-20260102T030405Z`;
  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain(aside);
  expect(readFileSync(aside, "utf8")).toBe("this is not a database ".repeat(100));
  expect(readFileSync(`${aside}-wal`, "utf8")).toBe("some log");
  expect(db.prepare("SELECT count(*) AS n FROM things").get()?.n).toBe(0);
  close();
});

test("a database with damaged pages is set aside, byte for byte, and nothing is deleted twice over", () => {
  const now = (): number => 0;
  for (const copy of ["", "-2"]) {
    withRows(500);
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 4096, 4096 * 4);
    writeFileSync(file, bytes);
    const { notices, close } = openDatabase(file, [ONE], { now });
    close();
    expect(notices).toHaveLength(1);
    expect(readFileSync(`${file}.corrupt-19700101T000000Z${copy}`).equals(bytes)).toBe(true);
  }
});

test("a truncated database is found out although its header is sound", () => {
  withRows(500);
  writeFileSync(file, readFileSync(file).subarray(0, 4096 * 3));
  const { notices, close } = openDatabase(file, [ONE]);
  close();
  expect(notices).toHaveLength(1);
});

test("a place that cannot be written is an error with path and remedy", () => {
  writeFileSync(join(folder, "data"), "a file where the folder would be");
  const error = refusal([ONE]);
  expect(error.code).toBe("store");
  expect(error.message).toContain(file);
  expect(error.hint).toContain("RETINUE_HOME");
  expect(refusal([ONE], folder).message).toContain("not a file");
});

test("migrations out of order are refused before anything is touched", () => {
  expect(() => openDatabase(file, [TWO, ONE])).toThrow(RangeError);
  expect(existsSync(file)).toBe(false);
});

test("a database in memory needs no file", () => {
  const { db, notices, close } = openDatabase(":memory:", [ONE, TWO]);
  db.exec("INSERT INTO things (name) VALUES ('a')");
  expect(notices).toEqual([]);
  close();
});
