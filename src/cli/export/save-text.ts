import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { messageOf, RetinueError } from "../../schema/error.ts";
import { countOf } from "../measures.ts";
import type { Terminal } from "../terminal.ts";

/** Prints a text, or writes it to the file that `-o` names and says so; `-` is stdout. */
export async function saveText(text: string, output: string | undefined, terminal: Terminal): Promise<void> {
  if (output === undefined || output === "-") return terminal.print(text);
  const path = resolve(terminal.cwd, output);
  await writePrivate(path, `${text}\n`);
  terminal.tell(`wrote ${path} (${countOf(Buffer.byteLength(text) + 1, "byte")})`);
}

/**
 * Writes a whole file that only its owner can read, so that a crash leaves the old or the new one. Only a regular file is
 * replaced; a link is replaced itself and never followed.
 */
export async function writePrivate(path: string, content: string | Uint8Array): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile() && !found.isSymbolicLink())
    throw new RetinueError("input", `${path} is not a file`, "name another place with -o");
  const temporary = join(
    dirname(path),
    `.${basename(path).slice(0, 100)}.${randomBytes(6).toString("hex")}.tmp`,
  );
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await unlink(temporary).catch(() => {});
    throw cannotWrite(path, thrown);
  }
}

/** Makes a folder that only its owner can look into, if it is not there yet. */
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
