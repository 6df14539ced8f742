import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux: a handle that stands for a place and reads nothing. */
const O_PATH = 0o10000000;

/**
 * Opens a folder or file below `root` component by component, never through a link, so that the handle stands for
 * exactly this place even if somebody renames it. Undefined if it is not there, or is neither folder nor file.
 */
export async function pinPath(root: string, path: string | Buffer): Promise<FileHandle | undefined> {
  const names = splitBelow(root, path);
  if (!names) return undefined;
  let handle = await open(root, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  for (const [index, name] of names.entries()) {
    const flags = O_PATH | O_NOFOLLOW | (index < names.length - 1 ? O_DIRECTORY : 0);
    const at = Buffer.concat([Buffer.from(`/proc/self/fd/${handle.fd}/`), name]);
    const next = await open(at, flags).catch(() => undefined);
    await handle.close();
    if (!next) return undefined;
    handle = next;
  }
  const stats = await handle.stat();
  if (stats.isDirectory() || stats.isFile()) return handle;
  await handle.close();
  return undefined;
}

/** The names from `root` to a path, as bytes because a name need not be text; undefined if it is not below. */
function splitBelow(root: string, path: string | Buffer): Buffer[] | undefined {
  if (typeof path === "string")
    return isBelow(path, root)
      ? relative(root, path)
          .split(sep)
          .filter(Boolean)
          .map((name) => Buffer.from(name))
      : undefined;
  const start = Buffer.from(`${root}/`);
  if (!path.subarray(0, start.length).equals(start)) return undefined;
  const names: Buffer[] = [];
  for (let from = start.length; from <= path.length; ) {
    const slash = path.indexOf("/", from);
    const end = slash === -1 ? path.length : slash;
    names.push(path.subarray(from, end));
    from = end + 1;
  }
  return names;
}

/** How many folders below the project a place can be that is mounted by itself. */
const MOST_LEVELS = 60;

/** A path, or the folder around it that is not too deep down to be mounted. */
export function cutDeepPath(root: string, path: string): string {
  const names = relative(root, path).split(sep);
  return names.length <= MOST_LEVELS ? path : join(root, ...names.slice(0, MOST_LEVELS));
}
