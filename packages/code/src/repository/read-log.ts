import { describeHidden } from "../file-tools/ripgrep.ts";
import type { CallRepository } from "./call-repository.ts";
import { type Arguments, findOptionValue, isPatch, selectDiffOptions } from "./git-arguments.ts";
import { parseNumstat, showCommit } from "./read-diff.ts";

const DEFAULT_COMMITS = 30;
const MAX_COMMITS = 1_000;
/** Commits that are shown with their changes; each takes calls of git of its own. */
const MAX_PATCHES = 10;
/** How long changes and files may be together; a file of git show alone fits. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Options that ask for the files of a commit. */
export const LISTING_OPTIONS = "--stat --numstat --name-only --name-status";
const LOG = ["log", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv"];
const FILES_OF_COMMITS =
  "diff-tree --stdin --root -r --diff-merges=first-parent --no-renames --no-ext-diff --no-textconv --ignore-submodules=dirty -z".split(
    " ",
  );

/** Whether an option asks for the files of a commit. */
export function isListing(option: string): boolean {
  return LISTING_OPTIONS.split(" ").includes(option);
}

/** Reads texts one by one until they are too long together; says how many are missing then. */
export async function joinTexts<Item>(
  items: readonly Item[],
  readText: (item: Item, index: number) => Promise<string>,
): Promise<string> {
  const texts: string[] = [];
  let room = MAX_CHARS;
  for (const [index, item] of items.entries()) {
    const text = await readText(item, index);
    texts.push(text.slice(0, room));
    room -= text.length;
    const left = items.length - index - 1;
    if (room >= 0 && (room > 0 || left === 0)) continue;
    texts.push(`(cut here${left > 0 ? `, ${left} more are not shown` : ""}; ask for less at once)`);
    break;
  }
  return texts.join("\n\n");
}

/** The log, with the files of each commit, or what it changed in them, if that was asked for. */
export async function readLog(
  repository: CallRepository,
  { options, words, paths: named }: Arguments,
): Promise<string> {
  const { git } = repository;
  const patch = options.some(isPatch);
  const listing = options.find(isListing);
  const most = patch ? Math.min(MAX_PATCHES, readCount(options)) : readCount(options);
  const looks = selectDiffOptions(options);
  const isWalk = (option: string) => !isListing(option) && !isPatch(option) && !looks.includes(option);
  const walk = [...options.filter(isWalk), `--max-count=${most}`];
  const where = [...words, "--", ...named];
  const look = options.some((option) => /^--(format|pretty)=|^--oneline$/.test(option))
    ? []
    : ["--format=medium"];
  if ((!listing && !patch) || walk.includes("--graph")) {
    const text = await git([...LOG, "--no-patch", ...look, ...walk, ...where]);
    const note = listing || patch ? "\n(files and changes are shown without --graph)" : "";
    return text.stdout + (text.cut ? "\n(cut here; ask for fewer commits)" : "") + note;
  }
  const bare = [...walk.filter(isNoFormat), ...where];
  const shown = await git([...LOG, "--no-patch", "-z", ...look, ...walk, ...where], { whole: true });
  const ids = await git([...LOG, "--no-patch", "--format=%H", ...bare], { whole: true });
  const texts = shown.stdout.split("\0");
  const commits = ids.stdout.split("\n").filter(Boolean);
  const before = walk.includes("--follow") ? await listNames(repository, bare) : [];
  const paths = [...new Set([...named, ...before])];
  if (patch || listing === undefined) {
    const text = await joinTexts(commits, async (commit, index) => {
      const changes = await showCommit(repository, { commit, paths, look: looks });
      return `${texts[index]?.trimEnd() ?? commit}\n${changes}`;
    });
    const isMore = most < readCount(options) && commits.length === most;
    return isMore ? `${text}\n\n(changes of ${most} commits at once; go on with --skip=${most})` : text;
  }
  const files = await listCommitFiles(repository, { commits, kind: listing, paths });
  const blocks = commits.map((id, index) =>
    [texts[index]?.trimEnd() ?? id, ...(files.byCommit.get(id) ?? [])].join("\n"),
  );
  const hidden = files.hidden > 0 ? [describeHidden(files.hidden)] : [];
  return [...blocks, ...hidden].join("\n\n");
}

/** All names that a file had in the commits of a walk with --follow. */
async function listNames({ git }: CallRepository, walk: readonly string[]): Promise<string[]> {
  const args = [...LOG, "--find-renames", "--format=", "--numstat", "-z", ...walk];
  const { stdout } = await git(args, { whole: true });
  return parseNumstat(stdout).flatMap(({ file, from }) => (from === undefined ? [file] : [from, file]));
}

function isNoFormat(option: string): boolean {
  return !/^--(format|pretty)=|^--(oneline|decorate|abbrev-commit)$/.test(option);
}

function readCount(options: readonly string[]): number {
  const short = options.findLast((option) => /^-n\d+$/.test(option))?.slice(2);
  return Math.min(MAX_COMMITS, Number(findOptionValue(options, "--max-count") ?? short ?? DEFAULT_COMMITS));
}

/** The files that each commit changed against its first parent; what the run may not read is left out and counted. */
async function listCommitFiles(
  { list, sees }: CallRepository,
  { commits, paths, ...asked }: { commits: readonly string[]; kind: string; paths: readonly string[] },
): Promise<{ byCommit: Map<string, string[]>; hidden: number }> {
  const kind = asked.kind === "--stat" ? "--numstat" : asked.kind;
  const args = [...FILES_OF_COMMITS, kind, "--", ...paths];
  const fields = await list(args, { input: commits.map((id) => `${id}\n`).join("") });
  const ids = new Set(commits);
  const byCommit = new Map<string, string[]>();
  const hidden = new Set<string>();
  let lines: string[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? "";
    if (ids.has(field)) {
      lines = [];
      byCommit.set(field, lines);
      continue;
    }
    const entry =
      kind === "--name-status" ? { about: field, file: fields[++at] ?? "" } : readEntry(field, kind);
    if (!sees(entry.file)) hidden.add(entry.file);
    else lines.push(entry.about ? `${entry.about}\t${entry.file}` : entry.file);
  }
  return { byCommit, hidden: hidden.size };
}

function readEntry(field: string, kind: string): { about: string; file: string } {
  if (kind === "--name-only") return { about: "", file: field };
  const [added, deleted, ...file] = field.split("\t");
  return { about: added === "-" ? "binary" : `+${added} -${deleted}`, file: file.join("\t") };
}
