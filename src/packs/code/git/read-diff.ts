import type { ToolContext } from "../../../tools/tool.ts";
import { GitFault } from "./exec-git.ts";
import { isPatch, isRevision } from "./git-arguments.ts";
import { fileTarget } from "./git-paths.ts";
import { type Repository, runGit } from "./run-git.ts";

/** What is to be compared. Paths are as git knows them. */
export type DiffRequest = {
  from?: string | undefined;
  to?: string | undefined;
  commit?: string | undefined;
  staged?: boolean | undefined;
  stat?: boolean | undefined;
  /** Options of git on how the diff looks. */
  look?: readonly string[] | undefined;
  paths: readonly string[];
};

/** One changed file with how many lines it gained and lost; null for a binary one. */
export type FileChange = { file: string; from?: string; added: number | null; deleted: number | null };

const MAX_FILES = 500;
const MAX_UNTRACKED = 20;
const MAX_DIFF_BYTES = 2 * 1024 * 1024;
const SAFE = [
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=dirty",
  "--submodule=short",
];
const FORM = [
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--no-relative",
  "--find-renames",
  "--diff-algorithm=default",
];

/** The changes as one text: what is compared, a line per file, and the unified diff; files the run may not read are left out. */
export async function diffText(
  repository: Repository,
  request: DiffRequest,
  context: ToolContext,
): Promise<string> {
  const compared = await sidesOf(repository, request, context.signal);
  return `${compared.title}\n${await changesText(repository, { ...request, compared }, context)}`;
}

/** The changes of one commit, as a line per file and the unified diff. */
export async function commitText(
  repository: Repository,
  request: DiffRequest & { commit: string },
  context: ToolContext,
): Promise<string> {
  const compared = await commitSides(repository, request.commit, context.signal);
  return changesText(repository, { ...request, compared }, context);
}

async function changesText(
  repository: Repository,
  { compared, ...request }: DiffRequest & { compared: Sides },
  context: ToolContext,
): Promise<string> {
  const { signal } = context;
  const { look = [] } = request;
  const spaces = look.filter((option) => !isPatch(option));
  const counted = await runGit(
    repository,
    ["diff", ...SAFE, ...FORM, ...spaces, "--numstat", "-z", ...compared.args, "--", ...request.paths],
    { signal, whole: true },
  );
  const all = parseNumstat(counted.stdout);
  const sees = (file: string) => context.maySee(fileTarget(file, repository.projectDir));
  const visible = all.filter(({ file, from }) => sees(file) && (from === undefined || sees(from)));
  const shown = visible.slice(0, MAX_FILES);
  const parts = [...shown.map(statLine), ...totals(visible)];
  if (visible.length > shown.length) parts.push(`(${visible.length - shown.length} more files; name a path)`);
  if (all.length > visible.length)
    parts.push(`(${all.length - visible.length} files left out: there is no right to read them)`);
  if (compared.withWorkTree) parts.push(...(await untracked(repository, request.paths, context, sees)));
  if (repository.filters.length > 0 && compared.withWorkTree)
    parts.push(`(filters of the repository are not run: ${repository.filters.slice(0, 10).join(", ")})`);
  if (request.stat || shown.length === 0) return parts.join("\n");
  const names = shown.flatMap(({ file, from }) => (from === undefined ? [file] : [from, file]));
  const patch = await runGit(
    repository,
    ["diff", ...SAFE, ...FORM, ...look, "--patch", ...compared.args, "--", ...names.flatMap(matchExactly)],
    { signal, maxBytes: MAX_DIFF_BYTES, literal: false },
  );
  return `${parts.join("\n")}\n\n${patch.stdout.trimEnd()}${patch.cut ? "\n(the diff is longer and was cut here; name a path)" : ""}`;
}

/**
 * Patterns for one file and nothing below its name. A plain name also means all that lies in a folder of that name, which
 * is on one side wherever a file, a link or a submodule took a folder's place, and which was never judged. Git takes a
 * pattern for a plain name first, hence the second one.
 */
function matchExactly(file: string): string[] {
  const pattern = `\\${file.replace(/(?<!^)[*?[\]\\]/g, "\\$&")}`;
  return [`:(glob)${pattern}`, `:(exclude,literal)${pattern}/`];
}

/** Reads `git diff --numstat -z`. */
export function parseNumstat(text: string): FileChange[] {
  const fields = text.split("\0");
  const changes: FileChange[] = [];
  for (let at = 0; at < fields.length; at++) {
    const [added, deleted, ...rest] = (fields[at] ?? "").split("\t");
    if (added === undefined || deleted === undefined) continue;
    const counts = {
      added: added === "-" ? null : Number(added),
      deleted: deleted === "-" ? null : Number(deleted),
    };
    const file = rest.join("\t");
    if (file) changes.push({ file, ...counts });
    else changes.push({ from: fields[++at] ?? "", file: fields[++at] ?? "", ...counts });
  }
  return changes;
}

/** The full id of a commit that a revision names; a file's or tree's id is none. */
export async function commitId(
  repository: Repository,
  revision: string,
  signal: AbortSignal,
): Promise<string> {
  if (!isRevision(revision)) throw new GitFault(`'${revision}' is not a revision`);
  const found = await runGit(repository, ["rev-parse", "--verify", "--quiet", `${revision}^{commit}`], {
    signal,
    accept: [0, 1, 128],
  });
  const id = found.stdout.trim();
  if (!/^[0-9a-f]{40,64}$/.test(id))
    throw new GitFault(`there is no commit '${revision}'; paths come after --`);
  return id;
}

/** The id of HEAD, or undefined before the first commit. */
export async function headId(repository: Repository, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await runGit(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], {
    signal,
    accept: [0, 1, 128],
  });
  return stdout.trim() || undefined;
}

type Sides = { args: string[]; title: string; withWorkTree: boolean };

async function sidesOf(repository: Repository, request: DiffRequest, signal: AbortSignal): Promise<Sides> {
  const { from, to, commit, staged = false } = request;
  if (commit !== undefined) return commitSides(repository, commit, signal);
  if (to !== undefined) {
    const ids = [await commitId(repository, from ?? "HEAD", signal), await commitId(repository, to, signal)];
    return { args: ids, title: `${from ?? "HEAD"} → ${to}`, withWorkTree: false };
  }
  const head =
    from === undefined ? await headId(repository, signal) : await commitId(repository, from, signal);
  const base = head ?? (await emptyTree(repository, signal));
  const name = from ?? (head ? "HEAD" : "nothing (no commit yet)");
  return staged
    ? { args: ["--cached", base], title: `${name} → staged`, withWorkTree: false }
    : { args: [base], title: `${name} → working tree`, withWorkTree: true };
}

async function commitSides(repository: Repository, commit: string, signal: AbortSignal): Promise<Sides> {
  const id = await commitId(repository, commit, signal);
  const about = await runGit(
    repository,
    ["log", "-1", "--no-show-signature", "--format=%P%x00%h %an, %as: %s", id, "--"],
    { signal },
  );
  const [parents = "", title = ""] = about.stdout.trimEnd().split("\0");
  const [parent, ...others] = parents.split(" ").filter(Boolean);
  const note = others.length > 0 ? " (a merge, against its first parent)" : "";
  return {
    args: [parent ?? (await emptyTree(repository, signal)), id],
    title: `commit ${title}${note}`,
    withWorkTree: false,
  };
}

/** Its id depends on the repository's hash function. */
async function emptyTree(repository: Repository, signal: AbortSignal): Promise<string> {
  const { stdout } = await runGit(repository, ["hash-object", "-t", "tree", "--stdin"], {
    signal,
    input: "",
  });
  return stdout.trim();
}

async function untracked(
  repository: Repository,
  paths: readonly string[],
  { signal }: ToolContext,
  sees: (file: string) => boolean,
): Promise<string[]> {
  const args = ["ls-files", "--others", "--exclude-standard", "-z", "--", ...paths];
  const files = (await runGit(repository, args, { signal, whole: true })).stdout
    .split("\0")
    .filter((file) => file && sees(file));
  const more = files.length > MAX_UNTRACKED ? [`(${files.length - MAX_UNTRACKED} more untracked files)`] : [];
  return [...files.slice(0, MAX_UNTRACKED).map((file) => ` ${file} | untracked`), ...more];
}

function statLine({ file, from, added, deleted }: FileChange): string {
  const name = from === undefined ? file : `${from} => ${file}`;
  return ` ${name} | ${added === null ? "binary" : `+${added} -${deleted}`}`;
}

function totals(changes: readonly FileChange[]): string[] {
  if (changes.length === 0) return [" no changes"];
  const sum = (key: "added" | "deleted") => changes.reduce((total, change) => total + (change[key] ?? 0), 0);
  return [
    ` ${changes.length} ${changes.length === 1 ? "file" : "files"} changed, +${sum("added")} -${sum("deleted")}`,
  ];
}
