import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { pathTarget } from "../../../files/resolve-path.ts";
import { messageOf } from "../../../schema/error.ts";
import { defineTool, type Roots, type Tool } from "../../../tools/tool.ts";
import { GitFault } from "./exec-git.ts";
import type { GitToolOptions } from "./git.ts";
import { worktreesIn } from "./git-folder.ts";
import { gitTarget } from "./git-paths.ts";
import { makeCommit } from "./make-commit.ts";
import { openRepository, type Repository, runGit } from "./run-git.ts";

type GitCommitInput = { message: string; paths: string[] };

const MAX_PATHS = 500;
/** How far back a commit is looked for after a crash. */
const MAX_LOOKED_AT = 5_000;

/** Commits named files of a project. The runtime takes the one that also knows the worktrees it made. */
export const gitCommit: Tool<GitCommitInput> = createGitCommit();

/** Creates the tool that commits exactly the named files. */
export function createGitCommit({ allowGitDir }: GitToolOptions = {}): Tool<GitCommitInput> {
  return defineTool<GitCommitInput>({
    name: "git_commit",
    description:
      "Commits exactly the named files as they are now, deleted ones included; nothing else. Hooks are not run.",
    groups: ["git"],
    risk: "medium",
    replay: "lookup",
    input: {
      type: "object",
      properties: {
        message: {
          type: "string",
          minLength: 1,
          maxLength: 20_000,
          description: "A short first line, then more.",
        },
        paths: {
          type: "array",
          minItems: 1,
          maxItems: MAX_PATHS,
          items: { type: "string", minLength: 1 },
          description: "Files, not folders.",
        },
      },
      required: ["message", "paths"],
      additionalProperties: false,
    },
    words: { files: "paths", file_paths: "paths", path: "paths", commit_message: "message" },
    check: ({ message }) => {
      if (message.trim() === "") return "git_commit: the message is empty";
      if (message.includes("\0")) return "git_commit: the message holds a NUL character";
      return /^retinue-call\s*:/im.test(message)
        ? "git_commit: a line 'Retinue-Call:' is added by the host and cannot be given"
        : null;
    },
    withSettings: (_, { dataDir }) => createGitCommit({ allowGitDir: worktreesIn(dataDir) }),
    access: ({ paths }, roots) => Promise.all(paths.map((path) => pathTarget(path, "write", roots))),
    lookup: async (input, { signal, ...context }) => {
      const repository = await openRepository(context.projectDir, { signal, allowGitDir });
      const found = await findCommit(repository, callTrailer(input, context), signal);
      return found === undefined ? null : `committed as ${found} before the interruption`;
    },
    execute: async (input, context) => {
      try {
        const files = await committable(input.paths, context);
        const repository = await openRepository(context.projectDir, { signal: context.signal, allowGitDir });
        const message = fullMessage(input.message, callTrailer(input, context));
        return await makeCommit(repository, { files, message, maySee: context.maySee }, context.signal);
      } catch (thrown) {
        return { text: `nothing was committed: ${messageOf(thrown)}`, isError: true };
      }
    },
  });
}

/** The names git has for the files that were judged; one that is reached through a link is another file, and refused. */
async function committable(
  paths: readonly string[],
  { targets, projectDir }: { targets: readonly { kind: string }[]; projectDir: string },
): Promise<string[]> {
  const root = await realpath(projectDir);
  const judged = new Set(
    targets.flatMap((target) => ("path" in target && target.kind === "path" ? [String(target.path)] : [])),
  );
  const files: string[] = [];
  for (const path of paths) {
    const target = await gitTarget(path, { projectDir });
    if (target.root !== "project" || target.relative === "")
      throw new GitFault(`${path} is no file of the project`);
    if (!judged.has(target.path)) throw new GitFault(`${path} is a symbolic link or lies behind one`);
    files.push(relative(root, target.path).replaceAll("\\", "/"));
  }
  return [...new Set(files)];
}

/** The line by which a commit is known as that of one call; ids of calls repeat, so run and input are in it too. */
function callTrailer(
  input: { message: string; paths: readonly string[] },
  { callId, runId, workspaceDir }: Pick<Roots, "workspaceDir"> & { callId: string; runId: string },
): string {
  const what = JSON.stringify([workspaceDir, runId, callId, input.message, input.paths]);
  const hash = createHash("sha256").update(what).digest("hex").slice(0, 16);
  return `Retinue-Call: ${callId.replace(/[^\w.-]/g, "_")} ${hash}`;
}

/** A message as it is committed. */
function fullMessage(message: string, trailer: string): string {
  const lines = message.replace(/\r\n?/g, "\n").split("\n");
  return `${lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()}\n\n${trailer}\n`;
}

/** The short id of the commit that carries a trailer, on any branch. */
async function findCommit(
  repository: Repository,
  trailer: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const args = [
    "log",
    "--all",
    "--no-show-signature",
    `--max-count=${MAX_LOOKED_AT}`,
    "--fixed-strings",
    `--grep=${trailer}`,
  ];
  const head = await runGit(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], {
    signal,
    accept: [0, 1, 128],
  });
  if (!head.stdout.trim()) return undefined;
  const { stdout } = await runGit(repository, [...args, "--format=%h%x00%B%x00", "HEAD", "--"], { signal });
  const fields = stdout.split("\0");
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at + 1]?.split("\n").includes(trailer)) return fields[at]?.trim();
  }
  return undefined;
}
