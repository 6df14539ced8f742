import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join, sep } from "node:path";

/** One run of git. Nothing of it comes from a shell, and nothing of the process's environment but what is named here. */
export type GitExec = {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
};

/** How git ended. `cut` if it was stopped because it had more to say than was asked for. */
export type GitOutcome = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
};

/** Git will not be run here, or could not do it; the message is for the model. */
export class GitFault extends Error {
  override readonly name = "GitFault";
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FAULT_CHARS = 4_000;
const MAX_STDERR_CHARS = 64_000;

/** Folders of the PATH in which programs are looked for: never a relative one, and never one of the project's own. */
export function safePath(projectDir: string, path: string = process.env.PATH ?? ""): string {
  const inside = (folder: string) => folder === projectDir || folder.startsWith(projectDir + sep);
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !inside(folder))
    .join(delimiter);
}

/** Where git is, on a PATH that was made safe. */
export async function findGit(path: string): Promise<string> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const program = join(folder, process.platform === "win32" ? "git.exe" : "git");
    const found = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return program;
  }
  throw new GitFault("git is not installed here: there is no 'git' on the PATH");
}

/** Runs git with an argument list, a clean environment, and limits on time and output; killed when the run is stopped. */
export async function execGit(exec: GitExec): Promise<GitOutcome> {
  const { signal, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = exec;
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = AbortSignal.any([signal, limit]);
  const { code, stdout, stderr, cut } = await startGit({ ...exec, stop, maxBytes }).catch((thrown) => {
    if (limit.aborted && !signal.aborted)
      throw new GitFault(`git took longer than ${timeoutMs / 1_000} s; ask for less`);
    throw thrown;
  });
  return {
    code: code ?? (cut ? 0 : 1),
    stdout: stdout.toString("utf8"),
    stderr: stderr.slice(0, MAX_FAULT_CHARS).trim(),
    cut,
  };
}

/** One start of git: it is stopped only if there is something that can stop it. */
type GitStart = Pick<GitExec, "program" | "args" | "cwd" | "env" | "input"> & {
  readonly stop?: AbortSignal;
  readonly maxBytes: number;
};

/** What git said, byte for byte; `code` is null if a signal ended it, `cut` if it had more to say than may be kept. */
export async function startGit({ program, args, cwd, env, input, stop, maxBytes }: GitStart): Promise<{
  code: number | null;
  stdout: Buffer;
  stderr: string;
  cut: boolean;
}> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    ...(stop && { signal: stop }),
    killSignal: "SIGKILL",
  });
  // A program that git started may outlive it and hold its pipes: `close` must not wait for that one.
  const dropPipes = () => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const kept: Buffer[] = [];
  let size = 0;
  let cut = false;
  child.stdout.on("data", (chunk: Buffer) => {
    kept.push(chunk.subarray(0, maxBytes - size));
    size = Math.min(maxBytes, size + chunk.length);
    if (size < maxBytes || cut) return;
    cut = true;
    child.kill("SIGKILL");
    dropPipes();
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(0, MAX_STDERR_CHARS);
  });
  // Git may end before it has read all of its input.
  child.stdin.on("error", () => {}).end(input ?? "");
  const ended = Promise.withResolvers<number | null>();
  const abort = () => {
    dropPipes();
    ended.reject(stop?.reason);
  };
  child.once("error", ended.reject).once("close", ended.resolve);
  stop?.addEventListener("abort", abort);
  const code = await ended.promise.finally(() => stop?.removeEventListener("abort", abort));
  return { code, stdout: Buffer.concat(kept), stderr, cut };
}
