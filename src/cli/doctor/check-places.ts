import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Places } from "../../runtime/project/places.ts";
import { messageOf } from "../../schema/error.ts";
import { inspectDatabase } from "../../store/file/database-file.ts";
import { STORE_MIGRATIONS } from "../../store/file/store-migrations.ts";
import { type Finding, ok, problem, warning } from "./check.ts";

const MB = 1024 * 1024;
/** A check of every page reads the whole file; this many bytes take about a second. */
const MAX_CHECKED = 256 * MB;
const LITTLE_SPACE = 200 * MB;
const NEWEST = STORE_MIGRATIONS.at(-1)?.version ?? 0;
const hasModes = process.platform !== "win32";

/** Whether the record opens, in which version, and whether its pages are sound; nothing is changed. */
export async function checkDatabase({ dataDir }: Places): Promise<Finding> {
  const file = join(dataDir, "retinue.db");
  const found = await stat(file).catch((thrown: NodeJS.ErrnoException) => thrown);
  if (found instanceof Error) {
    if (found.code === "ENOENT") return ok("no database yet; the first run makes it", { facts: { file } });
    return problem(`the database ${file} cannot be looked at: ${found.message}`, `ls -ld '${dataDir}'`);
  }
  if (!found.isFile()) return problem(`${file} is not a file`, `mv '${file}' '${file}.old'`);
  try {
    const check = found.size <= MAX_CHECKED ? "full" : "none";
    const inspected = inspectDatabase(file, { check, busyTimeoutMs: 1_000 });
    const size = showSize(found.size);
    if (inspected.state === "damaged")
      return problem(
        `the database is damaged: ${inspected.reason}; the next run sets it aside and begins a new one`,
        `cp '${file}' '${file}.copy'`,
      );
    const { version } = inspected;
    const facts = { file, version, newest: NEWEST, bytes: found.size, checked: check === "full" };
    if (version > NEWEST)
      return problem(
        `the database has version ${version}, this program knows ${NEWEST}`,
        "npm install -g retinue@latest",
        { facts },
      );
    const older = version < NEWEST ? `, will become ${NEWEST} at the next run` : "";
    const sound = check === "full" ? "sound" : "too large to be checked here";
    return ok(`database: version ${version}${older}, ${size}, ${sound}`, { facts });
  } catch (thrown) {
    return problem(`the database ${file} cannot be opened: ${messageOf(thrown)}`, `ls -l '${file}'`);
  }
}

/** Whether data and configuration have their folders, and who else can read them. */
export async function checkFolders({ dataDir, configDir }: Places): Promise<Finding[]> {
  return Promise.all([checkFolder("data", dataDir), checkFolder("configuration", configDir)]);
}

async function checkFolder(what: "data" | "configuration", dir: string): Promise<Finding> {
  const found = await stat(dir).catch((thrown: NodeJS.ErrnoException) => thrown);
  if (found instanceof Error) {
    if (found.code !== "ENOENT")
      return problem(`the ${what} folder ${dir} cannot be used: ${found.message}`, `ls -ld '${dir}'`);
    const parent = await nearest(dir);
    if (await canWrite(parent))
      return ok(`${what}: ${dir} (made when it is needed)`, { facts: { dir, exists: false } });
    return problem(
      `the ${what} folder ${dir} cannot be made: ${parent} is not writable`,
      `sudo chown "$USER" '${parent}'`,
    );
  }
  if (!found.isDirectory()) return problem(`${dir} is not a folder`, `mv '${dir}' '${dir}.old'`);
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  const facts = { dir, mode, exists: true };
  if (!(await canWrite(dir)))
    return problem(`the ${what} folder ${dir} is not writable`, `sudo chown "$USER" '${dir}'`, { facts });
  if (hasModes && found.mode & 0o022)
    return problem(`others can write into the ${what} folder ${dir} (${mode})`, `chmod 700 '${dir}'`, {
      facts,
    });
  if (hasModes && what === "data" && found.mode & 0o055)
    return warning(`others can look into the ${what} folder ${dir} (${mode})`, `chmod 700 '${dir}'`, {
      facts,
    });
  const free = await freeBytes(dir);
  if (what === "data" && free !== undefined && free < LITTLE_SPACE)
    return warning(`only ${showSize(free)} are free at ${dir}`, `df -h '${dir}'`, { facts });
  return ok(`${what}: ${dir} (${mode})`, { facts });
}

async function nearest(dir: string): Promise<string> {
  const parent = dirname(dir);
  const there = await stat(parent).catch(() => undefined);
  return there || parent === dir ? parent : nearest(parent);
}

async function canWrite(dir: string): Promise<boolean> {
  return access(dir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function freeBytes(dir: string): Promise<number | undefined> {
  const found = await statfs(dir).catch(() => undefined);
  return found && found.bavail * found.bsize;
}

function showSize(bytes: number): string {
  return bytes < MB ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / MB).toFixed(1)} MB`;
}
