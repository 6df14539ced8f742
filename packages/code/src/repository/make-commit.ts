import { lstat, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openForReading } from "@retinue/core/files/open-inside";
import { execGit, GitFault } from "@retinue/core/git/exec-git";
import { refuseLinkedPath } from "@retinue/core/git/git-folder";
import type { CallRepository } from "./call-repository.ts";
import { findHeadId } from "./read-diff.ts";

/** What is to be committed: files as git names them. */
type CommitRequest = { readonly files: readonly string[]; readonly message: string };

type Entry = { file: string; mode: string; id: string };

const MAX_LEFT_NAMED = 20;
const MAX_FILE_BYTES = 100 * 1024 * 1024;
/** Files in git's folder that stand there while something is half done. */
const HALF_DONE: Readonly<Record<string, string>> = {
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  BISECT_LOG: "a bisection",
};

/**
 * Commits the files and nothing else. What they hold is read here and not by git, so that no link swapped in between leads
 * elsewhere. The tree is made in an index of its own; the repository's index is brought up to date for these files before
 * the branch moves, so that a crash leaves at worst files that are staged.
 */
export async function makeCommit(
  repository: CallRepository,
  { files, message }: CommitRequest,
): Promise<string> {
  await refuseHalfDone(repository);
  await refuseFiltered(repository, files);
  const branch = await findBranch(repository);
  const head = await findHeadId(repository);
  const folder = await mkdtemp(join(tmpdir(), "retinue-index-"));
  try {
    const own = withIndex(repository, join(folder, "index"));
    await own.git(head ? ["read-tree", head] : ["read-tree", "--empty"]);
    const entries = await stageFiles(own, files);
    const info = entries.map(({ file, mode, id }) => `${mode} ${id}\t${file}\0`).join("");
    const update = ["update-index", "--add", "-z", "--index-info"];
    await own.git(update, { input: info });
    const tree = (await own.git(["write-tree"])).stdout.trim();
    if (head && tree === (await own.git(["rev-parse", `${head}^{tree}`])).stdout.trim())
      throw new GitFault("the named files are as they are in HEAD");
    const identity = await findIdentity(repository);
    const parents = head ? ["-p", head] : [];
    const made = await own.git(["commit-tree", tree, ...parents, "-F", "-"], { identity, input: message });
    const commit = made.stdout.trim();
    await repository.git(update, { writes: true, input: info });
    const reason = `commit: ${message.split("\n")[0]}`;
    const expected = head ?? "0".repeat(commit.length);
    const move = ["update-ref", "-m", reason, "HEAD", commit, expected];
    await repository.git(move, { writes: true, identity });
    const left = await findLeft(repository).catch(() => "");
    return `${await reportCommit(repository, { commit, branch, head })}${left}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same repository with another index. */
function withIndex(repository: CallRepository, indexFile: string): CallRepository {
  const own = { indexFile, writes: true };
  return {
    ...repository,
    git: (args, options) => repository.git(args, { ...own, ...options }),
    list: (args, options) => repository.list(args, { ...own, ...options }),
  };
}

async function refuseHalfDone({ gitDir, list }: CallRepository): Promise<void> {
  for (const [name, what] of Object.entries(HALF_DONE)) {
    if (await lstat(join(gitDir, name)).catch(() => null))
      throw new GitFault(`${what} is under way in this repository; it must be finished or given up first`);
  }
  if ((await list(["ls-files", "--unmerged", "-z"])).length > 0)
    throw new GitFault("the repository has conflicts that are not resolved");
}

/** Without its filter a file such as one of Git LFS would be committed in the wrong form. */
async function refuseFiltered({ git }: CallRepository, files: readonly string[]): Promise<void> {
  const input = files.map((file) => `${file}\0`).join("");
  const { stdout } = await git(["check-attr", "-z", "--stdin", "filter"], { input, whole: true });
  // Three to a file, of which the value may be empty.
  const fields = stdout.split("\0");
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const value = fields[at + 2] ?? "";
    if (!["unspecified", "unset", "set"].includes(value))
      throw new GitFault(
        `${fields[at]} goes through the filter '${value}', which is a program and is not run here`,
      );
  }
}

/** The branch that will move, or undefined if HEAD is detached; git's files that tell of it must be its own. */
async function findBranch({ git, gitDir, commonDir }: CallRepository): Promise<string | undefined> {
  const { stdout } = await git(["symbolic-ref", "--quiet", "HEAD"], { accept: [0, 1] });
  const branch = stdout.trim();
  for (const name of ["HEAD", "logs/HEAD", "index"]) await refuseLinkedPath(gitDir, name);
  if (!branch) return undefined;
  if (!branch.startsWith("refs/heads/")) throw new GitFault(`HEAD is at ${branch}, which is no branch`);
  for (const name of [branch, `logs/${branch}`]) await refuseLinkedPath(commonDir, name);
  return branch.slice("refs/heads/".length);
}

async function stageFiles(repository: CallRepository, files: readonly string[]): Promise<Entry[]> {
  const { git, projectDir } = repository;
  const tracked = await listTracked(repository);
  await refuseIgnored(
    repository,
    files.filter((file) => !tracked.has(file)),
  );
  const fileMode = await git(["config", "--type=bool", "--default=true", "core.fileMode"]);
  const keepsModes = fileMode.stdout.trim() === "false";
  const entries: Entry[] = [];
  for (const file of files) {
    repository.refuseUnseen(file);
    const known = tracked.get(file);
    const content = await readContent(projectDir, file, known !== undefined);
    if (content === null) {
      if (!known) throw new GitFault(`there is no file ${file}, and none of that name is in the repository`);
      entries.push({ file, mode: "0", id: "0".repeat(known.id.length) });
      continue;
    }
    const hashing = ["hash-object", "-w", "--stdin", `--path=${file}`];
    const hashed = await git(hashing, { input: content.bytes });
    const mode = keepsModes && known ? known.mode : content.isExecutable ? "100755" : "100644";
    entries.push({ file, mode, id: hashed.stdout.trim() });
  }
  // What is gone makes room first: a folder may be where a file was.
  return entries.toSorted((a, b) => Number(b.mode === "0") - Number(a.mode === "0"));
}

async function listTracked({ list }: CallRepository): Promise<Map<string, { mode: string; id: string }>> {
  const entries = await list(["ls-files", "--stage", "-z"]);
  return new Map(
    entries.map((entry) => {
      const [mode = "", id = ""] = entry.split(" ");
      return [entry.slice(entry.indexOf("\t") + 1), { mode, id }];
    }),
  );
}

async function refuseIgnored({ list, projectDir }: CallRepository, files: readonly string[]): Promise<void> {
  for (const file of files) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      if (await lstat(join(projectDir, folder, ".git")).catch(() => null))
        throw new GitFault(`${file} belongs to another repository, ${folder}`);
    }
  }
  if (files.length === 0) return;
  // A name that begins so is a name, whatever it looks like.
  const input = files.map((file) => `./${file}\0`).join("");
  const asked = { input, accept: [0, 1], literal: false };
  const [ignored] = await list(["check-ignore", "-z", "--stdin"], asked);
  if (ignored) throw new GitFault(`${ignored.slice(2)} is ignored by .gitignore`);
}

/** What a file holds now; null if it is gone, or if something else is in its place. */
async function readContent(
  root: string,
  file: string,
  wasFile: boolean,
): Promise<{ bytes: Uint8Array; isExecutable: boolean } | null> {
  try {
    await using handle = await openForReading(root, join(root, file));
    const { size, mode } = await handle.stat();
    if (size > MAX_FILE_BYTES)
      throw new GitFault(`${file} has ${size} bytes; at most ${MAX_FILE_BYTES} are committed`);
    return { bytes: await handle.readFile(), isExecutable: (mode & 0o100) !== 0 };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    const stats = await lstat(join(root, file)).catch(() => null);
    if (wasFile && (!stats || stats.isDirectory())) return null;
    if (!stats?.isDirectory()) throw thrown;
    throw new GitFault(`${file} is a folder; name files`);
  }
}

/** Names tracked files that are changed and not committed, as far as the run may see them. */
async function findLeft({ list, sees }: CallRepository): Promise<string> {
  const form = ["--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty", "--untracked-files=no"];
  const files = (await list(["status", ...form])).map((entry) => entry.slice(3)).filter(sees);
  if (files.length === 0) return "";
  const more = files.length > MAX_LEFT_NAMED ? ` and ${files.length - MAX_LEFT_NAMED} more` : "";
  return `\nchanged, and not in this commit: ${files.slice(0, MAX_LEFT_NAMED).join(", ")}${more}`;
}

const CHANGED_FILES =
  "diff-tree --root --no-commit-id -r --no-ext-diff --no-textconv --no-renames --name-status -z".split(" ");

async function reportCommit(
  { git, sees }: CallRepository,
  { commit, branch, head }: { commit: string; branch: string | undefined; head: string | undefined },
): Promise<string> {
  const { stdout } = await git([...CHANGED_FILES, commit], { whole: true });
  // A file that took a folder's place removes what was in it, also what may not be read.
  const files = [...stdout.matchAll(/([^\0]+)\0([^\0]+)\0/g)].flatMap(([, kind, file = ""]) =>
    sees(file) ? [`${kind}\t${file}`] : [],
  );
  const where = branch === undefined ? "HEAD is detached: the commit is on no branch" : `on ${branch}`;
  return `committed ${commit.slice(0, 12)} ${where}${head ? "" : " (the first commit)"}\n${files.join("\n")}`;
}

const DEFAULT_NAME = "Retinue";
const DEFAULT_EMAIL = "retinue@localhost";

/** Who commits: as the repository says, else as the person's own configuration says, else Retinue. */
async function findIdentity(repository: CallRepository): Promise<Record<string, string>> {
  const name = await readConfigured(repository, "user.name");
  const email = await readConfigured(repository, "user.email");
  const who = { NAME: name ?? DEFAULT_NAME, EMAIL: email ?? DEFAULT_EMAIL };
  return Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) =>
      Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  );
}

async function readConfigured(repository: CallRepository, key: string): Promise<string | undefined> {
  const own = await repository.git(["config", "--includes", "--get", key], { accept: [0, 1] });
  return cleanName(own.stdout) ?? cleanName(await readPersonal(repository, key));
}

/** Reading a value runs no program, so here the person's own files count. */
async function readPersonal({ program, env, signal }: CallRepository, key: string): Promise<string> {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  if (!HOME) return "";
  const { stdout } = await execGit({
    program,
    args: ["config", "--global", "--includes", "--get", key],
    cwd: "/",
    env: { PATH: env.PATH ?? "", LC_ALL: "C", HOME, ...(XDG_CONFIG_HOME && { XDG_CONFIG_HOME }) },
    signal,
  });
  return stdout;
}

/** Git drops these characters from names and then complains that nothing is left. */
function cleanName(text: string): string | undefined {
  const clean = text.replace(/[\p{Cc}<>]/gu, "").trim();
  return /[\p{L}\p{N}]/u.test(clean) ? clean : undefined;
}
