import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { GitFault } from "./exec-git.ts";

/** Where a repository keeps its own files: `commonDir` differs from `gitDir` in a linked worktree only. */
export type GitFolder = { readonly projectDir: string; readonly gitDir: string; readonly commonDir: string };

/** Whether a linked worktree is one that Retinue made, and its folder may be used although it is not in the project. */
export type AllowGitDir = (folder: GitFolder) => boolean | Promise<boolean>;

/** Knows the worktrees that Retinue keeps in its data folder, where no agent can make one. */
export function worktreesIn(dataDir: string): AllowGitDir {
  return async ({ projectDir }) => {
    const folder = await realpath(join(dataDir, "worktrees")).catch(() => undefined);
    return folder !== undefined && projectDir.startsWith(folder + sep);
  };
}

const MAX_POINTER_BYTES = 4_096;
/** Folders of a repository whose content git never writes; what links to them is harmless. */
const MAY_BE_LINKS = new Set(["hooks"]);

/**
 * Finds the repository of a project: a real `.git` folder right in it, with nothing in it that leads elsewhere. A `.git`
 * that points out of the project is refused, unless it is a true linked worktree that `allowGitDir` knows.
 */
export async function findGitFolder(project: string, allowGitDir?: AllowGitDir): Promise<GitFolder> {
  const projectDir = await realpath(project);
  const dotGit = join(projectDir, ".git");
  const stats = await lstat(dotGit).catch(() => null);
  if (!stats) throw new GitFault("the project's folder is not a git repository (it has no .git of its own)");
  if (stats.isSymbolicLink()) throw new GitFault("refused: .git is a symbolic link");
  if (stats.isFile()) return linkedWorktree(projectDir, dotGit, allowGitDir);
  if (!stats.isDirectory()) throw new GitFault("refused: .git is neither a folder nor a file");
  await refuseLinks(dotGit);
  if (await lstat(join(dotGit, "commondir")).catch(() => null))
    throw new GitFault("refused: .git/commondir leads to another repository");
  return { projectDir, gitDir: dotGit, commonDir: dotGit };
}

async function linkedWorktree(
  projectDir: string,
  dotGit: string,
  allowGitDir?: AllowGitDir,
): Promise<GitFolder> {
  const refused = new GitFault("refused: .git is a file that leads to a repository outside the project");
  const gitDir = await pointer(dotGit, projectDir, "gitdir: ");
  const commonDir = gitDir && (await pointer(join(gitDir, "commondir"), gitDir));
  const back = gitDir && (await pointer(join(gitDir, "gitdir"), gitDir));
  if (!gitDir || !commonDir || back !== dotGit || dirname(dirname(gitDir)) !== commonDir) throw refused;
  const folder = { projectDir, gitDir, commonDir };
  if (!(await allowGitDir?.(folder))) throw refused;
  await refuseLinks(gitDir);
  await refuseLinks(commonDir);
  return folder;
}

/** The real path that a small file names; undefined if there is none. */
async function pointer(file: string, base: string, prefix = ""): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => null);
  if (!stats?.isFile() || stats.size > MAX_POINTER_BYTES) return undefined;
  const text = await readFile(file, "utf8");
  if (!text.startsWith(prefix)) return undefined;
  return realpath(resolve(base, text.slice(prefix.length).trimEnd())).catch(() => undefined);
}

/** A link among git's own files would let it read or write elsewhere. */
async function refuseLinks(gitDir: string): Promise<void> {
  for (const folder of [gitDir, join(gitDir, "objects")]) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isSymbolicLink() && !MAY_BE_LINKS.has(entry.name))
        throw new GitFault(`refused: ${below(gitDir, join(folder, entry.name))} is a symbolic link`);
    }
  }
}

/** Refuses if any part of a path below a git folder is a link; for files that a command is about to write. */
export async function refuseLinkedPath(gitDir: string, path: string): Promise<void> {
  let at = gitDir;
  for (const name of path.split("/")) {
    at = join(at, name);
    const stats = await lstat(at).catch(() => null);
    if (!stats) return;
    if (stats.isSymbolicLink()) throw new GitFault(`refused: ${below(gitDir, at)} is a symbolic link`);
  }
}

function below(gitDir: string, path: string): string {
  return `.git${path.slice(gitDir.length).replaceAll(sep, "/")}`;
}
