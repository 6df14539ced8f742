import { findGitHome } from "../git/git-places.ts";
import { CollectOutput } from "./collect-output.ts";
import { commandEnvironment } from "./command-environment.ts";
import { guardFileSystem } from "./guarded-fs.ts";
import type { CommandOutcome, CommandRequest, Enclosure } from "./run-command.ts";

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
    env: commandEnvironment(enclosure, request, { PATH: "/usr/bin:/bin", HOME: "/tmp/home" }),
    executionLimits: { maxOutputSize: 64 * MEGABYTE },
    processInfo: { pid: 2, ppid: 1, uid: 1000, gid: 1000 },
  });
}
