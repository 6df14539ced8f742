import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isBelow } from "../shell/below.ts";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux: a handle that stands for a place and reads nothing. */
const O_PATH = 0o10000000;

/**
 * Opens a folder or file below `root` component by component, never through a link, so that the handle stands for
 * exactly this place even if somebody renames it. Undefined if it is not there, or is neither folder nor file.
 */
export async function pinPath(root: string, path: string): Promise<FileHandle | undefined> {
  if (!isBelow(path, root)) return undefined;
  const names = relative(root, path).split(sep).filter(Boolean);
  let handle = await open(root, O_PATH | O_NOFOLLOW | O_DIRECTORY);
  for (const [index, name] of names.entries()) {
    const flags = O_PATH | O_NOFOLLOW | (index < names.length - 1 ? O_DIRECTORY : 0);
    const next = await open(join(`/proc/self/fd/${handle.fd}`, name), flags).catch(() => undefined);
    await handle.close();
    if (!next) return undefined;
    handle = next;
  }
  const stats = await handle.stat();
  if (stats.isDirectory() || stats.isFile()) return handle;
  await handle.close();
  return undefined;
}
