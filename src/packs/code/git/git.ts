import { messageOf } from "../../../schema/error.ts";
import { splitWords } from "../../../tools/accept-words.ts";
import { defineTool, type Tool } from "../../../tools/tool.ts";
import { type Arguments, parseArguments, splitObject } from "./git-arguments.ts";
import { GIT_COMMANDS, type GitCommand } from "./git-commands.ts";
import { type AllowGitDir, worktreesIn } from "./git-folder.ts";
import { gitName, gitTarget, type PathTarget } from "./git-paths.ts";
import { READERS } from "./read-commands.ts";
import { openRepository } from "./run-git.ts";

type GitInput = { command: GitCommand; args?: string[] };

/** What the git tools are given by the host. */
export type GitToolOptions = {
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
  const [name, ...first] = typeof command === "string" ? splitWords(command.replace(/^\s*git\s+/, "")) : [];
  const given = typeof args === "string" && !args.trim().startsWith("[") ? splitWords(args) : args;
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
      const parsed = parsedOf(input);
      return typeof parsed === "string" ? parsed : null;
    },
    withSettings: (_, { dataDir }) => createGit({ allowGitDir: worktreesIn(dataDir) }),
    access: async (input, roots) => {
      const parsed = parsedOf(input);
      return typeof parsed === "string" ? [] : targetsOf(input, parsed, roots.projectDir);
    },
    execute: async (input, context) => {
      try {
        const parsed = parsedOf(input);
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

function parsedOf({ command, args = [] }: GitInput): Arguments | string {
  const parsed = parseArguments(command, GIT_COMMANDS[command], args);
  if (typeof parsed === "string" || command !== "blame" || parsed.paths.length > 0) return parsed;
  // `blame file` is what everyone writes.
  return { ...parsed, words: [], paths: parsed.words };
}

/** Every place the call names; the whole project if it names none. */
async function targetsOf(
  { command }: GitInput,
  { words, paths }: Arguments,
  projectDir: string,
): Promise<PathTarget[]> {
  const inside = command === "show" ? words.flatMap((word) => splitObject(word).path ?? []) : [];
  const all = [...paths, ...inside];
  return Promise.all((all.length > 0 ? all : ["."]).map((path) => gitTarget(path, { projectDir })));
}
