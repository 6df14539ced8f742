import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { openForReading, PathRefused } from "../../files/open-inside.ts";
import { makePrivateFolder, writePrivate } from "./save-text.ts";

/** What was copied, and what was not with the reason. */
export type CopiedFiles = { files: number; bytes: number; left: string[] };

const MOST_FILES = 10_000;
const MOST_BYTES = 2 ** 30;
const MOST_BYTES_OF_ONE = 256 * 2 ** 20;

/**
 * Copies what is below a folder, without following a link anywhere, for its owner alone. A folder that is not there holds
 * nothing. What is no regular file, or too large, is left and named.
 */
export async function copyFiles(from: string, to: string): Promise<CopiedFiles> {
  const copied: CopiedFiles = { files: 0, bytes: 0, left: [] };
  for (const path of await filesBelow(from)) {
    const name = relative(from, path);
    if (copied.files >= MOST_FILES || copied.bytes >= MOST_BYTES) {
      copied.left.push(`${name}: more than is copied at once`);
      continue;
    }
    const content = await readSafely(from, path, name, copied);
    if (!content) continue;
    await makePrivateFolder(dirname(join(to, name)));
    await writePrivate(join(to, name), content);
    copied.files++;
    copied.bytes += content.length;
  }
  return copied;
}

async function readSafely(
  root: string,
  path: string,
  name: string,
  copied: CopiedFiles,
): Promise<Uint8Array | undefined> {
  try {
    const handle = await openForReading(root, path);
    try {
      const { size } = await handle.stat();
      if (size <= MOST_BYTES_OF_ONE) return await handle.readFile();
      copied.left.push(`${name}: ${size.toLocaleString("en-US")} bytes`);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof PathRefused) && !isGone(thrown)) throw thrown;
    copied.left.push(`${name}: not a regular file of its own`);
  }
  return undefined;
}

/** Everything but folders, found before anything is written. */
async function filesBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const left = [root];
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = `${folder}${sep}${entry.name}`;
      if (entry.isDirectory()) left.push(path);
      else found.push(path);
    }
  }
  return found.sort();
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    if (isGone(thrown)) return [];
    throw thrown;
  }
}

function isGone(thrown: unknown): boolean {
  const { code } = thrown as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EACCES";
}
