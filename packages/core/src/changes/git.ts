import { findGit, safePath, startGit } from "../git/exec-git.ts";
import { configEnv, neutralConfig } from "../git/neutral-config.ts";

/** How one call of git differs from the usual. */
export type GitCall = {
  /** Where it runs; no program is looked for in this folder. */
  cwd: string;
  env?: Readonly<Record<string, string>>;
  input?: string | Uint8Array;
  /** Exit codes that are answers and not failures; 0 always is one. */
  expect?: (code: number) => boolean;
};

/** What git said, byte for byte. */
export type GitAnswer = { code: number; stdout: Buffer; stderr: string };

const MAX_BYTES = 1024 * 1024 * 1024;

/**
 * A repository's own configuration can name programs. These leave none of them in force for the plumbing used here,
 * which neither checks out nor diffs through attributes; where attributes matter, the repository is one of our own.
 */
const CONFIG = configEnv(
  new Map([
    ...neutralConfig([]),
    ["core.sparseCheckout", "false"],
    ["core.attributesFile", "/dev/null"],
    ["extensions.worktreeConfig", "false"],
  ]),
);

/** Nothing of the caller's git environment and configuration, no network, no questions. */
const ENV = {
  HOME: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_AUTHOR_NAME: "Retinue",
  GIT_AUTHOR_EMAIL: "retinue@localhost",
  GIT_COMMITTER_NAME: "Retinue",
  GIT_COMMITTER_EMAIL: "retinue@localhost",
  LC_ALL: "C",
  ...CONFIG,
};

/** Runs git with an argument list, no shell, and nothing of the person's or a repository's configuration that acts. */
export async function runShadowGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
  const path = safePath(call.cwd);
  const { cwd, input } = call;
  const env = { PATH: path, ...ENV, ...call.env };
  const program = await findGit(path);
  const { cut, ...ended } = await startGit({
    program,
    args,
    cwd,
    env,
    maxBytes: MAX_BYTES,
    input,
  });
  if (cut) throw new Error(`git wrote more than ${MAX_BYTES} bytes`);
  const answer = { ...ended, code: ended.code ?? 255 };
  if (answer.code === 0 || call.expect?.(answer.code)) return answer;
  const said = answer.stderr.trim().split("\n").slice(-3).join("; ").slice(0, 500);
  const command = args.find((word, index) => !word.startsWith("-") && args[index - 1] !== "-c");
  throw new Error(`git ${command} failed: ${said}`);
}

/** Whether there is a git that may be used in a folder. */
export function hasGit(folder: string): Promise<boolean> {
  return findGit(safePath(folder)).then(
    () => true,
    () => false,
  );
}

/** The parts of output that NUL bytes end. */
export function splitNul(output: Buffer): string[] {
  const parts = output.toString("utf8").split("\0");
  parts.pop();
  return parts;
}

/** One file as the shadow knows it: git's mode and the name of its content. */
export type ShadowEntry = { mode: "100644" | "100755" | "120000"; oid: string };

/** The files that a listing of git names, each line in the given form. */
export function entriesOf(output: Buffer, form: RegExp): Map<string, ShadowEntry> {
  const entries = new Map<string, ShadowEntry>();
  for (const line of splitNul(output)) {
    const [, mode = "", oid = "", path = ""] = form.exec(line) ?? [];
    if (mode === "100644" || mode === "100755" || mode === "120000") entries.set(path, { mode, oid });
  }
  return entries;
}
