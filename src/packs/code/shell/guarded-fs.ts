import type { IFileSystem } from "just-bash";
import { isBelow } from "../../../files/is-below.ts";
import { findRepositories, type GitHome, readGitPlaces } from "../git/git-places.ts";
import { isProtected } from "../sandbox/protected-paths.ts";
import type { CommandRequest } from "./run-command.ts";

/** What the built-in shell may do with a path of the project, the workspace, or its own memory. */
type Rights = { mayRead(path: string): boolean; mayWrite(path: string): boolean };

/** A file system that refuses what the request does not allow. Links are refused by the one below, so paths are enough. */
export function guardFileSystem(inner: IFileSystem, request: CommandRequest, home: GitHome): IFileSystem {
  const rights = rightsOf(request, home);
  const at = (path: string) => inner.resolvePath("/", path);
  const readable = (path: string): string => {
    if (!rights.mayRead(at(path))) throw fault("ENOENT: no such file or directory", path);
    return path;
  };
  const writable = (path: string): string => {
    if (!rights.mayWrite(at(path))) throw fault("EROFS: read-only file system", path);
    return path;
  };
  const shown = async (path: string, names: readonly string[]) =>
    names.filter((name) => rights.mayRead(inner.resolvePath(at(path), name)));
  return {
    readFile: async (path, options) => inner.readFile(readable(path), options),
    readFileBuffer: async (path) => inner.readFileBuffer(readable(path)),
    exists: async (path) => rights.mayRead(at(path)) && inner.exists(path),
    stat: async (path) => inner.stat(readable(path)),
    lstat: async (path) => inner.lstat(readable(path)),
    readdir: async (path) => shown(path, await inner.readdir(readable(path))),
    readlink: async (path) => inner.readlink(readable(path)),
    realpath: async (path) => inner.realpath(readable(path)),
    writeFile: async (path, content, options) => inner.writeFile(writable(path), content, options),
    appendFile: async (path, content, options) => inner.appendFile(writable(path), content, options),
    mkdir: async (path, options) => inner.mkdir(writable(path), options),
    rm: async (path, options) => inner.rm(writable(path), options),
    chmod: async (path, mode) => inner.chmod(writable(path), mode),
    utimes: async (path, atime, mtime) => inner.utimes(writable(path), atime, mtime),
    symlink: async (_, path) => {
      throw fault("EPERM: links are not made here", path);
    },
    link: async (_, path) => {
      throw fault("EPERM: links are not made here", path);
    },
    cp: (from, to, options) => copy(from, to, options?.recursive === true),
    async mv(from, to) {
      writable(from);
      await copy(from, to, true);
      await inner.rm(from, { recursive: true });
    },
    resolvePath: (base, path) => inner.resolvePath(base, path),
    getAllPaths: () => [],
  };

  /** Entry by entry, so that rights below the two paths count as well. */
  async function copy(from: string, to: string, recursive: boolean): Promise<void> {
    const stats = await inner.stat(readable(from));
    if (!stats.isDirectory) return inner.writeFile(writable(to), await inner.readFileBuffer(from));
    if (!recursive) throw fault("EISDIR: is a directory", from);
    await inner.mkdir(writable(to), { recursive: true });
    for (const name of await shown(from, await inner.readdir(from)))
      await copy(inner.resolvePath(from, name), inner.resolvePath(to, name), true);
  }
}

function rightsOf(
  { projectDir, workspaceDir, writable, readOnly = [], hidden = [] }: CommandRequest,
  home: GitHome,
): Rights {
  const isIn = (path: string, folders: readonly string[]) => folders.some((folder) => isBelow(path, folder));
  const rootOf = (path: string) => [workspaceDir, projectDir].find((root) => isBelow(path, root));
  const isHeld = (path: string, root: string): boolean => {
    for (let end = path.length; end > root.length; end = path.lastIndexOf("/", end - 1))
      if (isProtected(path.slice(0, end), root)) return true;
    return false;
  };
  const findClosed = (path: string) => {
    const named = readGitPlaces(findRepositories(projectDir, [path]), [projectDir, workspaceDir], home);
    return [...readOnly, ...hidden, ...named.map((place) => place.path)];
  };
  return {
    mayRead: (path) => !isIn(path, hidden),
    mayWrite(path) {
      const root = rootOf(path);
      if (root === undefined) return true;
      const closed = findClosed(path);
      // Removing a folder would take what is held in it along.
      const holds = closed.some((held) => isBelow(held, path));
      return isIn(path, writable) && !isIn(path, closed) && !holds && !isHeld(path, root);
    },
  };
}

function fault(message: string, path: string): Error {
  return new Error(`${message}, '${path}'`);
}
