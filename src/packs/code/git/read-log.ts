import type { ToolContext } from "../../../tools/tool.ts";
import { type Arguments, diffOptions, optionValue } from "./git-arguments.ts";
import { fileTarget } from "./git-paths.ts";
import { commitText } from "./read-diff.ts";
import { type Repository, runGit } from "./run-git.ts";

const DEFAULT_COMMITS = 30;
const MAX_COMMITS = 1_000;
/** Commits that are shown with their changes; each takes calls of git of its own. */
const MAX_PATCHES = 10;
const LISTINGS = ["--stat", "--numstat", "--name-only", "--name-status"];

/** Whether an option asks for the files of a commit. */
export function isListing(option: string): boolean {
  return LISTINGS.includes(option);
}

/** Whether an option asks for what a commit changed. */
export function isPatch(option: string): boolean {
  return option === "-p" || option === "-u" || option === "--patch" || diffOptions([option]).length > 0;
}

/** The log, with the files of each commit, or what it changed in them, if that was asked for. */
export async function readLog(
  repository: Repository,
  { options, words, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const patch = options.some(isPatch);
  const listing = options.find(isListing);
  const most = patch ? Math.min(MAX_PATCHES, countOf(options)) : countOf(options);
  const walk = [...options.filter((option) => !isListing(option) && !isPatch(option)), `--max-count=${most}`];
  const where = [...(words.length > 0 ? words : []), "--", ...paths];
  const { signal } = context;
  const always = ["--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv"];
  const look = options.some((option) => /^--(format|pretty)=|^--oneline$/.test(option))
    ? []
    : ["--format=medium"];
  if ((!listing && !patch) || walk.includes("--graph")) {
    const text = await runGit(repository, ["log", ...always, "--no-patch", ...look, ...walk, ...where], {
      signal,
    });
    return text.stdout + (text.cut ? "\n(cut here; ask for fewer commits)" : "");
  }
  const shown = await runGit(repository, ["log", ...always, "--no-patch", "-z", ...look, ...walk, ...where], {
    signal,
    whole: true,
  });
  const ids = await runGit(
    repository,
    ["log", ...always, "--no-patch", "--format=%H", ...walk.filter(isNoFormat), ...where],
    { signal, whole: true },
  );
  const texts = shown.stdout.split("\0");
  const commits = ids.stdout.split("\n").filter(Boolean);
  if (patch || listing === undefined) {
    const blocks: string[] = [];
    for (const [index, commit] of commits.entries()) {
      const request = { commit, paths, look: diffOptions(options) };
      blocks.push(`${texts[index]?.trimEnd() ?? commit}\n${await commitText(repository, request, context)}`);
    }
    if (most < countOf(options) && commits.length === most)
      blocks.push(`(changes of ${most} commits at once; go on with --skip=${most})`);
    return blocks.join("\n\n");
  }
  const files = await filesOf(repository, { ids: ids.stdout, kind: listing, paths }, context);
  const blocks = commits.map((id, index) =>
    [texts[index]?.trimEnd() ?? id, ...(files.byCommit.get(id) ?? [])].join("\n"),
  );
  const hidden = files.hidden > 0 ? [`(${files.hidden} files left out: there is no right to read them)`] : [];
  return [...blocks, ...hidden].join("\n\n");
}

function isNoFormat(option: string): boolean {
  return !/^--(format|pretty)=|^--(oneline|decorate|abbrev-commit)$/.test(option);
}

function countOf(options: readonly string[]): number {
  const short = options.findLast((option) => /^-n\d+$/.test(option))?.slice(2);
  return Math.min(MAX_COMMITS, Number(optionValue(options, "--max-count") ?? short ?? DEFAULT_COMMITS));
}

/** The files that each commit changed against its first parent; what the run may not read is left out and counted. */
async function filesOf(
  repository: Repository,
  asked: { ids: string; kind: string; paths: readonly string[] },
  context: ToolContext,
): Promise<{ byCommit: Map<string, string[]>; hidden: number }> {
  const kind = asked.kind === "--stat" ? "--numstat" : asked.kind;
  const args = [
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "--diff-merges=first-parent",
    "--no-renames",
    "-z",
    kind,
  ];
  const { stdout } = await runGit(
    repository,
    [...args, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--", ...asked.paths],
    { signal: context.signal, input: asked.ids, whole: true },
  );
  const ids = new Set(asked.ids.split("\n").filter(Boolean));
  const byCommit = new Map<string, string[]>();
  const hidden = new Set<string>();
  let lines: string[] = [];
  const fields = stdout.split("\0").filter(Boolean);
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? "";
    if (ids.has(field)) {
      lines = [];
      byCommit.set(field, lines);
      continue;
    }
    const entry =
      kind === "--name-status" ? { about: field, file: fields[++at] ?? "" } : entryOf(field, kind);
    if (!context.maySee(fileTarget(entry.file, repository.projectDir))) hidden.add(entry.file);
    else lines.push(entry.about ? `${entry.about}\t${entry.file}` : entry.file);
  }
  return { byCommit, hidden: hidden.size };
}

function entryOf(field: string, kind: string): { about: string; file: string } {
  if (kind === "--name-only") return { about: "", file: field };
  const [added, deleted, ...file] = field.split("\t");
  return { about: added === "-" ? "binary" : `+${added} -${deleted}`, file: file.join("\t") };
}
