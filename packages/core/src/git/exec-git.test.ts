import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { execGit, findGit, safePath } from "./exec-git.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-exec-git-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A program in the place of git. */
function makeProgram(script: string): string {
  const program = join(root, "git");
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return program;
}
const run = (
  script: string,
  more: { maxBytes?: number; timeoutMs?: number; signal?: AbortSignal; input?: string } = {},
) =>
  execGit({
    program: makeProgram(script),
    args: ["one", "two three"],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", ONLY: "this" },
    signal: new AbortController().signal,
    ...more,
  });

test("no program is looked for in the project, in what lies below it or in a relative folder", () => {
  const path = ["/usr/bin", "/project", "/project/bin", "/project-2/bin", "bin", "."].join(":");
  expect(safePath("/project", path)).toBe("/usr/bin:/project-2/bin");
});

test("git is the first program of that name that can be run", async () => {
  const [plain, real] = [join(root, "a"), join(root, "b")];
  for (const folder of [plain, real]) {
    mkdirSync(folder);
    writeFileSync(join(folder, "git"), "", { mode: 0o755 });
  }
  chmodSync(join(plain, "git"), 0o644);
  expect(await findGit(`${plain}:${real}`)).toBe(join(real, "git"));
  await expect(findGit(plain)).rejects.toThrow("git is not installed here");
});

test("arguments come as they are, the environment is what was given, and a failure is its code with git's words", async () => {
  expect(await run('printf "%s|" "$@"; echo "$ONLY|$HOME"; echo sorry >&2; exit 3')).toEqual({
    code: 3,
    stdout: "one|two three|this|\n",
    stderr: "sorry",
    cut: false,
  });
});

test("what is too long is cut, and that is no failure", async () => {
  const outcome = await run("exec yes", { maxBytes: 10 });
  expect(outcome).toMatchObject({ code: 0, cut: true });
  expect(outcome.stdout).toHaveLength(10);
});

test("a program that takes too long, or whose run is stopped, is killed", async () => {
  await expect(run("exec sleep 100", { timeoutMs: 20 })).rejects.toThrow("git took longer than 0.02 s");
  const stop = new AbortController();
  const running = run("exec sleep 100", { signal: stop.signal });
  stop.abort();
  await expect(running).rejects.toThrow(/abort/i);
});

test("a program that does not read its input is no fault", async () => {
  expect(await run("exit 0", { input: "x".repeat(1_000_000) })).toMatchObject({ code: 0 });
});

test("a program that git started and that keeps its output open is not waited for once the output is cut", async () => {
  const outcome = await run('sleep 1000 & echo "$!" >left; exec yes', { maxBytes: 10 });
  process.kill(Number(readFileSync(join(root, "left"), "utf8")));
  expect(outcome).toMatchObject({ code: 0, cut: true });
});

test("a program that git started and that keeps its output open is not waited for once the run is stopped", async () => {
  const stop = new AbortController();
  const running = run('sleep 1000 & echo "$$ $!" >pids; mv pids left', { signal: stop.signal });
  const file = join(root, "left");
  while (!existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
  const [ended = 0, left = 0] = readFileSync(file, "utf8").split(" ").map(Number);
  while (isAlive(ended)) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await expect(running).rejects.toThrow(/abort/i);
  process.kill(left);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
