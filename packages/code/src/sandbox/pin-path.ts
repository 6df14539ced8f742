import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { tryTo } from "@retinue/core/schema/error";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux: a handle that stands for a place and reads nothing. */
const O_PATH = 0o10000000;

/** A place by an open handle: it stays the same although somebody renames it, or puts another under its name. */
export type PinnedPath = Disposable & {
  readonly fd: number;
  /** A path that leads to it. */
  readonly at: string;
};

/**
 * Opens a folder or file below `root` component by component, never through a link. Undefined if it is not there, or is
 * neither folder nor file.
 */
export function pinPath(root: string, path: string | Buffer): PinnedPath | undefined {
  const pinned = openBelow(root, path, O_NOFOLLOW);
  if (!pinned) return undefined;
  const stats = fstatSync(pinned.fd);
  if (stats.isDirectory() || stats.isFile()) return pinned;
  pinned[Symbol.dispose]();
  return undefined;
}

/** The same for folders only. */
export function pinFolder(root: string, path: string | Buffer): PinnedPath | undefined {
  return openBelow(root, path, O_NOFOLLOW | O_DIRECTORY);
}

function openBelow(root: string, path: string | Buffer, lastFlags: number): PinnedPath | undefined {
  const names = splitBelow(root, path);
  if (!names) return undefined;
  let fd = tryTo(() => openSync(root, O_PATH | O_NOFOLLOW | O_DIRECTORY));
  for (const [index, name] of names.entries()) {
    if (fd === undefined) return undefined;
    const flags = O_PATH | (index < names.length - 1 ? O_NOFOLLOW | O_DIRECTORY : lastFlags);
    const at = Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
    const next = tryTo(() => openSync(at, flags));
    closeSync(fd);
    fd = next;
  }
  if (fd === undefined) return undefined;
  const opened = fd;
  return { fd, at: `/proc/self/fd/${fd}`, [Symbol.dispose]: () => closeSync(opened) };
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
