import { messageOf } from "../../../schema/error.ts";
import { defineTool, type Tool } from "../../../tools/tool.ts";
import type { GitToolOptions } from "./git.ts";
import { worktreesIn } from "./git-folder.ts";
import { gitName, gitTarget } from "./git-paths.ts";
import { diffText } from "./read-diff.ts";
import { openRepository } from "./run-git.ts";

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
        return await diffText(repository, { ...request, paths }, context);
      } catch (thrown) {
        return { text: messageOf(thrown), isError: true };
      }
    },
  });
}
