import { devNull } from "node:os";
import { execGit, findGit, GitFault, type GitOutcome, safePath } from "./exec-git.ts";
import { type AllowGitDir, findGitFolder, type GitFolder } from "./git-folder.ts";
import { configEnv, filtersIn, neutralConfig } from "./neutral-config.ts";

/** A repository whose place was checked and whose configuration cannot run anything. */
export type CheckedRepository = GitFolder & {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Filters that its configuration defines and that are not run. */
  readonly filters: readonly string[];
};

/** What one run of git may use besides the repository. */
export type GitRun = {
  readonly signal: AbortSignal;
  readonly input?: string | Uint8Array;
  /** An index of its own, so that the repository's is not touched. */
  readonly indexFile?: string;
  /** Who commits, and when. */
  readonly identity?: Readonly<Record<string, string>>;
  /** It is meant to change the repository; a reader takes no lock. */
  readonly writes?: boolean;
  /** False for the few commands that do not know the option; their paths must not look like patterns then. */
  readonly literal?: boolean;
  /** Half an answer would be a wrong one: more than can be held is a fault. */
  readonly whole?: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Exit codes that are no fault; 0 if absent. */
  readonly accept?: readonly number[];
};

/** Earlier versions do not know the settings by which a repository's own are overruled. */
const OLDEST = [2, 32] as const;

const MAX_WHOLE_BYTES = 256 * 1024 * 1024;

const versions = new Map<string, Promise<void>>();

/** Opens the repository of a project; throws a `GitFault` with the reason if that is not safe. */
export async function openRepository(
  projectDir: string,
  { signal, allowGitDir }: { signal: AbortSignal; allowGitDir?: AllowGitDir | undefined },
): Promise<CheckedRepository> {
  const folder = await findGitFolder(projectDir, allowGitDir);
  const path = safePath(folder.projectDir);
  const program = await findGit(path);
  await checkVersion(program, path);
  const bare = { ...folder, program, filters: [], env: gitEnv(folder, path, neutralConfig([])) };
  const { stdout } = await runGit(bare, ["config", "--list", "--name-only", "--includes", "-z"], {
    signal,
    whole: true,
  });
  const names = stdout.split("\0");
  try {
    return { ...bare, filters: filtersIn(names), env: gitEnv(folder, path, neutralConfig(names)) };
  } catch (thrown) {
    throw new GitFault(`refused: ${(thrown as Error).message}`);
  }
}

/** Runs git in a repository. Throws a `GitFault` with git's own words if it ends with a code that is not accepted. */
export async function runGit(
  repository: CheckedRepository,
  args: readonly string[],
  run: GitRun,
): Promise<GitOutcome> {
  const { indexFile, identity, writes = false, literal = true, whole = false, accept = [0], ...rest } = run;
  const outcome = await execGit({
    ...(whole && { maxBytes: MAX_WHOLE_BYTES }),
    ...rest,
    program: repository.program,
    args: ["--no-pager", ...(literal ? ["--literal-pathspecs"] : []), ...args],
    cwd: repository.projectDir,
    env: {
      ...repository.env,
      ...identity,
      ...(indexFile && { GIT_INDEX_FILE: indexFile }),
      GIT_OPTIONAL_LOCKS: writes ? "1" : "0",
    },
  });
  if (whole && outcome.cut) throw new GitFault(`git ${args[0]}: there is too much to tell; ask for less`);
  if (accept.includes(outcome.code)) return outcome;
  throw new GitFault(faultOf(outcome, args[0] ?? "", repository));
}

/**
 * The whole environment of git: nothing of the process's own but the PATH and the time zone. The folders are named, so
 * that neither a search upward nor `core.worktree` decides them; no transport is allowed, so that a partial clone that
 * lacks an object fetches nothing.
 */
function gitEnv(
  folder: GitFolder,
  path: string,
  config: ReadonlyMap<string, string>,
): Record<string, string> {
  const { TZ } = process.env;
  return {
    PATH: path,
    HOME: devNull,
    LC_ALL: "C",
    ...(TZ !== undefined && { TZ }),
    GIT_DIR: folder.gitDir,
    GIT_WORK_TREE: folder.projectDir,
    ...(folder.commonDir !== folder.gitDir && { GIT_COMMON_DIR: folder.commonDir }),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    ...configEnv(config),
  };
}

async function checkVersion(program: string, path: string): Promise<void> {
  const known = versions.get(program) ?? readVersion(program, path);
  versions.set(program, known);
  await known.catch((thrown: unknown) => {
    versions.delete(program);
    throw thrown;
  });
}

async function readVersion(program: string, path: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const { stdout } = await execGit({
    program,
    args: ["version"],
    cwd: "/",
    env: { PATH: path, LC_ALL: "C" },
    signal,
  });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (!isNew) throw new GitFault(`git ${major}.${minor} is too old; ${OLDEST.join(".")} or newer is needed`);
}

/** Git's words without paths of the host. */
function faultOf(
  { stderr, code }: GitOutcome,
  command: string,
  { projectDir, gitDir }: CheckedRepository,
): string {
  const words = stderr.replaceAll(gitDir, ".git").replaceAll(projectDir, ".");
  return `git ${command}: ${words || `ended with code ${code}`}`;
}
