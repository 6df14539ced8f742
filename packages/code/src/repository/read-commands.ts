import { GitFault } from "@retinue/core/git/exec-git";
import { type CheckedRepository, runGit } from "@retinue/core/git/run-git";
import type { ToolContext } from "@retinue/core/tools/tool";
import { describeHidden } from "../file-tools/ripgrep.ts";
import {
  type Arguments,
  fileTarget,
  type GitCommand,
  gitName,
  gitTarget,
  isPatch,
  selectDiffOptions,
  splitObject,
} from "./git-arguments.ts";
import { findCommitId, formatDiff } from "./read-diff.ts";
import { isListing, joinTexts, readLog } from "./read-log.ts";

type Reader = (repository: CheckedRepository, parsed: Arguments, context: ToolContext) => Promise<string>;

const MAX_LINES = 2_000;
const COMMIT = "^{commit}";

/** How each subcommand is really run, and what of its answer may be shown. Paths in `parsed` are as git knows them. */
export const READERS: Readonly<Record<GitCommand, Reader>> = {
  status: readStatus,
  log: readLog,
  diff: readDiff,
  show: readObjects,
  shortlog: async (repository, { options, words, paths }, { signal }) => {
    const revisions =
      words.length > 0 || options.some((option) => /^--(all|branches|tags|remotes)$/.test(option))
        ? words
        : ["HEAD"];
    return readPlain(repository, ["shortlog", ...options, ...revisions, "--", ...paths], signal);
  },
  blame: readBlame,
  branch: async (repository, { options }, { signal }) =>
    readPlain(
      repository,
      options.includes("--show-current")
        ? ["branch", "--show-current"]
        : ["branch", "--no-color", "--list", ...options],
      signal,
    ),
  tag: async (repository, { options }, { signal }) =>
    readPlain(repository, ["tag", "--no-column", "--list", ...options], signal),
  "ls-files": async (repository, { options, paths }, context) => {
    const { stdout } = await runGit(repository, ["ls-files", "-z", ...options, "--", ...paths], {
      signal: context.signal,
      whole: true,
    });
    return listFiles(stdout.split("\0").filter(Boolean), (file) => file, context, repository);
  },
  "ls-tree": async (repository, { options, words, paths }, context) => {
    const args = [
      "ls-tree",
      "-z",
      "--full-tree",
      ...options,
      `${words[0] ?? "HEAD"}${COMMIT}`,
      "--",
      ...paths.filter((path) => path !== "."),
    ];
    const { stdout } = await runGit(repository, args, { signal: context.signal, whole: true });
    return listFiles(
      stdout.split("\0").filter(Boolean),
      (entry) => entry.slice(entry.indexOf("\t") + 1),
      context,
      repository,
    );
  },
  grep: readGrep,
  "rev-parse": async (repository, { options, words }, { signal }) =>
    readPlain(repository, ["rev-parse", ...options, ...(words.length > 0 ? words : ["HEAD"])], signal),
  "rev-list": async (repository, { options, words, paths }, { signal }) =>
    readPlain(
      repository,
      [
        "rev-list",
        "--max-count=1000000",
        ...options,
        ...(words.length > 0 ? words : ["HEAD"]),
        "--",
        ...paths,
      ],
      signal,
    ),
  "merge-base": async (repository, { options, words }, { signal }) => {
    const { stdout, code } = await runGit(repository, ["merge-base", ...options, ...words], {
      signal,
      accept: [0, 1],
    });
    return stdout || (options.includes("--is-ancestor") ? (code === 0 ? "yes" : "no") : "there is none");
  },
  describe: async (repository, { options, words }, { signal }) =>
    readPlain(repository, ["describe", ...options, ...words], signal),
};

async function readPlain(
  repository: CheckedRepository,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { stdout, cut } = await runGit(repository, args, { signal });
  const lines = stdout.trimEnd().split("\n");
  const more = lines.length > MAX_LINES || cut ? ["(there is more; ask for less)"] : [];
  return [...lines.slice(0, MAX_LINES), ...more].join("\n") || "(nothing)";
}

/** Lines about files, without those the run may not read. */
function listFiles(
  lines: readonly string[],
  fileOf: (line: string) => string,
  context: ToolContext,
  { projectDir }: CheckedRepository,
): string {
  const shown = lines.filter((line) => context.maySee(fileTarget(fileOf(line), projectDir)));
  const notes = [
    ...(shown.length > MAX_LINES ? [`(${shown.length - MAX_LINES} more; name a path)`] : []),
    ...(shown.length < lines.length ? [describeHidden(lines.length - shown.length)] : []),
  ];
  return [...(shown.length > 0 ? shown.slice(0, MAX_LINES) : ["(nothing)"]), ...notes].join("\n");
}

async function readStatus(
  repository: CheckedRepository,
  { options, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const untracked =
    options.findLast((option) => option.startsWith("--untracked-files=")) ?? "--untracked-files=all";
  const more = options.includes("--ignored") ? ["--ignored"] : [];
  const args = [
    "status",
    "--porcelain=v1",
    "-z",
    "--branch",
    "--no-renames",
    "--ignore-submodules=dirty",
    untracked,
    ...more,
  ];
  const { stdout } = await runGit(repository, [...args, "--", ...paths], {
    signal: context.signal,
    whole: true,
  });
  const [branch = "", ...entries] = stdout.split("\0").filter(Boolean);
  const files =
    entries.length > 0
      ? listFiles(entries, (entry) => entry.slice(3), context, repository)
      : "nothing to commit, working tree clean";
  return `${branch}\n${files}`;
}

async function readBlame(
  repository: CheckedRepository,
  { options, words, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) throw new GitFault("git blame: name one file after --");
  refuseUnseen(path, repository, context);
  return readPlain(repository, ["blame", "--no-textconv", ...options, ...words, "--", path], context.signal);
}

async function readDiff(
  repository: CheckedRepository,
  { options, words, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const { from, to } = await readSides(words, repository, context.signal);
  const staged = options.some((option) => option === "--staged" || option === "--cached");
  if (staged && to !== undefined)
    throw new GitFault("git diff: what is staged is compared with one revision");
  const stat = options.some((option) => /^--(?:\w*stat|name-)/.test(option)) && !options.some(isPatch);
  return formatDiff(repository, { from, to, staged, paths, stat, look: selectDiffOptions(options) }, context);
}

/** The two sides of `a b`, `a..b` or, from where they parted, `a...b`. */
async function readSides(
  words: readonly string[],
  repository: CheckedRepository,
  signal: AbortSignal,
): Promise<{ from?: string | undefined; to?: string | undefined }> {
  const [first, second] = words;
  const range = second === undefined && first !== undefined ? /^(.*?)(\.{2,3})(.*)$/.exec(first) : null;
  if (!range) return { from: first, to: second };
  const [from, to] = [range[1] || "HEAD", range[3] || "HEAD"];
  if (range[2] === "..") return { from, to };
  const ids = [await findCommitId(repository, from, signal), await findCommitId(repository, to, signal)];
  const { stdout } = await runGit(repository, ["merge-base", ...ids], { signal, accept: [0, 1] });
  if (!stdout.trim()) throw new GitFault(`'${from}' and '${to}' have no commit in common`);
  return { from: stdout.trim(), to };
}

async function readObjects(
  repository: CheckedRepository,
  { options, words, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const objects = (words.length > 0 ? words : ["HEAD"]).map(splitObject);
  const isAbout = (option: string) => option !== "-s" && option !== "--no-patch";
  const about = options.filter(isAbout);
  const isBare = about.length < options.length || about.some(isListing) || about.some(isPatch);
  const all = [...about, ...(isBare ? [] : ["--patch"]), "--max-count=1"];
  return joinTexts(objects, async ({ revision, path }) => {
    if (path === undefined)
      return readLog(repository, { options: all, words: [`${revision}${COMMIT}`], paths }, context);
    const name = gitName(await gitTarget(path, repository));
    refuseUnseen(name, repository, context);
    // Only below a commit does a path begin where rules count from; in a tree that is known by its id it begins anywhere.
    const commit = await findCommitId(repository, revision, context.signal);
    const { stdout, cut } = await runGit(repository, ["cat-file", "blob", `${commit}:${name}`], {
      signal: context.signal,
    });
    if (stdout.slice(0, 8_000).includes("\0")) throw new GitFault(`${revision}:${name} is a binary file`);
    return cut ? `${stdout}\n(cut here)` : stdout;
  });
}

function refuseUnseen(file: string, { projectDir }: CheckedRepository, context: ToolContext): void {
  if (!context.maySee(fileTarget(file, projectDir))) throw new GitFault(`there is no right to read ${file}`);
}

async function readGrep(
  repository: CheckedRepository,
  { options, words, paths }: Arguments,
  context: ToolContext,
): Promise<string> {
  const [pattern, ...named] = words;
  // A tree or a file by its id has no path by which it could be judged.
  const revisions = named.map((revision) => `${revision}${COMMIT}`);
  if (pattern === undefined) throw new GitFault("git grep: needs a pattern");
  const format = [
    "--no-color",
    "--full-name",
    "-I",
    "-z",
    "--no-textconv",
    "--line-number",
    "--no-recurse-submodules",
  ];
  const args = ["grep", ...format, ...options, "-e", pattern, ...revisions, "--", ...paths];
  const { stdout, cut } = await runGit(repository, args, { signal: context.signal, accept: [0, 1] });
  const namesOnly = options.some((option) => option === "-l" || option === "--files-with-matches");
  // A name may hold a line break, so a hit begins where the last one ended and its name goes up to the NUL.
  const hits = namesOnly
    ? stdout.split("\0").filter(Boolean)
    : [...stdout.matchAll(/[^\0]+\0[^\n]*\n?/gy)].map(([hit]) => hit.trimEnd());
  const hidden = new Set<string>();
  const shown = hits.filter((hit) => {
    const file = withoutRevision(hit.split("\0")[0] ?? "", revisions);
    if (context.maySee(fileTarget(file, repository.projectDir))) return true;
    hidden.add(file);
    return false;
  });
  const lines = shown.slice(0, MAX_LINES).map((hit) => showHit(hit, revisions));
  const notes = [
    ...(shown.length > MAX_LINES || cut ? ["(there are more hits; narrow the search)"] : []),
    ...(hidden.size > 0 ? [describeHidden(hidden.size)] : []),
  ];
  return [...(lines.length > 0 ? lines : ["no matches"]), ...notes].join("\n");
}

function showHit(hit: string, revisions: readonly string[]): string {
  const revision = revisions.find((each) => hit.startsWith(`${each}:`));
  const short =
    revision === undefined ? hit : `${revision.slice(0, -COMMIT.length)}${hit.slice(revision.length)}`;
  return short.replaceAll("\0", ":").slice(0, 500);
}

/** With revisions, git puts the one it searched before the file's name. */
function withoutRevision(name: string, revisions: readonly string[]): string {
  const revision = revisions.find((each) => name.startsWith(`${each}:`));
  return revision === undefined ? name : name.slice(revision.length + 1);
}
