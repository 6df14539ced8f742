import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { GitFault } from "@retinue/core/git/exec-git";
import { type AllowGitDir, worktreesIn } from "@retinue/core/git/git-folder";
import { messageOf } from "@retinue/core/schema/error";
import { flag, oneOf, type Shape, type TypeIn, textWith } from "@retinue/core/schema/shape";
import { splitOptionWords } from "@retinue/core/tools/accept-words";
import {
  defineTool,
  type Roots,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { type CallRepository, openForCall } from "./call-repository.ts";
import {
  type Arguments,
  gitName,
  gitTarget,
  type PathTarget,
  parseArguments,
  splitObject,
} from "./git-arguments.ts";
import { makeCommit } from "./make-commit.ts";
import { GIT_COMMANDS, type GitCommand } from "./read-commands.ts";
import { findHeadId, formatDiff } from "./read-diff.ts";

/** What is special about one of the git tools. */
type GitToolDefinition<Input> = Omit<
  ToolDefinition<Input>,
  "groups" | "withSettings" | "lookup" | "execute"
> & {
  /** Goes before the reason why a call failed. */
  readonly failed?: string;
  run(input: Input, context: ToolContext, open: () => Promise<CallRepository>): Promise<string>;
  /** For `replay: "lookup"`. */
  find?(repository: CallRepository, input: Input, context: LookupContext): Promise<string | null>;
};
type LookupContext = Parameters<NonNullable<Tool["lookup"]>>[1];

/**
 * Declares a tool on the project's repository. The runtime takes the one of its settings, which also knows the linked worktrees
 * that Retinue made; without `allowGitDir` every `.git` must be a folder in the project.
 */
function defineGitTool<Input>(definition: GitToolDefinition<Input>, allowGitDir?: AllowGitDir): Tool<Input> {
  const { run, find, failed = "", ...rest } = definition;
  return defineTool<Input>({
    ...rest,
    groups: ["git"],
    withSettings: (_, { dataDir }) => defineGitTool(definition, worktreesIn(dataDir)),
    ...(find && {
      lookup: async (input, context) => find(await openForCall(context, allowGitDir), input, context),
    }),
    execute: async (input, context) => {
      try {
        return await run(input, context, () => openForCall(context, allowGitDir));
      } catch (thrown) {
        return { text: `${failed}${messageOf(thrown)}`, isError: true };
      }
    },
  });
}

const NAMES = Object.keys(GIT_COMMANDS) as GitCommand[];

const ARGS: Shape<readonly string[]> = {
  type: "array",
  maxItems: 600,
  items: textWith({ maxLength: 4_000 }),
  description: 'Such as ["-n", "5", "--", "src/main.ts"].',
};
const GIT_INPUT = describeInput({ command: { type: "string", ...oneOf(...NAMES) }, "args?": ARGS });
type GitInput = TypeIn<typeof GIT_INPUT>;

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

/** Reads the repository of a project: what is in it, who changed it, and when. */
export const git = defineGitTool<GitInput>({
  name: "git",
  description: "Reads the git repository. Paths come after --.",
  risk: "low",
  replay: "safe",
  input: GIT_INPUT,
  words: { subcommand: "command", arguments: "args" },
  accept: acceptGit,
  check: (input) => {
    const parsed = parseInput(input);
    return typeof parsed === "string" ? parsed : null;
  },
  access: async (input, roots) => {
    const parsed = parseInput(input);
    return typeof parsed === "string" ? [] : findTargets(input, parsed, roots.projectDir);
  },
  run: async (input, context, open) => {
    const parsed = parseInput(input);
    if (typeof parsed === "string") throw new GitFault(parsed);
    const named = await Promise.all(parsed.paths.map((path) => gitTarget(path, context)));
    return GIT_COMMANDS[input.command].read(await open(), { ...parsed, paths: named.map(gitName) });
  },
});

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

const REVISION = textWith({ minLength: 1, maxLength: 300 });

const GIT_DIFF_INPUT = describeInput({
  "commit?": { ...REVISION, description: "Of this commit, such as HEAD." },
  "from?": { ...REVISION, description: "HEAD by default." },
  "to?": { ...REVISION, description: "The working tree by default." },
  "staged?": { ...flag, description: "Only what is staged." },
  "path?": { ...textWith({ minLength: 1 }), description: "Only this file or folder." },
  "stat?": { ...flag, description: "Only the list of files." },
});

/** Shows changes of a project as a unified diff. */
export const gitDiff = defineGitTool<TypeIn<typeof GIT_DIFF_INPUT>>({
  name: "git_diff",
  description:
    "Shows changes as a unified diff: of one commit, between two revisions, or, without either, all that is not committed.",
  risk: "low",
  replay: "safe",
  input: GIT_DIFF_INPUT,
  untold: ["staged"],
  check: ({ commit, from, to, staged }) => {
    if (commit !== undefined && (from !== undefined || to !== undefined || staged))
      return "git_diff: 'commit' stands alone; leave out from, to and staged";
    return to !== undefined && staged ? "git_diff: 'to' and 'staged' exclude each other" : null;
  },
  access: async ({ path = "." }, roots) => [await gitTarget(path, roots)],
  run: async ({ path, ...request }, context, open) => {
    const paths = path === undefined ? [] : [gitName(await gitTarget(path, context))];
    return formatDiff(await open(), { ...request, paths });
  },
});

const MAX_PATHS = 500;
/** How far back a commit is looked for after a crash. */
const MAX_LOOKED_AT = 5_000;

const PATHS: Shape<readonly string[]> = {
  type: "array",
  minItems: 1,
  maxItems: MAX_PATHS,
  items: textWith({ minLength: 1 }),
  description: "Files, not folders.",
};
const GIT_COMMIT_INPUT = describeInput({
  message: {
    ...textWith({ minLength: 1, maxLength: 20_000 }),
    description: "A short first line, then more.",
  },
  paths: PATHS,
});
type GitCommitInput = TypeIn<typeof GIT_COMMIT_INPUT>;

/** Commits exactly the named files of a project. */
export const gitCommit = defineGitTool<GitCommitInput>({
  name: "git_commit",
  description:
    "Commits exactly the named files as they are now, deleted ones included; nothing else. Hooks are not run.",
  failed: "nothing was committed: ",
  risk: "medium",
  replay: "lookup",
  input: GIT_COMMIT_INPUT,
  words: { files: "paths", file_paths: "paths", path: "paths", commit_message: "message" },
  check: ({ message }) => {
    if (message.trim() === "") return "git_commit: the message is empty";
    if (message.includes("\0")) return "git_commit: the message holds a NUL character";
    return /^retinue-call\s*:/im.test(message)
      ? "git_commit: a line 'Retinue-Call:' is added by the host and cannot be given"
      : null;
  },
  access: ({ paths }, roots) => Promise.all(paths.map((path) => pathTarget(path, "write", roots))),
  find: async (repository, input, context) => {
    const found = await findCommit(repository, callTrailer(input, context));
    return found === undefined ? null : `committed as ${found} before the interruption`;
  },
  run: async (input, context, open) => {
    const files = await listCommittable(input.paths, context);
    const message = fullMessage(input.message, callTrailer(input, context));
    return makeCommit(await open(), { files, message });
  },
});

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
  input: GitCommitInput,
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
async function findCommit(repository: CallRepository, trailer: string): Promise<string | undefined> {
  if ((await findHeadId(repository)) === undefined) return undefined;
  const choice = ["--all", `--max-count=${MAX_LOOKED_AT}`, "--fixed-strings", `--grep=${trailer}`];
  const form = ["--no-show-signature", "--format=%h%x00%B%x00"];
  const { stdout } = await repository.git(["log", ...choice, ...form, "HEAD", "--"]);
  const fields = stdout.split("\0");
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at + 1]?.split("\n").includes(trailer)) return fields[at]?.trim();
  }
  return undefined;
}
