import { readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/**
 * Where git keeps what belongs to a linked worktree, so that its commands can read it; none for any other folder. What a
 * `.git` file says counts only if the repository it names knows this folder: else any folder could open any repository.
 */
export async function linkedRepository(projectDir: string): Promise<string[]> {
  try {
    const [, named = ""] = /^gitdir: (.+)\n?$/.exec(await readFile(join(projectDir, ".git"), "utf8")) ?? [];
    if (named === "") return [];
    const gitDir = await realpath(resolve(projectDir, named));
    const known = (await readFile(join(gitDir, "gitdir"), "utf8")).trim();
    const common = (await readFile(join(gitDir, "commondir"), "utf8")).trim();
    const repository = await realpath(resolve(gitDir, common));
    const isKnown = (await realpath(dirname(resolve(gitDir, known)))) === projectDir;
    return isKnown && dirname(gitDir) === join(repository, "worktrees") ? [repository] : [];
  } catch {
    return [];
  }
}
