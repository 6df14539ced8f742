import { GitFault, type GitOutcome } from "@retinue/core/git/exec-git";
import type { AllowGitDir } from "@retinue/core/git/git-folder";
import { type CheckedRepository, type GitRun, openRepository, runGit } from "@retinue/core/git/run-git";
import type { ToolContext } from "@retinue/core/tools/tool";
import { fileTarget } from "./git-arguments.ts";

type GitOptions = Omit<GitRun, "signal">;

/** A project's repository for one call: git runs in it until the call is stopped, and the run's rights say what may be shown. */
export type CallRepository = CheckedRepository & {
  readonly signal: AbortSignal;
  git(args: readonly string[], options?: GitOptions): Promise<GitOutcome>;
  /** All of an answer whose parts end with a NUL each. */
  list(args: readonly string[], options?: GitOptions): Promise<string[]>;
  /** Whether the run may read a file that git named, relative to the project. */
  sees(file: string): boolean;
  refuseUnseen(file: string): void;
};

/** Opens the repository of a call's project; without rights nothing in it may be shown. */
export async function openForCall(
  {
    projectDir,
    signal,
    maySee,
  }: Pick<ToolContext, "projectDir" | "signal"> & Partial<Pick<ToolContext, "maySee">>,
  allowGitDir?: AllowGitDir,
): Promise<CallRepository> {
  const repository = await openRepository(projectDir, { signal, allowGitDir });
  const git: CallRepository["git"] = (args, options) => runGit(repository, args, { signal, ...options });
  const sees = (file: string) => maySee?.(fileTarget(file, repository.projectDir)) === true;
  return {
    ...repository,
    signal,
    git,
    sees,
    async list(args, options) {
      const { stdout } = await git(args, { whole: true, ...options });
      return stdout.split("\0").filter(Boolean);
    },
    refuseUnseen(file) {
      if (!sees(file)) throw new GitFault(`there is no right to read ${file}`);
    },
  };
}
