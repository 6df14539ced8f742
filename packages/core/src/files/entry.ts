import { constants } from "node:fs";
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readlink,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { isMissing } from "./file-fault.ts";
import { childOf, type Folder, lastPart, openFolder, PathRefused, replaceIn } from "./open-inside.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_CREAT, O_EXCL, S_IFMT, S_IFDIR, S_IFLNK, S_IFREG } =
  constants;

/** What stands at a path: a file with its bytes, a link with its target's text, or a folder without content. */
export type Entry = { readonly mode: number; readonly content: Buffer };

/** Whether a mode is that of a folder. */
export function isFolderMode(mode: number): boolean {
  return (mode & S_IFMT) === S_IFDIR;
}

/** Whether a mode is that of a symbolic link. */
export function isLinkMode(mode: number): boolean {
  return (mode & S_IFMT) === S_IFLNK;
}

/** Reads what stands at a path below `root`, itself never followed if it is a link; null if nothing is there. */
export async function readEntry(root: string, path: string, maxBytes: number): Promise<Entry | null> {
  const target = join(root, path);
  return within(root, dirname(target), false, async (folder) => {
    const here = childOf(folder, lastPart(target));
    const stats = await lstat(here);
    if (stats.isDirectory()) return { mode: stats.mode, content: Buffer.alloc(0) };
    if (stats.isSymbolicLink()) return { mode: stats.mode, content: await readlink(here, "buffer") };
    if (!stats.isFile()) throw new PathRefused(`${path} is not a regular file`);
    await using handle = await open(here, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return await readWhole(handle, path, maxBytes);
  });
}

/**
 * Puts an entry in the place of whatever file or link is there. A crash leaves the old or the new one. A folder is made
 * if it is missing and gets its mode; folders on the way are made. What stands in the way as a folder is refused.
 */
export async function writeEntry(root: string, path: string, entry: Entry): Promise<void> {
  const target = join(root, path);
  await within(root, dirname(target), true, async (folder) => {
    const name = lastPart(target);
    if (isFolderMode(entry.mode)) return makeFolder(childOf(folder, name), entry.mode);
    await replaceIn(folder, name, (temporary) =>
      isLinkMode(entry.mode) ? symlink(entry.content, temporary) : writeWhole(temporary, entry),
    );
  });
}

/** Removes a file or link, or a folder if it is empty. Says whether nothing is there any more. */
export async function removeEntry(root: string, path: string): Promise<boolean> {
  const target = join(root, path);
  const gone = await within(root, dirname(target), false, async (folder) => {
    const here = childOf(folder, lastPart(target));
    const stats = await lstat(here);
    if (!stats.isDirectory()) {
      await unlink(here);
      return true;
    }
    return rmdir(here).then(
      () => true,
      (thrown) => {
        // The last if a file has taken its place since: something is there.
        if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(thrown.code)) return false;
        throw thrown;
      },
    );
  });
  return gone ?? true;
}

async function makeFolder(here: string, mode: number): Promise<void> {
  await mkdir(here).catch((thrown) => {
    if (thrown.code !== "EEXIST") throw thrown;
  });
  if (!(await lstat(here)).isDirectory()) throw new PathRefused("a file stands where a folder must be");
  await chmod(here, mode & 0o7777);
}

async function writeWhole(temporary: string, { mode, content }: Entry): Promise<void> {
  await using handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  await handle.writeFile(content);
  await handle.chmod(mode & 0o7777);
  await handle.sync();
}

async function readWhole(handle: FileHandle, path: string, maxBytes: number): Promise<Entry> {
  const stats = await handle.stat();
  if ((stats.mode & S_IFMT) !== S_IFREG) throw new PathRefused(`${path} is not a regular file`);
  if (stats.size > maxBytes) throw new PathRefused(`${path} has ${stats.size} bytes, more than ${maxBytes}`);
  return { mode: stats.mode, content: await handle.readFile() };
}

/** Works in a folder; null if what is looked for does not exist, or a file or link stands where the folder would be. */
async function within<Value>(
  root: string,
  path: string,
  make: boolean,
  work: (folder: Folder) => Promise<Value>,
): Promise<Value | null> {
  await using folder = await openFolder(root, path, make).catch((thrown) => {
    if (!make && (isMissing(thrown) || thrown instanceof PathRefused)) return null;
    throw thrown;
  });
  if (!folder) return null;
  return await work(folder).catch((thrown) => {
    if (!make && isMissing(thrown)) return null;
    throw thrown;
  });
}
