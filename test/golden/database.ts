import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import { openDatabase } from "@retinue/core/record/sqlite/open-database";
import { RECORD_MIGRATIONS } from "@retinue/core/record/sqlite/record-migrations";
import { stopTime } from "./golden-clock.ts";
import { listScenarios, loadScenario } from "./golden-files.ts";
import {
  checkScripts,
  copyDatabase,
  type Life,
  makeRoot,
  openLife,
  PACKAGE_ROOT,
  playFirst,
  ROOT_CHARS,
  removeRoot,
  writeProject,
} from "./world.ts";

/** Written once by the program as it was on 18 November 2026, and never again: people have databases like it. */
const FILE = new URL("../fixtures/golden/sessions.db.gz", import.meta.url);
/** What stands in the file for the folder in which it was written; as long as any root. */
const PLACEHOLDER = "/golden-root".padEnd(ROOT_CHARS, "-");

/** Whether the database is there. */
export function hasDatabase(): boolean {
  return existsSync(FILE);
}

/** Plays all scenarios on one database, the killed ones up to their kill, and keeps it compressed. */
export async function recordDatabase(): Promise<void> {
  const root = makeRoot();
  const database = join(root, "sessions.db");
  const packed = join(root, "packed.db");
  const lives: Life[] = [];
  using clock = stopTime();
  for (const name of listScenarios()) {
    const scenario = await loadScenario(name);
    const place = { root, name, database };
    writeProject(place, scenario);
    const life = await openLife(place, scenario, clock);
    lives.push(life);
    await playFirst(life, scenario);
    if (scenario.killed) continue;
    await life.close();
    checkScripts(life);
  }
  copyDatabase(database, packed);
  await Promise.all(lives.map((life) => life.close()));
  moveDatabase(packed, root, PLACEHOLDER);
  moveDatabase(packed, PACKAGE_ROOT, "/retinue");
  copyDatabase(packed, `${packed}.small`);
  writeFileSync(FILE, gzipSync(readFileSync(`${packed}.small`), { level: 9 }));
  removeRoot(root);
}

/** The ids of all sessions of a database, the oldest first, or of those in one project. */
export function listSessions(database: string, project?: string): string[] {
  using db = new DatabaseSync(database, { readOnly: true });
  const rows = db.prepare("SELECT session_id, project FROM sessions ORDER BY rowid").all();
  return rows
    .filter((row) => project === undefined || row.project === project)
    .map((row) => String(row.session_id));
}

/** The names of the scenarios that a database has sessions of. */
export function listPlayed(database: string): string[] {
  using db = new DatabaseSync(database, { readOnly: true });
  const rows = db.prepare("SELECT DISTINCT project FROM sessions ORDER BY project").all();
  return rows.map(({ project }) => basename(dirname(String(project))));
}

/** Unpacks the database into a root, as if it had been written there, and gives its path. */
export function unpackDatabase(root: string): string {
  const database = join(root, "data", "retinue.db");
  mkdirSync(dirname(database));
  writeFileSync(database, gunzipSync(readFileSync(FILE)));
  moveDatabase(database, PLACEHOLDER, root);
  return database;
}

/** Puts the sessions of a database into one with the first schema, as far as that had places for them. */
export function inFirstSchema(database: string): void {
  const newer = `${database}.newer`;
  renameSync(database, newer);
  const { db, close } = openDatabase(database, RECORD_MIGRATIONS.slice(0, 1));
  db.prepare("ATTACH ? AS newer").run(newer);
  for (const table of ["sessions", "prompts", "messages"]) {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?)").all(table);
    const names = columns.map(({ name }) => String(name)).join(", ");
    db.exec(`INSERT INTO ${table} (${names}) SELECT ${names} FROM newer.${table}`);
  }
  db.exec("DETACH newer");
  close();
  rmSync(newer);
}

/** Puts another folder into every text of a database. */
function moveDatabase(database: string, from: string, to: string): void {
  using db = new DatabaseSync(database);
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  for (const { name: table } of tables) {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'").all(table ?? "");
    for (const { name } of columns) {
      const moved = db.prepare(
        `UPDATE ${table} SET ${name} = replace(${name}, ?, ?) WHERE instr(${name}, ?) > 0`,
      );
      moved.run(from, to, from);
    }
  }
}
