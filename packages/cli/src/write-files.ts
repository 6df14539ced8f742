import { lstatSync } from "node:fs";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { replaceFile } from "@retinue/core/files/replace-file";
import { machineFault } from "@retinue/core/record/sqlite/sqlite-failure";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import type { Terminal } from "./terminal.ts";

/** How a file is written. */
type WriteOptions = {
  /** The mode of a new file; an existing one keeps its own. */
  mode?: number;
  /** The mode of folders that are created. */
  folderMode?: number;
  /** The file's real path must be below this folder. */
  within?: string;
};

/** Atomically writes a file, keeping the mode of an existing one; of a link, the target is replaced. */
export async function writeWhole(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, folderMode = 0o755, within } = options;
  try {
    await mkdir(dirname(path), { recursive: true, mode: folderMode });
    const target = await findRealPlace(path);
    await refuseOutside(path, target, within);
    const known = await stat(target).catch(() => undefined);
    if (known && !known.isFile()) throw new RetinueError("input", `${path} is not a regular file`);
    await replaceFile(target, text, known ? known.mode & 0o777 : mode);
  } catch (thrown) {
    throw explainUnwritable(path, thrown);
  }
}

/** Writes a new file; false if it exists already. */
export async function writeNew(path: string, text: string, options: WriteOptions = {}): Promise<boolean> {
  const { mode = 0o644, folderMode = 0o755, within } = options;
  try {
    await mkdir(dirname(path), { recursive: true, mode: folderMode });
    const folder = await realpath(dirname(path));
    await refuseOutside(dirname(path), folder, within);
    const handle = await open(join(folder, basename(path)), "wx", mode);
    await handle.writeFile(text).finally(() => handle.close());
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw explainUnwritable(path, thrown);
  }
}

async function refuseOutside(path: string, real: string, within: string | undefined): Promise<void> {
  if (within === undefined || `${real}/`.startsWith(`${await realpath(within)}/`)) return;
  throw new RetinueError("denied", `${path} really is ${real}, outside of ${within}`, "remove the link");
}

async function findRealPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return join(await realpath(dirname(path)), basename(path));
  }
}

function explainUnwritable(path: string, thrown: unknown): RetinueError {
  if (thrown instanceof RetinueError) return thrown;
  const hint = machineFault(thrown)?.hint ?? "check its folder and rights";
  return new RetinueError("input", `${path} cannot be written: ${messageOf(thrown)}`, hint, {
    cause: thrown,
  });
}

/** Prints a text, or writes it to the file that `-o` names and says so; `-` is stdout. */
export async function saveText(text: string, output: string | undefined, terminal: Terminal): Promise<void> {
  if (output === undefined || output === "-") return terminal.print(text);
  const path = resolve(terminal.cwd, output);
  await writePrivateFile(path, `${text}\n`);
  terminal.tell(`wrote ${path} (${showCount(Buffer.byteLength(text) + 1, "byte")})`);
}

/**
 * Atomically writes a file that only its owner can read. Only a regular file is
 * replaced; a link is replaced itself and never followed.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile() && !found.isSymbolicLink())
    throw new RetinueError("input", `${path} is not a file`, "name another place with -o");
  try {
    await replaceFile(path, content, 0o600);
  } catch (thrown) {
    throw cannotWrite(path, thrown);
  }
}

/** Makes a folder that only its owner can open, if it does not exist. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw cannotWrite(path, thrown);
  }
}

function cannotWrite(path: string, thrown: unknown): RetinueError {
  return new RetinueError(
    "input",
    `cannot write ${path}: ${messageOf(thrown)}`,
    "name another place with -o",
  );
}
