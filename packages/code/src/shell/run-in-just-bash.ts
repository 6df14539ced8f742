import { isBelow } from "@retinue/core/files/is-below";
import { findGitHome, findRepositories, type GitHome, readGitPlaces } from "@retinue/core/git/git-places";
import type { IFileSystem } from "just-bash";
import { isProtected } from "../sandbox/protected-paths.ts";
import { CollectOutput } from "./collect-output.ts";
import { buildEnvironment, type CommandOutcome, type CommandRequest, type Enclosure } from "./command.ts";

const NOTE =
  "no OS sandbox here: the built-in shell ran it; programs such as node or git are not available (bubblewrap would make them so)";
const MEGABYTE = 1024 * 1024;

/** Runs a script in a shell that is a program of this process: it has files and text tools, but starts nothing. */
export async function runInJustBash(request: CommandRequest, enclosure: Enclosure): Promise<CommandOutcome> {
  const { script, argv = [], timeoutMs, signal, maxOutputBytes = MEGABYTE } = request;
  const bash = await createBash(request, enclosure);
  const timer = AbortSignal.timeout(timeoutMs);
  const [program = "", ...args] = argv;
  const options = { signal: AbortSignal.any([signal, timer]), cwd: request.cwd, rawScript: true };
  const ended = await (script === undefined
    ? bash.exec(`'${program.replaceAll("'", `'\\''`)}'`, { ...options, args })
    : bash.exec(script, options)
  ).catch((thrown: Error) => ({ stdout: "", stderr: `${thrown.message}\n`, exitCode: 1 }));
  const [stdout, stderr] = [ended.stdout, ended.stderr].map((text) => {
    const output = new CollectOutput(maxOutputBytes);
    output.push(Buffer.from(text));
    return output;
  });
  if (stdout && stdout.total > 0) request.onOutput?.(stdout.text());
  const isStopped = signal.aborted || timer.aborted;
  return {
    exitCode: isStopped ? null : ended.exitCode,
    signal: isStopped ? "SIGKILL" : null,
    stdout: stdout?.text() ?? "",
    stderr: stderr?.text() ?? "",
    truncated: stdout?.truncated === true || stderr?.truncated === true,
    timedOut: timer.aborted,
    sandbox: "just-bash",
    notes: [...(isStopped ? ["it was stopped"] : []), NOTE],
  };
}

async function createBash(request: CommandRequest, enclosure: Enclosure) {
  const { Bash, InMemoryFs, MountableFs, ReadWriteFs } = await import("just-bash");
  const { settings } = enclosure;
  const maxFileReadSize = settings.memoryMb * MEGABYTE;
  const roots = [...new Set([request.projectDir, request.workspaceDir])];
  const fs = new MountableFs({
    base: new InMemoryFs(),
    mounts: roots.map((root) => ({
      mountPoint: root,
      filesystem: new ReadWriteFs({ root, maxFileReadSize }),
    })),
  });
  await fs.mkdir("/tmp/home", { recursive: true });
  return new Bash({
    fs: guardFileSystem(fs, request, findGitHome(enclosure.places)),
    cwd: request.cwd,
    env: buildEnvironment(enclosure, request, { PATH: "/usr/bin:/bin", HOME: "/tmp/home" }),
    executionLimits: { maxOutputSize: 64 * MEGABYTE },
    processInfo: { pid: 2, ppid: 1, uid: 1000, gid: 1000 },
  });
}

/** What the built-in shell may do with a path of the project, the workspace, or its own memory. */
type Rights = { mayRead(path: string): boolean; mayWrite(path: string): boolean };

/** A file system that refuses what the request does not allow. Links are refused by the one below, so paths are enough. */
function guardFileSystem(inner: IFileSystem, request: CommandRequest, home: GitHome): IFileSystem {
  const rights = judgePaths(request, home);
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

function judgePaths(
  { projectDir, workspaceDir, writable, readOnly = [], hidden = [] }: CommandRequest,
  home: GitHome,
): Rights {
  const isIn = (path: string, folders: readonly string[]) => folders.some((folder) => isBelow(path, folder));
  const findRoot = (path: string) => [workspaceDir, projectDir].find((root) => isBelow(path, root));
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
      const root = findRoot(path);
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
