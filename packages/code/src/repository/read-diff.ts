import { GitFault } from "@retinue/core/git/exec-git";
import { showCount } from "@retinue/core/show/measures";
import { describeHidden } from "../file-tools/ripgrep.ts";
import type { CallRepository } from "./call-repository.ts";
import { isPatch, isRevision } from "./git-arguments.ts";

/** What is to be compared. Paths are as git knows them. */
type DiffRequest = {
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
type DiffedFile = { file: string; from?: string; added: number | null; deleted: number | null };

const MAX_FILES = 500;
const MAX_UNTRACKED = 20;
const MAX_DIFF_BYTES = 2 * 1024 * 1024;
const SAFE = "--no-color --no-ext-diff --no-textconv --ignore-submodules=dirty --submodule=short".split(" ");
const FORM = "--src-prefix=a/ --dst-prefix=b/ --no-relative --find-renames --diff-algorithm=default".split(
  " ",
);

/** The changes as one text: what is compared, a line per file, and the unified diff; files the run may not read are left out. */
export async function formatDiff(repository: CallRepository, request: DiffRequest): Promise<string> {
  const compared = await findSides(repository, request);
  return `${compared.title}\n${await showChanges(repository, request, compared)}`;
}

/** The changes of one commit, as a line per file and the unified diff. */
export async function showCommit(
  repository: CallRepository,
  request: DiffRequest & { commit: string },
): Promise<string> {
  return showChanges(repository, request, await findCommitSides(repository, request.commit));
}

async function showChanges(
  repository: CallRepository,
  { look = [], paths, stat }: DiffRequest,
  { args, withWorkTree }: Sides,
): Promise<string> {
  const { git, sees, filters } = repository;
  const spaces = look.filter((option) => !isPatch(option));
  const counting = ["diff", ...SAFE, ...FORM, ...spaces, "--numstat", "-z", ...args, "--", ...paths];
  const all = parseNumstat((await git(counting, { whole: true })).stdout);
  const visible = all.filter(({ file, from }) => sees(file) && (from === undefined || sees(from)));
  const shown = visible.slice(0, MAX_FILES);
  const parts = [...shown.map(describeFileChange), ...describeTotals(visible)];
  if (visible.length > shown.length) parts.push(`(${visible.length - shown.length} more files; name a path)`);
  if (all.length > visible.length) parts.push(describeHidden(all.length - visible.length));
  if (withWorkTree) parts.push(...(await listUntracked(repository, paths)));
  if (filters.length > 0 && withWorkTree)
    parts.push(`(filters of the repository are not run: ${filters.slice(0, 10).join(", ")})`);
  if (stat || shown.length === 0) return parts.join("\n");
  const names = shown.flatMap(({ file, from }) => (from === undefined ? [file] : [from, file]));
  const patch = await git(
    ["diff", ...SAFE, ...FORM, ...look, "--patch", ...args, "--", ...names.flatMap(matchExactly)],
    { maxBytes: MAX_DIFF_BYTES, literal: false },
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
export function parseNumstat(text: string): DiffedFile[] {
  const fields = text.split("\0");
  const changes: DiffedFile[] = [];
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
export async function findCommitId(repository: CallRepository, revision: string): Promise<string> {
  if (!isRevision(revision)) throw new GitFault(`'${revision}' is not a revision`);
  const id = await lookUpCommit(repository, revision);
  if (id === undefined) throw new GitFault(`there is no commit '${revision}'; paths come after --`);
  return id;
}

/** The id of HEAD, or undefined before the first commit. */
export function findHeadId(repository: CallRepository): Promise<string | undefined> {
  return lookUpCommit(repository, "HEAD");
}

async function lookUpCommit({ git }: CallRepository, revision: string): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", `${revision}^{commit}`];
  const id = (await git(args, { accept: [0, 1, 128] })).stdout.trim();
  return /^[0-9a-f]{40,64}$/.test(id) ? id : undefined;
}

type Sides = { args: string[]; title: string; withWorkTree: boolean };

async function findSides(repository: CallRepository, request: DiffRequest): Promise<Sides> {
  const { from, to, commit, staged = false } = request;
  if (commit !== undefined) return findCommitSides(repository, commit);
  if (to !== undefined) {
    const ids = [await findCommitId(repository, from ?? "HEAD"), await findCommitId(repository, to)];
    return { args: ids, title: `${from ?? "HEAD"} → ${to}`, withWorkTree: false };
  }
  const head = from === undefined ? await findHeadId(repository) : await findCommitId(repository, from);
  const base = head ?? (await findEmptyTree(repository));
  const name = from ?? (head ? "HEAD" : "nothing (no commit yet)");
  return staged
    ? { args: ["--cached", base], title: `${name} → staged`, withWorkTree: false }
    : { args: [base], title: `${name} → working tree`, withWorkTree: true };
}

async function findCommitSides(repository: CallRepository, commit: string): Promise<Sides> {
  const id = await findCommitId(repository, commit);
  const format = "--format=%P%x00%h %an, %as: %s";
  const about = await repository.git(["log", "-1", "--no-show-signature", format, id, "--"]);
  const [parents = "", title = ""] = about.stdout.trimEnd().split("\0");
  const [parent, ...others] = parents.split(" ").filter(Boolean);
  const note = others.length > 0 ? " (a merge, against its first parent)" : "";
  return {
    args: [parent ?? (await findEmptyTree(repository)), id],
    title: `commit ${title}${note}`,
    withWorkTree: false,
  };
}

/** Its id depends on the repository's hash function. */
async function findEmptyTree({ git }: CallRepository): Promise<string> {
  return (await git(["hash-object", "-t", "tree", "--stdin"], { input: "" })).stdout.trim();
}

async function listUntracked({ list, sees }: CallRepository, paths: readonly string[]): Promise<string[]> {
  const others = await list(["ls-files", "--others", "--exclude-standard", "-z", "--", ...paths]);
  const files = others.filter(sees);
  const more = files.length > MAX_UNTRACKED ? [`(${files.length - MAX_UNTRACKED} more untracked files)`] : [];
  return [...files.slice(0, MAX_UNTRACKED).map((file) => ` ${file} | untracked`), ...more];
}

function describeFileChange({ file, from, added, deleted }: DiffedFile): string {
  const name = from === undefined ? file : `${from} => ${file}`;
  return ` ${name} | ${added === null ? "binary" : `+${added} -${deleted}`}`;
}

function describeTotals(changes: readonly DiffedFile[]): string[] {
  if (changes.length === 0) return [" no changes"];
  const sum = (key: "added" | "deleted") => changes.reduce((total, change) => total + (change[key] ?? 0), 0);
  return [` ${showCount(changes.length, "file")} changed, +${sum("added")} -${sum("deleted")}`];
}
