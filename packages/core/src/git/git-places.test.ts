import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRepositories, parseGitConfig, readGitPlaces } from "./git-places.ts";

let root: string;
let projectDir: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-git-places-")));
  projectDir = join(root, "project");
  mkdirSync(join(projectDir, ".git/hooks"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** What is named in the project, by what, as seen by somebody about to write some files. */
function places(...writes: string[]): string[] {
  const repositories = findRepositories(
    projectDir,
    writes.map((path) => join(projectDir, path)),
  );
  const home = { homeDir: join(root, "home") };
  return readGitPlaces(repositories, [projectDir], home)
    .map(({ path, namedBy }) => `${path.slice(projectDir.length + 1)}: ${namedBy.replace(root, "")}`)
    .toSorted();
}

test("hooks, included settings, monitors, attributes and programs of a repository are told, there or not", () => {
  write(
    "project/.git/config",
    `[core]
	hooksPath = .husky ; not .git/hooks
	fsmonitor = tools/monitor.sh --fast
	attributesFile = "config/git attributes"
[include] path = ../.gitconfig
[includeIf "onbranch:main"]
	path = ~/elsewhere
[filter "lfs"]
	clean = sh scripts/clean.sh %f
	smudge = git-lfs smudge -- %f
[alias]
	fix = "!f() { node ./tools/fix.js README.md; }; f"
	st = status docs/a.md
[user]
	name = docs
[remote "origin"]
	url = ../other
[branch "main"]
	merge = refs/heads/main
`,
  );
  write("project/.gitconfig", "[diff]\n\texternal = /bin/true\n[core]\n\tpager = ./pager\n");
  expect(places()).toEqual([
    ".gitconfig: include.path in .git/config",
    ".husky: core.hooksPath in .git/config",
    "config/git attributes: core.attributesFile in .git/config",
    "pager: core.pager in .gitconfig",
    "scripts/clean.sh: filter.lfs.clean in .git/config",
    "tools/fix.js: alias.fix in .git/config",
    "tools/monitor.sh: core.fsmonitor in .git/config",
  ]);
});

test("a monitor that is a mere switch, and paths outside the project, are no places of it", () => {
  write("project/.git/config", "[core]\n\tfsmonitor = true\n\thooksPath = /usr/share/hooks\n\tpager\n");
  expect(places()).toEqual([]);
});

test("the folder around husky's own holds the hooks that it calls; a project that is its own folder of hooks has only those", () => {
  write("project/.git/config", "[core]\n\thooksPath = .husky/_\n");
  expect(places()).toEqual([".husky: core.hooksPath in .git/config"]);
  write("project/.git/config", "[core]\n\thooksPath = .\n");
  expect(places()).toContain("pre-commit: core.hooksPath in .git/config");
  expect(places()).not.toContain("src: core.hooksPath in .git/config");
});

test("settings of nested repositories, worktrees, submodules, a repository around the project and of the user count", () => {
  write("project/a/.git/config", "[core]\n\thooksPath = ../shared\n");
  write("project/x/y/deep/.git", "gitdir: ../../../.git/modules/deep\n");
  write("project/.git/modules/deep/config", "[core]\n\thooksPath = own\n");
  write("project/.git/config.worktree", "[core]\n\thooksPath = of-worktree\n");
  write(".git/config", "[include]\n\tpath = ../project/around.inc\n");
  write("home/.gitconfig", "[core]\n\thooksPath = .githooks\n");
  symlinkSync(join(projectDir, "dotfiles/config"), join(root, "home/link"));
  write("home/.config/git/config", "[include]\n\tpath = ~/link\n");
  expect(places()).toEqual([
    ".githooks: core.hooksPath in /home/.gitconfig",
    "a/.githooks: core.hooksPath in /home/.gitconfig",
    "around.inc: include.path in /.git/config",
    "dotfiles/config: include.path in /home/.config/git/config",
    "of-worktree: core.hooksPath in .git/config.worktree",
    "shared: core.hooksPath in a/.git/config",
  ]);
  expect(places("x/y/deep/file")).toContain("x/y/deep/own: core.hooksPath in .git/modules/deep/config");
});

test("links are followed to what they mean, and are places themselves; hooks that are links lead to one", () => {
  write("project/real/hooks/pre-commit", "");
  symlinkSync("real", join(projectDir, "link"));
  symlinkSync("../../scripts/hook.sh", join(projectDir, ".git/hooks/pre-push"));
  write("project/.git/config", "[core]\n\thooksPath = link/hooks\n");
  expect(places()).toEqual([
    "link: core.hooksPath in .git/config",
    "real/hooks: core.hooksPath in .git/config",
    "scripts/hook.sh: the link .git/hooks/pre-push",
  ]);
});

test("includes that go round in a circle, or on and on, come to an end", () => {
  write("project/.git/config", "[include]\n\tpath = ../loop\n");
  write("project/loop", "[include]\n\tpath = loop\n[core]\n\thooksPath = hooks\n");
  expect(places()).toEqual(["hooks: core.hooksPath in loop", "loop: include.path in .git/config"]);
});

test.each([
  '[a]\n\tb = c # d\n\te = "f # g" ; h\n\ti = j\\\n  k\n',
  '[A "Sub.Name \\"x\\" \\\\"]\n\tKey-1=v w  \n\tflag\n\tempty =\n[old.Style]\nx="a\\tb\\nc" d\n',
  '\uFEFF# first\n[core] hooksPath = .husky\n; last\n[b]c=1\n[d]\n\n\te = "  f  "g\n',
])("settings are read as git reads them: %j", (text) => {
  write("config", text);
  const told = execFileSync("git", ["config", "-z", "--list", "-f", join(root, "config")], {
    encoding: "utf8",
  });
  const expected = told
    .split("\0")
    .filter(Boolean)
    .map((each) => each.split(/\n(.*)/s, 2));
  const read = parseGitConfig(text).map(({ key, value }) => [key, value]);
  expect(read.map(([key, value]) => [key?.toLowerCase(), value])).toEqual(
    expected.map(([key, value]) => [key?.toLowerCase(), value ?? "true"]),
  );
});
