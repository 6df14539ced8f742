import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findBubblewrap } from "@retinue/code/sandbox/find-bubblewrap";
import { findGit, safePath } from "@retinue/core/git/exec-git";
import { inspectDatabase } from "@retinue/core/record/sqlite/database-file";
import { RECORD_MIGRATIONS } from "@retinue/core/record/sqlite/record-migrations";
import { messageOf } from "@retinue/core/schema/error";
import type { ShellSettings } from "@retinue/core/schema/settings";
import type { Places } from "@retinue/core/settings/places";
import { showBytes } from "@retinue/core/show/measures";
import type { Terminal } from "../terminal.ts";
import { hasUnicode } from "../tree/canvas.ts";
import { type Finding, ok, problem, warning } from "./run-checks.ts";

const MB = 1024 * 1024;
/** A check of every page reads the whole file; this many bytes take about a second. */
const MAX_CHECKED = 256 * MB;
const LITTLE_SPACE = 200 * MB;
const NEWEST = RECORD_MIGRATIONS.at(-1)?.version ?? 0;
const hasModes = process.platform !== "win32";

/** Whether the record opens, in which version, and whether its pages are sound; nothing is changed. */
export async function checkDatabase({ dataDir }: Places): Promise<Finding> {
  const file = join(dataDir, "retinue.db");
  const found = await stat(file).catch((thrown: NodeJS.ErrnoException) => thrown);
  if (found instanceof Error) {
    if (found.code === "ENOENT") return ok("no database yet; the first run makes it", { file });
    return problem(`the database ${file} cannot be looked at: ${found.message}`, `ls -ld '${dataDir}'`);
  }
  if (!found.isFile()) return problem(`${file} is not a file`, `mv '${file}' '${file}.old'`);
  try {
    const check = found.size <= MAX_CHECKED ? "full" : "none";
    const inspected = inspectDatabase(file, { check, busyTimeoutMs: 1_000 });
    const size = showBytes(found.size);
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
        facts,
      );
    const older = version < NEWEST ? `, will become ${NEWEST} at the next run` : "";
    const sound = check === "full" ? "sound" : "too large to be checked here";
    return ok(`database: version ${version}${older}, ${size}, ${sound}`, facts);
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
    if (await canWrite(parent)) return ok(`${what}: ${dir} (made when it is needed)`, { dir, exists: false });
    return problem(
      `the ${what} folder ${dir} cannot be made: ${parent} is not writable`,
      `sudo chown "$USER" '${parent}'`,
    );
  }
  if (!found.isDirectory()) return problem(`${dir} is not a folder`, `mv '${dir}' '${dir}.old'`);
  const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
  const facts = { dir, mode, exists: true };
  if (!(await canWrite(dir)))
    return problem(`the ${what} folder ${dir} is not writable`, `sudo chown "$USER" '${dir}'`, facts);
  if (hasModes && found.mode & 0o022)
    return problem(`others can write into the ${what} folder ${dir} (${mode})`, `chmod 700 '${dir}'`, facts);
  if (hasModes && what === "data" && found.mode & 0o055)
    return warning(`others can look into the ${what} folder ${dir} (${mode})`, `chmod 700 '${dir}'`, facts);
  const free = await freeBytes(dir);
  if (what === "data" && free !== undefined && free < LITTLE_SPACE)
    return warning(`only ${showBytes(free)} are free at ${dir}`, `df -h '${dir}'`, facts);
  return ok(`${what}: ${dir} (${mode})`, facts);
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

const NODE = 24;
const INSTALL_BWRAP = "sudo apt install bubblewrap   # or your system's package of that name";

/** Whether this Node can run Retinue. */
export function checkNode(version: string): Finding {
  const facts = { version, needed: NODE };
  if (Number(/^v?(\d+)/.exec(version)?.[1]) >= NODE) return ok(`Node ${version.replace(/^v/, "")}`, facts);
  return problem(`Node ${version} is too old: ${NODE} is needed`, "nvm install 24   # or nodejs.org", facts);
}

/** Whether commands can be confined, tried for real, and what happens to them if not. */
export async function checkSandbox({ sandbox }: Pick<ShellSettings, "sandbox">): Promise<Finding> {
  if (sandbox === "off")
    return warning(
      "commands run on this machine with all your rights (shell.sandbox is off)",
      "retinue config set shell.sandbox required",
    );
  const found = await findBubblewrap();
  if (!("fault" in found)) {
    const facts = { program: found.program, sealed: found.sealed, pins: found.pins };
    const limits = found.sealed ? "" : "; namespaces can be made inside";
    return ok(`bubblewrap works (${found.program})${limits}`, facts);
  }
  const remedy = process.platform === "linux" ? INSTALL_BWRAP : "run Retinue on Linux, or in a container";
  return warning(`${found.fault}; no command can run (shell.sandbox is ${sandbox})`, remedy);
}

/** Whether git is there; isolated workspaces, diff and undo use it. */
export async function checkGit(projectDir: string, path: string, signal: AbortSignal): Promise<Finding> {
  const program = await findGit(safePath(projectDir, path)).catch(() => undefined);
  const version = program && (await askVersion(program, signal));
  if (version) return ok(version.replace("version ", ""), { program });
  return warning("git is not there: no git tools, no isolated copies, no undo", "sudo apt install git");
}

/** Whether the searcher that comes with Retinue can be run. */
export async function checkRipgrep(signal: AbortSignal): Promise<Finding> {
  const remedy = "npm install -g retinue   # it brings ripgrep along";
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const version = await askVersion(rgPath, signal);
    if (version) return ok(version.split(" (")[0] ?? version, { program: rgPath });
    return problem("ripgrep cannot be run, so grep and glob cannot either", remedy);
  } catch (thrown) {
    return problem(`ripgrep is missing, so grep and glob cannot run: ${messageOf(thrown)}`, remedy);
  }
}

function askVersion(program: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: 4_000, killSignal: "SIGKILL", signal } as const;
    execFile(program, ["--version"], options, (error, stdout) =>
      resolve(error ? undefined : stdout.split("\n")[0]?.trim()),
    );
  });
}

const NARROW = 60;

/** What this terminal can show. */
export function checkTerminal({ env, interactive, screen }: Terminal): Finding {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  const unicode = hasUnicode(env);
  const plain = env.NO_COLOR ? "NO_COLOR" : env.TERM === "dumb" ? "TERM=dumb" : undefined;
  const size = screen?.size();
  const facts = { interactive, unicode, colour: plain === undefined, ...size };
  if (!interactive) return ok("not a terminal: nobody is asked, asks are denied", facts);
  const shape = size ? `, ${size.columns}x${size.rows}` : "";
  const told = `a terminal (${env.TERM ?? "of unknown kind"}${shape}), ${plain ? `no colour (${plain})` : "colour"}`;
  if (!unicode)
    return warning(
      `${told}, no UTF-8 (${locale || "no locale is set"}): icons may look wrong`,
      "export LANG=C.UTF-8",
      facts,
    );
  if (size && size.columns < NARROW)
    return warning(`${told}: narrow, lines are cut`, "make the window at least 80 columns wide", facts);
  return ok(`${told}, UTF-8`, facts);
}
