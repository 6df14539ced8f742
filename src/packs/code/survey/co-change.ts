import { messageOf } from "../../../schema/error.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { placeOf } from "../files/place.ts";
import type { AllowGitDir } from "../git/git-folder.ts";
import { openRepository, runGit } from "../git/run-git.ts";

/** The files of each of the last commits, or why there is no history. */
export type History = { commits: readonly (readonly string[])[]; fault?: string };

/** How often a file changed in the same commits as another. */
export type Companion = { path: string; together: number; of: number };

const MAX_COMMITS = 500;
/** A commit of more files says nothing about which of them belong together. */
const MAX_COMMIT_FILES = 30;
const MAX_BYTES = 4_000_000;
const LEAST_TOGETHER = 2;
const LEAST_SHARE = 0.3;

/** Reads which files the last commits changed. */
export async function readHistory(context: ToolContext, allowGitDir?: AllowGitDir): Promise<History> {
  const { signal, projectDir } = context;
  if (placeOf(context).root !== projectDir) return { commits: [] };
  try {
    const repository = await openRepository(projectDir, { signal, allowGitDir });
    const { stdout } = await runGit(
      repository,
      [
        "log",
        `--max-count=${MAX_COMMITS}`,
        "--no-merges",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--name-only",
        "-z",
        "--format=%x01",
      ],
      { signal, maxBytes: MAX_BYTES },
    );
    const commits = stdout.split("\u0001").map((commit) => commit.split(/[\0\n]/).filter(Boolean));
    return { commits: commits.filter((files) => files.length > 0 && files.length <= MAX_COMMIT_FILES) };
  } catch (thrown) {
    signal.throwIfAborted();
    return { commits: [], fault: messageOf(thrown) };
  }
}

/** The files that changed in the same commits as this one, most often first. */
export function companionsOf(path: string, { commits }: History): Companion[] {
  const own = commits.filter((files) => files.includes(path));
  const counts = new Map<string, number>();
  for (const file of own.flat()) if (file !== path) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts]
    .filter(([, together]) => together >= LEAST_TOGETHER && together / own.length >= LEAST_SHARE)
    .map(([other, together]) => ({ path: other, together, of: own.length }))
    .sort((a, b) => b.together - a.together || (a.path < b.path ? -1 : 1));
}
