import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import { failureKind } from "./sqlite-failure.ts";

/** What a look at a database file found, without changing it. */
export type Inspection = { state: "sound"; version: number } | { state: "damaged"; reason: string };

const COMPANIONS = ["-wal", "-shm"];
/** Reading every page of a file up to this size costs a few milliseconds at most. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Makes folder and file, for their owner only whatever the umask says, and returns the file's identity. */
export function prepareFile(file: string): string {
  const folder = dirname(file);
  const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (created !== undefined) chmodSync(folder, 0o700);
  const known = statSync(file, { throwIfNoEntry: false });
  if (known && !known.isFile()) throw new RetinueError("store", `${file} is not a file`, "Move it away.");
  const handle = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
  try {
    if ((fstatSync(handle).mode & 0o777) !== 0o600) fchmodSync(handle, 0o600);
    for (const suffix of COMPANIONS) if (existsSync(file + suffix)) chmodSync(file + suffix, 0o600);
    return identityOf(file);
  } finally {
    closeSync(handle);
  }
}

/** Looks through a read-only connection, so that a refused or damaged file keeps every byte, its log included. */
export function inspectDatabase(
  file: string,
  options: { check: "auto" | "full" | "none"; busyTimeoutMs: number },
): Inspection {
  const size = statSync(file).size;
  if (size === 0 && !existsSync(`${file}-wal`)) return { state: "sound", version: 0 };
  try {
    using db = new DatabaseSync(file, { readOnly: true, timeout: options.busyTimeoutMs });
    const version = Number(db.prepare("PRAGMA user_version").get()?.user_version);
    const thorough = options.check === "full" || (options.check === "auto" && size <= SMALL_BYTES);
    const row = db
      .prepare(thorough ? "PRAGMA quick_check(1)" : "SELECT 'ok' AS quick_check FROM sqlite_schema LIMIT 1")
      .get();
    const verdict = row?.quick_check ?? "ok";
    return verdict === "ok" ? { state: "sound", version } : { state: "damaged", reason: String(verdict) };
  } catch (thrown) {
    if (failureKind(thrown) !== "corrupt") throw thrown;
    return { state: "damaged", reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Renames a damaged file and its companions; undefined when another process has already replaced it. */
export function setAside(file: string, identity: string, nowMs: number): string | undefined {
  if (identityOf(file) !== identity) return undefined;
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  let target = `${file}.corrupt-${stamp}`;
  for (let copy = 2; existsSync(target); copy++) target = `${file}.corrupt-${stamp}-${copy}`;
  renameSync(file, target);
  for (const suffix of COMPANIONS) if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix);
  return target;
}

function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : "none";
}
