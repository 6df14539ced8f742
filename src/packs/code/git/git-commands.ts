import type { Grammar } from "./git-arguments.ts";

/** What of white space a diff passes over. */
const SPACES = ["-w", "--ignore-all-space", "-b", "--ignore-space-change"] as const;
const LISTING = ["--stat", "--numstat", "--name-only", "--name-status"] as const;
const PATCH = ["-p", "--patch", "-u", ...SPACES] as const;
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
const WALK = [
  "--all",
  "--branches",
  "--tags",
  "--remotes",
  "--first-parent",
  "--merges",
  "--no-merges",
  "--reverse",
  "--topo-order",
  "--date-order",
  "-i",
  "--all-match",
] as const;

/** The subcommands that only read, each with the options it may have. What is not named here does not exist. */
export const GIT_COMMANDS = {
  status: {
    flags: ["-s", "--short", "-b", "--branch", "-u", "--untracked-files", "--ignored"],
    values: { "--untracked-files": "word" },
    words: "paths",
    paths: true,
  },
  log: {
    flags: [
      ...LISTING,
      ...PATCH,
      ...WALK,
      "--oneline",
      "--graph",
      "--follow",
      "--decorate",
      "--abbrev-commit",
    ],
    values: { ...CHOICE, ...LOOK, ...LINES_AROUND },
    words: "revisions",
    paths: true,
  },
  diff: {
    flags: [...LISTING, "--shortstat", ...PATCH, "--staged", "--cached"],
    values: LINES_AROUND,
    words: "revisions",
    maxWords: 2,
    paths: true,
  },
  show: {
    flags: [...LISTING, ...PATCH, "--oneline", "-s", "--no-patch"],
    values: { ...LOOK, ...LINES_AROUND },
    words: "objects",
    paths: true,
  },
  shortlog: {
    flags: ["-s", "-n", "-e", "-sn", "-sne", "--summary", "--numbered", "--email", ...WALK],
    values: CHOICE,
    words: "revisions",
    paths: true,
  },
  blame: {
    flags: ["-w", "-M", "-C", "-e", "-s", "-l", "--show-email", "--root"],
    values: { "-L": "range", "--date": "text", "--since": "text" },
    words: "revisions",
    maxWords: 1,
    paths: true,
  },
  branch: {
    flags: ["-a", "--all", "-r", "--remotes", "-v", "-vv", "--list", "--show-current"],
    values: {
      "--contains": "revision",
      "--no-contains": "revision",
      "--merged": "revision",
      "--no-merged": "revision",
      "--sort": "word",
    },
  },
  tag: {
    flags: ["-l", "--list", "-n"],
    values: { "--contains": "revision", "--points-at": "revision", "--merged": "revision", "--sort": "word" },
  },
  "ls-files": {
    flags: [
      "-c",
      "--cached",
      "-m",
      "--modified",
      "-d",
      "--deleted",
      "-o",
      "--others",
      "-u",
      "--unmerged",
      "-i",
      "--ignored",
      "--exclude-standard",
    ],
    words: "paths",
    paths: true,
  },
  "ls-tree": { flags: ["-r", "-d", "-l", "--name-only"], words: "revisions", maxWords: 1, paths: true },
  grep: {
    flags: [
      "-i",
      "--ignore-case",
      "-n",
      "--line-number",
      "-w",
      "--word-regexp",
      "-l",
      "--files-with-matches",
      "-c",
      "--count",
      "-F",
      "--fixed-strings",
      "-E",
      "--extended-regexp",
      "-P",
      "--perl-regexp",
      "-v",
      "--cached",
      "--untracked",
    ],
    values: { "--max-depth": "number" },
    words: "pattern",
    paths: true,
  },
  "rev-parse": { flags: ["--short", "--abbrev-ref", "--symbolic-full-name"], words: "revisions" },
  "rev-list": {
    flags: [...WALK, "--count", "--left-right"],
    values: CHOICE,
    words: "revisions",
    paths: true,
  },
  "merge-base": { flags: ["--all", "--is-ancestor", "--fork-point"], words: "revisions", maxWords: 2 },
  describe: {
    flags: ["--tags", "--all", "--always", "--long", "--exact-match"],
    values: { "--abbrev": "number" },
    words: "revisions",
    maxWords: 1,
  },
} as const satisfies Readonly<Record<string, Grammar>>;

/** A subcommand that only reads. */
export type GitCommand = keyof typeof GIT_COMMANDS;
