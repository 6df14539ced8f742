import { constants } from "node:fs";
import { chmod, lstat, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { RetinueError } from "../schema/error.ts";
import { replaceFile } from "./replace-file.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_BYTES = 1024 * 1024;
const hasModes = process.platform !== "win32";

/** What others may not have on a file: `read` keeps a secret, `write` keeps it from being changed under us. */
export type Private = "read" | "write";

/** The text of a file of the user's own; null if there is none. A link, or a file that others can reach, is refused. */
export async function readPrivate(path: string, from: Private): Promise<string | null> {
  await using handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "ENOENT") return null;
      if (thrown.code === "ELOOP") throw refused(path, "is a link");
      throw refused(path, `cannot be opened (${thrown.code ?? thrown.name})`);
    },
  );
  if (!handle) return null;
  const stats = await handle.stat();
  if (!stats.isFile()) throw refused(path, "is not a regular file");
  if (stats.size > MAX_BYTES) throw refused(path, `has more than ${MAX_BYTES} bytes`);
  const shared = stats.mode & (from === "read" ? 0o077 : 0o022);
  if (hasModes && shared)
    throw refused(path, `can be ${from === "read" ? "read" : "changed"} by others`, `chmod 600 '${path}'`);
  if (hasModes && stats.uid !== process.getuid?.()) throw refused(path, "belongs to somebody else");
  return await handle.readFile("utf8");
}

/** Writes a file that only the user can read, whole or not at all; a folder that is missing is made for the user alone. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, text, 0o600);
}

/** Closes a folder to everyone else; null if there is none. A link is refused. */
export async function closeFolder(folder: string): Promise<null | undefined> {
  const stats = await lstat(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return null;
    throw refused(folder, `cannot be looked at (${thrown.code ?? thrown.name})`);
  });
  if (!stats) return null;
  if (!stats.isDirectory()) throw refused(folder, "is a link or a file, not a folder");
  if (hasModes && stats.mode & 0o077) await chmod(folder, 0o700);
}

function refused(path: string, why: string, remedy?: string): RetinueError {
  return new RetinueError("config", `${path} ${why}, so it is not used`, remedy && `run: ${remedy}`);
}
