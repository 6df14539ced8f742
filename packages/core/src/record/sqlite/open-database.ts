import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import { inspectDatabase, prepareFile, setAside } from "./database-file.ts";
import { failureKind, storeError } from "./sqlite-failure.ts";

/** One step of a schema. */
export type Migration = { version: number; sql: string } | { version: number; up(db: DatabaseSync): void };

/** How a database is opened. */
export type DatabaseOptions = {
  /** `FULL` also survives a power cut right after a commit; `NORMAL` survives a killed process. */
  synchronous?: "NORMAL" | "FULL";
  /** How long one statement waits, blocking, for another process. */
  busyTimeoutMs?: number;
  /** `full` reads every page first; `auto` only of small files; `none` checks no more than the header. */
  check?: "auto" | "full" | "none";
  now?: () => number;
};

/** An open database and what a person must be told about opening it. */
export type Database = {
  readonly db: DatabaseSync;
  readonly path: string;
  readonly notices: readonly string[];
  close(): void;
};

const MEMORY = ":memory:";
const DEFAULTS = { synchronous: "NORMAL", busyTimeoutMs: 1000, check: "auto" } as const;
/** Two processes may repair the same file at once; the loser looks again at what the winner made. */
const ATTEMPTS = 4;

/**
 * Opens or creates a database readable by its owner only, and brings it to the newest version. A damaged file is set
 * aside, never deleted, and a notice names its new place. A file from a newer program is left untouched and refused.
 */
export function openDatabase(
  path: string,
  migrations: readonly Migration[],
  options: DatabaseOptions = {},
): Database {
  const settings = { ...DEFAULTS, now: Date.now, ...options };
  const newest = newestVersion(migrations);
  const file = path === MEMORY ? MEMORY : resolve(path);
  const notices: string[] = [];
  try {
    if (file !== MEMORY) makeSound(file, newest, settings, notices);
    const db = new DatabaseSync(file, { timeout: settings.busyTimeoutMs, enableForeignKeyConstraints: true });
    try {
      configure(db, file, settings, notices);
      migrate(db, file, migrations);
    } catch (thrown) {
      db.close();
      throw thrown;
    }
    return { db, path: file, notices, close: () => db.close() };
  } catch (thrown) {
    throw storeError(`cannot open the database ${file}`, thrown);
  }
}

type Settings = Required<DatabaseOptions>;

function makeSound(file: string, newest: number, settings: Settings, notices: string[]): void {
  for (let attempt = 1; ; attempt++) {
    const identity = prepareFile(file);
    const found = inspectDatabase(file, settings);
    if (found.state === "sound") {
      refuseNewer(file, found.version, newest);
      return;
    }
    const moved = setAside(file, identity, settings.now());
    if (moved) notices.push(damageNotice(file, moved, found.reason));
    if (attempt === ATTEMPTS) {
      throw new RetinueError(
        "store",
        `the database ${file} is damaged again after being set aside: ${found.reason}`,
      );
    }
  }
}

function damageNotice(file: string, moved: string, reason: string): string {
  return `The database ${file} is damaged (${reason}). It was kept as ${moved} and a new, empty one was made.`;
}

function refuseNewer(file: string, version: number, newest: number): void {
  if (version <= newest) return;
  throw new RetinueError(
    "store",
    `the database ${file} has version ${version}, this program knows versions up to ${newest}`,
    "Update Retinue, or set RETINUE_HOME to another folder to start with a new database.",
  );
}

function configure(db: DatabaseSync, file: string, settings: Settings, notices: string[]): void {
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (file !== MEMORY && mode !== "wal") {
    notices.push(
      `The disk of ${file} does not support write-ahead logging; the database works, but more slowly.`,
    );
  }
  db.exec(`PRAGMA synchronous = ${settings.synchronous === "FULL" ? "FULL" : "NORMAL"}`);
  db.exec("PRAGMA journal_size_limit = 67108864");
  // Pages that change in each transaction are copied into the database once in 8,000 instead of once in 1,000.
  db.exec("PRAGMA wal_autocheckpoint = 8000");
}

/** Applies the missing steps in one transaction: a file has its old version or the newest. */
function migrate(db: DatabaseSync, file: string, migrations: readonly Migration[]): void {
  if (versionOf(db) >= (migrations.at(-1)?.version ?? 0)) return;
  db.exec("BEGIN IMMEDIATE");
  let version = 0;
  try {
    // Another process may have done the same while this one waited for the lock.
    const present = versionOf(db);
    for (const migration of migrations) {
      version = migration.version;
      if (version <= present) continue;
      if ("sql" in migration) db.exec(migration.sql);
      else migration.up(db);
    }
    if (version > present) db.exec(`PRAGMA user_version = ${version}`);
    db.exec("COMMIT");
  } catch (thrown) {
    if (db.isTransaction) db.exec("ROLLBACK");
    if (failureKind(thrown) !== "other") throw thrown;
    throw new RetinueError(
      "store",
      `cannot bring the database ${file} to version ${version}: ${String(thrown)}`,
      "The file is as it was before. Is it really a database of Retinue? Otherwise set RETINUE_HOME to another folder.",
      { cause: thrown },
    );
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

function newestVersion(migrations: readonly Migration[]): number {
  let newest = 0;
  for (const { version } of migrations) {
    if (!Number.isSafeInteger(version) || version <= newest) {
      throw new RangeError(
        `migration versions must be whole numbers that rise: ${version} follows ${newest}`,
      );
    }
    newest = version;
  }
  return newest;
}
