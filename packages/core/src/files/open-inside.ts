import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { explainHardLink, type LinkedFile } from "./hard-links.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_EXCL, O_WRONLY } = constants;

/** Linux can open a name relative to an open folder, which no rename can race. */
const HAS_PROC_FD = existsSync("/proc/self/fd");

/** A refusal to open a path, worded for the model. */
export class PathRefused extends Error {
  override name = "PathRefused";
}

/**
 * Opens a regular file for reading below `root`, component by component and never through a link. One that has several
 * names is opened only if all of them may be read.
 */
export async function openForReading(
  root: string,
  path: string,
  mayRead?: LinkedFile["mayRead"],
): Promise<FileHandle> {
  await using folder = await openFolder(root, dirname(path), false);
  const handle = await openAt(folder, lastPart(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat();
    let fault = stats.isFile() ? undefined : `${path} is not a regular file`;
    if (stats.isFile() && stats.nlink > 1)
      fault = await explainHardLink({ root, path, links: stats.nlink, mode: "read", mayRead });
    if (fault !== undefined) throw new PathRefused(fault);
    return handle;
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

/** The text of a file below `root`; undefined if it is not there, is larger, or is reached through a link. */
export async function readTextInside(
  root: string,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  try {
    await using handle = await openForReading(root, path);
    return (await handle.stat()).size > maxBytes ? undefined : await handle.readFile("utf8");
  } catch {
    return undefined;
  }
}

/**
 * Writes a whole file below `root` so that a crash leaves the old or the new content, never a part. Folders on the
 * way are made; a link anywhere on the way, or in place of the file, is refused. Content that comes in pieces and fails
 * leaves everything as it was. A new file gets `mode`. Says whether the file was new.
 */
export async function writeInside(
  root: string,
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  mode = 0o644,
): Promise<"created" | "modified"> {
  await using folder = await openFolder(root, dirname(path), true);
  const existed = await checkReplaceable(folder, path, root);
  await replaceIn(folder, lastPart(path), async (temporary) => {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    await using handle = await open(temporary, flags, existed?.mode ?? mode);
    await handle.writeFile(content);
    if (existed) await handle.chmod(existed.mode);
    await handle.sync();
  });
  return existed ? "modified" : "created";
}

/** Names in a folder below `root`, read through the folder that was opened and never through a link. */
export async function listInside(root: string, path: string): Promise<{ name: string; isFolder: boolean }[]> {
  await using folder = await openFolder(root, path, false);
  const entries = await readdir(HAS_PROC_FD ? `/proc/self/fd/${folder.handle.fd}` : folder.path, {
    withFileTypes: true,
  });
  return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
}

/** A folder that was opened without following a link, and the path that led to it. */
export type Folder = AsyncDisposable & { handle: FileHandle; path: string };

/** Opens a folder below `root`, component by component and never through a link; with `make`, folders on the way are made. */
export async function openFolder(root: string, path: string, make: boolean): Promise<Folder> {
  const inside = relative(root, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new PathRefused(`${path} is outside ${root}`);
  let folder = folderOf(await open(root, O_RDONLY | O_DIRECTORY), root);
  for (const name of inside.split(sep).filter(Boolean)) {
    const below = join(folder.path, name);
    try {
      if (make) await mkdir(childOf(folder, name)).catch(ignoreExisting);
      const next = folderOf(await openAt(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), below);
      await folder.handle.close();
      folder = next;
    } catch (thrown) {
      await folder.handle.close();
      throw refusalOf(thrown, below);
    }
  }
  return folder;
}

/** Makes something under another name and puts it in its place by one rename; if that fails nothing of it is left. */
export async function replaceIn(
  folder: Folder,
  name: string,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = childOf(folder, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await make(temporary);
    await rename(temporary, childOf(folder, name));
  } catch (thrown) {
    await unlink(temporary).catch(() => {});
    throw thrown;
  }
}

async function checkReplaceable(
  folder: Folder,
  path: string,
  root: string,
): Promise<{ mode: number } | null> {
  try {
    const handle = await openAt(folder, lastPart(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = await handle.stat().finally(() => handle.close());
    if (!stats.isFile()) throw new PathRefused(`${path} is not a regular file`);
    const fault =
      stats.nlink > 1 && (await explainHardLink({ root, path, links: stats.nlink, mode: "write" }));
    if (fault) throw new PathRefused(fault);
    return { mode: stats.mode & 0o777 };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw refusalOf(thrown, path);
  }
}

function folderOf(handle: FileHandle, path: string): Folder {
  return { handle, path, [Symbol.asyncDispose]: () => handle.close() };
}

/** A path to a name in an open folder that no rename can lead elsewhere, where the system has such a path. */
export function childOf(folder: Folder, name: string): string {
  return HAS_PROC_FD ? `/proc/self/fd/${folder.handle.fd}/${name}` : join(folder.path, name);
}

async function openAt(folder: Folder, name: string, flags: number): Promise<FileHandle> {
  try {
    return await open(childOf(folder, name), flags);
  } catch (thrown) {
    throw refusalOf(thrown, join(folder.path, name));
  }
}

function refusalOf(thrown: unknown, path: string): unknown {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === "ELOOP" || code === "EMLINK") return new PathRefused(`${path} is a symbolic link`);
  if (code === "ENOTDIR") return new PathRefused(`${path} is not a folder`);
  return thrown;
}

function ignoreExisting(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== "EEXIST") throw thrown;
}

/** The last part of a path. */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf(sep) + 1);
}
