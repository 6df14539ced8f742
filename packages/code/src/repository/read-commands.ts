import { GitFault } from "@retinue/core/git/exec-git";
import { describeHidden } from "../file-tools/ripgrep.ts";
import type { CallRepository } from "./call-repository.ts";
import {
  type Arguments,
  type CommandGrammar,
  gitName,
  gitTarget,
  isPatch,
  selectDiffOptions,
  splitObject,
} from "./git-arguments.ts";
import { findCommitId, formatDiff } from "./read-diff.ts";
import { isListing, joinTexts, LISTING_OPTIONS, readLog } from "./read-log.ts";

/** A subcommand that only reads: the options it may have, how it is really run, and what of its answer may be shown. */
type ReadCommand = CommandGrammar & {
  /** Paths in the arguments are as git knows them. */
  readonly read: (repository: CallRepository, parsed: Arguments) => Promise<string>;
};

const MAX_LINES = 2_000;
const COMMIT = "^{commit}";

/** The changes, and what of white space they pass over. */
const PATCH = "-p --patch -u -w --ignore-all-space -b --ignore-space-change";
const LINES_AROUND = { "-U": "number", "--unified": "number" } as const;
const CHOICE = {
  "--max-count": "number",
  "-n": "number",
  "--skip": "number",
  "--since": "text",
  "--after": "text",
  "--until": "text",
  "--before": "text",
  "--author": "text",
  "--committer": "text",
  "--grep": "text",
} as const;
const LOOK = { "--format": "format", "--pretty": "format", "--date": "text" } as const;
const WALK =
  "--all --branches --tags --remotes --first-parent --merges --no-merges --reverse --topo-order --date-order -i --all-match";

/** The subcommands that there are. What is not named here does not exist. */
export const GIT_COMMANDS = {
  status: {
    flags: "-s --short -b --branch -u --untracked-files --ignored",
    values: { "--untracked-files": "word" },
    words: "paths",
    read: readStatus,
  },
  log: {
    flags: `${LISTING_OPTIONS} ${PATCH} ${WALK} --oneline --graph --follow --decorate --abbrev-commit`,
    values: { ...CHOICE, ...LOOK, ...LINES_AROUND },
    words: "revisions",
    paths: true,
    read: readLog,
  },
  diff: {
    flags: `${LISTING_OPTIONS} --shortstat ${PATCH} --staged --cached`,
    values: LINES_AROUND,
    words: "revisions",
    maxWords: 2,
    paths: true,
    read: readDiff,
  },
  show: {
    flags: `${LISTING_OPTIONS} ${PATCH} --oneline -s --no-patch`,
    values: { ...LOOK, ...LINES_AROUND },
    words: "objects",
    paths: true,
    read: readObjects,
  },
  shortlog: {
    flags: `-s -n -e -sn -sne --summary --numbered --email ${WALK}`,
    values: CHOICE,
    words: "revisions",
    paths: true,
    read: (repository, { options, words, paths }) => {
      const isOfRefs = options.some((option) => /^--(all|branches|tags|remotes)$/.test(option));
      const revisions = isOfRefs ? words : orHead(words);
      return readPlain(repository, ["shortlog", ...options, ...revisions, "--", ...paths]);
    },
  },
  blame: {
    flags: "-w -M -C -e -s -l --show-email --root",
    values: { "-L": "range", "--date": "text", "--since": "text" },
    words: "revisions",
    maxWords: 1,
    paths: true,
    read: async (repository, { options, words, paths }) => {
      const [path, ...others] = paths;
      if (path === undefined || others.length > 0) throw new GitFault("git blame: name one file after --");
      repository.refuseUnseen(path);
      return readPlain(repository, ["blame", "--no-textconv", ...options, ...words, "--", path]);
    },
  },
  branch: {
    flags: "-a --all -r --remotes -v -vv --list --show-current",
    values: {
      "--contains": "revision",
      "--no-contains": "revision",
      "--merged": "revision",
      "--no-merged": "revision",
      "--sort": "word",
    },
    read: (repository, { options }) =>
      options.includes("--show-current")
        ? readPlain(repository, ["branch", "--show-current"])
        : readPlain(repository, ["branch", "--no-color", "--list", ...options]),
  },
  tag: {
    flags: "-l --list -n",
    values: { "--contains": "revision", "--points-at": "revision", "--merged": "revision", "--sort": "word" },
    read: (repository, { options }) => readPlain(repository, ["tag", "--no-column", "--list", ...options]),
  },
  "ls-files": {
    flags: "-c --cached -m --modified -d --deleted -o --others -u --unmerged -i --ignored --exclude-standard",
    words: "paths",
    read: async (repository, { options, paths }) =>
      showFiles(repository, await repository.list(["ls-files", "-z", ...options, "--", ...paths])),
  },
  "ls-tree": {
    flags: "-r -d -l --name-only",
    words: "revisions",
    maxWords: 1,
    paths: true,
    read: async (repository, { options, words, paths }) => {
      const tree = `${words[0] ?? "HEAD"}${COMMIT}`;
      const named = paths.filter((path) => path !== ".");
      const args = ["ls-tree", "-z", "--full-tree", ...options, tree, "--", ...named];
      const entries = await repository.list(args);
      return showFiles(repository, entries, (entry) => entry.slice(entry.indexOf("\t") + 1));
    },
  },
  grep: {
    flags:
      "-i --ignore-case -n --line-number -w --word-regexp -l --files-with-matches -c --count -F --fixed-strings -E --extended-regexp -P --perl-regexp -v --cached --untracked",
    values: { "--max-depth": "number" },
    words: "pattern",
    paths: true,
    read: readGrep,
  },
  "rev-parse": {
    flags: "--short --abbrev-ref --symbolic-full-name",
    words: "revisions",
    read: (repository, { options, words }) =>
      readPlain(repository, ["rev-parse", ...options, ...orHead(words)]),
  },
  "rev-list": {
    flags: `${WALK} --count --left-right`,
    values: CHOICE,
    words: "revisions",
    paths: true,
    read: (repository, { options, words, paths }) => {
      const walk = ["--max-count=1000000", ...options, ...orHead(words)];
      return readPlain(repository, ["rev-list", ...walk, "--", ...paths]);
    },
  },
  "merge-base": {
    flags: "--all --is-ancestor --fork-point",
    words: "revisions",
    maxWords: 2,
    read: async (repository, { options, words }) => {
      const { stdout, code } = await repository.git(["merge-base", ...options, ...words], { accept: [0, 1] });
      return stdout || (options.includes("--is-ancestor") ? (code === 0 ? "yes" : "no") : "there is none");
    },
  },
  describe: {
    flags: "--tags --all --always --long --exact-match",
    values: { "--abbrev": "number" },
    words: "revisions",
    maxWords: 1,
    read: (repository, { options, words }) => readPlain(repository, ["describe", ...options, ...words]),
  },
} as const satisfies Readonly<Record<string, ReadCommand>>;

/** A subcommand that only reads. */
export type GitCommand = keyof typeof GIT_COMMANDS;

function orHead(revisions: readonly string[]): readonly string[] {
  return revisions.length > 0 ? revisions : ["HEAD"];
}

async function readPlain(repository: CallRepository, args: readonly string[]): Promise<string> {
  const { stdout, cut } = await repository.git(args);
  const lines = stdout.trimEnd().split("\n");
  const more = lines.length > MAX_LINES || cut ? ["(there is more; ask for less)"] : [];
  return [...lines.slice(0, MAX_LINES), ...more].join("\n") || "(nothing)";
}

/** Lines about files, without those the run may not read. */
function showFiles(
  { sees }: CallRepository,
  lines: readonly string[],
  fileOf: (line: string) => string = (line) => line,
): string {
  const shown = lines.filter((line) => sees(fileOf(line)));
  const notes = [
    ...(shown.length > MAX_LINES ? [`(${shown.length - MAX_LINES} more; name a path)`] : []),
    ...(shown.length < lines.length ? [describeHidden(lines.length - shown.length)] : []),
  ];
  return [...(shown.length > 0 ? shown.slice(0, MAX_LINES) : ["(nothing)"]), ...notes].join("\n");
}

async function readStatus(repository: CallRepository, { options, paths }: Arguments): Promise<string> {
  const untracked =
    options.findLast((option) => option.startsWith("--untracked-files=")) ?? "--untracked-files=all";
  const more = options.includes("--ignored") ? ["--ignored"] : [];
  const form = ["--porcelain=v1", "-z", "--branch", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", ...form, untracked, ...more, "--", ...paths];
  const [branch = "", ...entries] = await repository.list(args);
  const files =
    entries.length > 0
      ? showFiles(repository, entries, (entry) => entry.slice(3))
      : "nothing to commit, working tree clean";
  return `${branch}\n${files}`;
}

async function readDiff(repository: CallRepository, { options, words, paths }: Arguments): Promise<string> {
  const { from, to } = await readSides(words, repository);
  const staged = options.some((option) => option === "--staged" || option === "--cached");
  if (staged && to !== undefined)
    throw new GitFault("git diff: what is staged is compared with one revision");
  const stat = options.some((option) => /^--(?:\w*stat|name-)/.test(option)) && !options.some(isPatch);
  return formatDiff(repository, { from, to, staged, paths, stat, look: selectDiffOptions(options) });
}

/** The two sides of `a b`, `a..b` or, from where they parted, `a...b`. */
async function readSides(
  words: readonly string[],
  repository: CallRepository,
): Promise<{ from?: string | undefined; to?: string | undefined }> {
  const [first, second] = words;
  const range = second === undefined && first !== undefined ? /^(.*?)(\.{2,3})(.*)$/.exec(first) : null;
  if (!range) return { from: first, to: second };
  const [from, to] = [range[1] || "HEAD", range[3] || "HEAD"];
  if (range[2] === "..") return { from, to };
  const ids = [await findCommitId(repository, from), await findCommitId(repository, to)];
  const { stdout } = await repository.git(["merge-base", ...ids], { accept: [0, 1] });
  if (!stdout.trim()) throw new GitFault(`'${from}' and '${to}' have no commit in common`);
  return { from: stdout.trim(), to };
}

function readObjects(repository: CallRepository, { options, words, paths }: Arguments): Promise<string> {
  const objects = orHead(words).map(splitObject);
  const isAbout = (option: string) => option !== "-s" && option !== "--no-patch";
  const about = options.filter(isAbout);
  const isBare = about.length < options.length || about.some(isListing) || about.some(isPatch);
  const all = [...about, ...(isBare ? [] : ["--patch"]), "--max-count=1"];
  return joinTexts(objects, async ({ revision, path }) => {
    if (path === undefined)
      return readLog(repository, { options: all, words: [`${revision}${COMMIT}`], paths });
    const name = gitName(await gitTarget(path, repository));
    repository.refuseUnseen(name);
    // Only below a commit does a path begin where rules count from; in a tree that is known by its id it begins anywhere.
    const commit = await findCommitId(repository, revision);
    const { stdout, cut } = await repository.git(["cat-file", "blob", `${commit}:${name}`]);
    if (stdout.slice(0, 8_000).includes("\0")) throw new GitFault(`${revision}:${name} is a binary file`);
    return cut ? `${stdout}\n(cut here)` : stdout;
  });
}

async function readGrep(repository: CallRepository, { options, words, paths }: Arguments): Promise<string> {
  const [pattern, ...named] = words;
  // A tree or a file by its id has no path by which it could be judged.
  const revisions = named.map((revision) => `${revision}${COMMIT}`);
  if (pattern === undefined) throw new GitFault("git grep: needs a pattern");
  const form = "--no-color --full-name -I -z --no-textconv --line-number --no-recurse-submodules".split(" ");
  const args = ["grep", ...form, ...options, "-e", pattern, ...revisions, "--", ...paths];
  const { stdout, cut } = await repository.git(args, { accept: [0, 1] });
  const namesOnly = options.some((option) => option === "-l" || option === "--files-with-matches");
  // A name may hold a line break, so a hit begins where the last one ended and its name goes up to the NUL.
  const hits = namesOnly
    ? stdout.split("\0").filter(Boolean)
    : [...stdout.matchAll(/[^\0]+\0[^\n]*\n?/gy)].map(([hit]) => hit.trimEnd());
  const hidden = new Set<string>();
  const shown = hits.filter((hit) => {
    const file = withoutRevision(hit.split("\0")[0] ?? "", revisions);
    if (repository.sees(file)) return true;
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
