import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { GitFault } from "@retinue/core/git/exec-git";
import { type AllowGitDir, worktreesIn } from "@retinue/core/git/git-folder";
import { type CheckedRepository, openRepository, runGit } from "@retinue/core/git/run-git";
import { messageOf } from "@retinue/core/schema/error";
import { splitOptionWords } from "@retinue/core/tools/accept-words";
import { defineTool, type Roots, type Tool } from "@retinue/core/tools/tool";
import {
  type Arguments,
  GIT_COMMANDS,
  type GitCommand,
  gitName,
  gitTarget,
  type PathTarget,
  parseArguments,
  splitObject,
} from "./git-arguments.ts";
import { makeCommit } from "./make-commit.ts";
import { READERS } from "./read-commands.ts";
import { findHeadId, formatDiff } from "./read-diff.ts";

type GitInput = { command: GitCommand; args?: string[] };

/** What the git tools are given by the host. */
type GitToolOptions = {
  /** Knows the linked worktrees that Retinue made; without it every `.git` must be a folder in the project. */
  allowGitDir?: AllowGitDir;
};

const NAMES = Object.keys(GIT_COMMANDS) as GitCommand[];

/** Takes a whole command line, `git log --oneline -3`, and arguments in one text, for the command and a list. */
function acceptGit(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { command: named, args } = input;
  const words = typeof args === "string" ? args.trim().replace(/^git\s+/, "") : "";
  // Options alone are those of the log.
  if (named === undefined && words !== "")
    return acceptGit({
      command: NAMES.some((name) => words.split(/\s/)[0] === name) ? words : `log ${words}`,
    });
  const command = named;
  const [name, ...first] =
    typeof command === "string" ? splitOptionWords(command.replace(/^\s*git\s+/, "")) : [];
  const given = typeof args === "string" && !args.trim().startsWith("[") ? splitOptionWords(args) : args;
  if (name === undefined) return input;
  if (first.length === 0) return { command: name, ...(given !== undefined && { args: given }) };
  return { command: name, args: [...first, ...(Array.isArray(given) ? given : [])] };
}

/** Reads the repository of a project. The runtime takes the one that also knows the worktrees it made. */
export const git: Tool<GitInput> = createGit();

/** Creates the tool that reads a repository: what is in it, who changed it, and when. */
export function createGit({ allowGitDir }: GitToolOptions = {}): Tool<GitInput> {
  return defineTool<GitInput>({
    name: "git",
    description: "Reads the git repository. Paths come after --.",
    groups: ["git"],
    risk: "low",
    replay: "safe",
    input: {
      type: "object",
      properties: {
        command: { type: "string", enum: NAMES },
        args: {
          type: "array",
          maxItems: 600,
          items: { type: "string", maxLength: 4_000 },
          description: 'Such as ["-n", "5", "--", "src/main.ts"].',
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    words: { subcommand: "command", arguments: "args" },
    accept: acceptGit,
    check: (input) => {
      const parsed = parseInput(input);
      return typeof parsed === "string" ? parsed : null;
    },
    withSettings: (_, { dataDir }) => createGit({ allowGitDir: worktreesIn(dataDir) }),
    access: async (input, roots) => {
      const parsed = parseInput(input);
      return typeof parsed === "string" ? [] : findTargets(input, parsed, roots.projectDir);
    },
    execute: async (input, context) => {
      try {
        const parsed = parseInput(input);
        if (typeof parsed === "string") return { text: parsed, isError: true };
        const named = await Promise.all(parsed.paths.map((path) => gitTarget(path, context)));
        const paths = named.map(gitName);
        const repository = await openRepository(context.projectDir, { signal: context.signal, allowGitDir });
        return await READERS[input.command](repository, { ...parsed, paths }, context);
      } catch (thrown) {
        return { text: messageOf(thrown), isError: true };
      }
    },
  });
}

function parseInput({ command, args = [] }: GitInput): Arguments | string {
  const parsed = parseArguments(command, GIT_COMMANDS[command], args);
  if (typeof parsed === "string" || command !== "blame" || parsed.paths.length > 0) return parsed;
  // `blame file` is what everyone writes.
  return { ...parsed, words: [], paths: parsed.words };
}

/** Every place the call names; the whole project if it names none. */
async function findTargets(
  { command }: GitInput,
  { words, paths }: Arguments,
  projectDir: string,
): Promise<PathTarget[]> {
  const inside = command === "show" ? words.flatMap((word) => splitObject(word).path ?? []) : [];
  const all = [...paths, ...inside];
  return Promise.all((all.length > 0 ? all : ["."]).map((path) => gitTarget(path, { projectDir })));
}

type GitDiffInput = {
  from?: string;
  to?: string;
  commit?: string;
  staged?: boolean;
  path?: string;
  stat?: boolean;
};

const REVISION = { type: "string", minLength: 1, maxLength: 300 } as const;

/** Shows changes of a project. The runtime takes the one that also knows the worktrees it made. */
export const gitDiff: Tool<GitDiffInput> = createGitDiff();

/** Creates the tool that shows changes as a unified diff. */
export function createGitDiff({ allowGitDir }: GitToolOptions = {}): Tool<GitDiffInput> {
  return defineTool<GitDiffInput>({
    name: "git_diff",
    description:
      "Shows changes as a unified diff: of one commit, between two revisions, or, without either, all that is not committed.",
    groups: ["git"],
    risk: "low",
    replay: "safe",
    input: {
      type: "object",
      properties: {
        commit: { ...REVISION, description: "Of this commit, such as HEAD." },
        from: { ...REVISION, description: "HEAD by default." },
        to: { ...REVISION, description: "The working tree by default." },
        staged: { type: "boolean", description: "Only what is staged." },
        path: { type: "string", minLength: 1, description: "Only this file or folder." },
        stat: { type: "boolean", description: "Only the list of files." },
      },
      additionalProperties: false,
    },
    untold: ["staged"],
    check: ({ commit, from, to, staged }) => {
      if (commit !== undefined && (from !== undefined || to !== undefined || staged))
        return "git_diff: 'commit' stands alone; leave out from, to and staged";
      return to !== undefined && staged ? "git_diff: 'to' and 'staged' exclude each other" : null;
    },
    withSettings: (_, { dataDir }) => createGitDiff({ allowGitDir: worktreesIn(dataDir) }),
    access: async ({ path = "." }, roots) => [await gitTarget(path, roots)],
    execute: async ({ path, ...request }, context) => {
      try {
        const paths = path === undefined ? [] : [gitName(await gitTarget(path, context))];
        const repository = await openRepository(context.projectDir, { signal: context.signal, allowGitDir });
        return await formatDiff(repository, { ...request, paths }, context);
      } catch (thrown) {
        return { text: messageOf(thrown), isError: true };
      }
    },
  });
}

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
        const files = await listCommittable(input.paths, context);
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
async function listCommittable(
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
  repository: CheckedRepository,
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
  if ((await findHeadId(repository, signal)) === undefined) return undefined;
  const { stdout } = await runGit(repository, [...args, "--format=%h%x00%B%x00", "HEAD", "--"], { signal });
  const fields = stdout.split("\0");
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at + 1]?.split("\n").includes(trailer)) return fields[at]?.trim();
  }
  return undefined;
}
