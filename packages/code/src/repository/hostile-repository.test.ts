import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { worktreesIn } from "@retinue/core/git/git-folder";
import { openRepository, runGit } from "@retinue/core/git/run-git";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostileRepository, hostileRepository } from "../../../../test/fixtures/hostile-repository.ts";
import { personsGit, type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { type CommandGrammar, parseArguments } from "./git-arguments.ts";
import { git, gitCommit, gitDiff } from "./git-tools.ts";
import { GIT_COMMANDS } from "./read-commands.ts";

const signal = new AbortController().signal;

let place: ToolPlace;
let outside: string;
beforeEach(() => {
  place = toolPlace();
  outside = join(place.root, "outside");
  mkdirSync(outside);
});
afterEach(() => place.remove());

const hostile = (): HostileRepository => hostileRepository(place.projectDir, outside);
const reads = (command: string, ...args: string[]) => place.use(git, { command, args });

test("the repository that these tests use runs programs when a person uses git in it", () => {
  const repository = hostile();
  repository.touchAll();
  for (const args of [
    ["status"],
    ["diff"],
    ["diff", "-w", "HEAD~1"],
    ["log", "-p"],
    ["show", "-U1"],
    ["log", "-2", "-p"],
    ["log", "-1", "-p", "--ext-diff"],
    ["add", "."],
  ]) {
    spawnSync("git", args, { cwd: place.projectDir });
  }
  expect(repository.marks()).toEqual(
    expect.arrayContaining([
      "diff-command",
      "diff-external",
      "filter-clean",
      "fsmonitor",
      "gpg-openpgp",
      "textconv",
    ]),
  );
});

test("nothing that a repository names is run by any of the tools", async () => {
  const repository = hostile();
  const calls: [string, ...string[]][] = [
    ["status"],
    ["log"],
    ["log", "--stat"],
    ["log", "--follow", "--", "a.txt"],
    ["show"],
    ["show", "HEAD:a.txt"],
    ["show", "HEAD:data/d.bin"],
    ["blame", "a.txt"],
    ["blame", "data/d.bin"],
    ["branch", "-vv"],
    ["tag"],
    ["ls-files", "-m"],
    ["ls-tree", "HEAD"],
    ["grep", "one"],
    ["grep", "--untracked", "one"],
    ["shortlog"],
    ["diff"],
    ["describe", "--always"],
    ["rev-list", "--count", "HEAD"],
  ];
  for (const [command, ...args] of calls) {
    repository.touchAll();
    expect([command, await reads(command, ...args)]).toEqual([
      command,
      expect.objectContaining({ isError: false }),
    ]);
  }
  place.write("data/d.bin", "changed\n");
  place.write("a.txt", "changed\n");
  for (const input of [
    {},
    { staged: true },
    { commit: "HEAD" },
    { from: "HEAD~1" },
    { from: "HEAD~1", to: "HEAD" },
  ]) {
    expect((await place.use(gitDiff, input)).isError).toBe(false);
  }
  const committed = await place.use(gitCommit, { message: "m", paths: ["a.txt", "-x"] });
  expect(committed.text).toMatch(/^committed/);
  expect(repository.marks()).toEqual([]);
});

test.each(["data/d.bin", "x.odd", "other/x"])(
  "'%s' goes through a filter and is not committed without it",
  async (file) => {
    const repository = hostile();
    place.write(file, "new\n");
    const { text, isError } = await place.use(gitCommit, { message: "m", paths: [file] });
    expect([isError, text]).toEqual([true, expect.stringMatching(/goes through the filter/)]);
    expect(repository.marks()).toEqual([]);
  },
);

test("a filter without a name is one too, and does not hide those of the files after it", async () => {
  hostile();
  place.write(".gitattributes", "first filter=\nunset filter=mark\n");
  place.write("first", "new\n");
  place.write("unset", "new\n");
  for (const paths of [["first"], ["first", "unset"]]) {
    const { text, isError } = await place.use(gitCommit, { message: "m", paths });
    expect([isError, text]).toEqual([true, expect.stringMatching(/first goes through the filter ''/)]);
  }
});

test("a partial clone that lacks an object fetches nothing", async () => {
  place.write("a.txt", "one\n");
  place.git("init", "-q");
  place.git("add", ".");
  place.git("commit", "-qm", "first");
  const blob = place.git("rev-parse", "HEAD:a.txt");
  const mark = join(outside, "fetched");
  const script = join(outside, "fetch.sh");
  writeFileSync(script, `#!/bin/sh\n: > '${mark}'\nexit 1\n`);
  chmodSync(script, 0o755);
  place.git("config", "core.repositoryFormatVersion", "1");
  place.git("config", "extensions.partialClone", "origin");
  place.git("config", "remote.origin.promisor", "true");
  place.git("config", "remote.origin.url", `ext::${script}`);
  place.git("config", "protocol.ext.allow", "always");
  rmSync(join(place.projectDir, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  writeFileSync(join(place.projectDir, "a.txt"), "two\n");
  expect((await reads("show", "HEAD:a.txt")).isError).toBe(true);
  expect((await place.use(gitDiff, {})).isError).toBe(true);
  expect(existsSync(mark)).toBe(false);
  spawnSync("git", ["show", "HEAD:a.txt"], { cwd: place.projectDir });
  expect(existsSync(mark)).toBe(true);
});

test("a git of the project's own is not run", async () => {
  hostile();
  const bin = join(place.projectDir, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  const mark = join(outside, "own-git");
  writeFileSync(join(bin, "git"), `#!/bin/sh\n: > '${mark}'\n`);
  chmodSync(join(bin, "git"), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${bin}:.:${path}`;
  try {
    expect((await reads("status")).isError).toBe(false);
  } finally {
    process.env.PATH = path;
  }
  expect(existsSync(mark)).toBe(false);
});

/** A repository of somebody else, with a secret in it. */
function strangers(): string {
  const folder = join(outside, "stranger");
  mkdirSync(folder);
  writeFileSync(join(folder, "secret.txt"), "stranger's words\n");
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "strange"],
  ])
    personsGit(folder, args);
  return folder;
}

function hashFile(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => `${path} ${readFileSync(path, "latin1")}`)
    .join("\n");
}

const ELSEWHERE: readonly [string, (stranger: string) => void][] = [
  [".git is a file that points outside", (stranger) => place.write(".git", `gitdir: ${stranger}/.git\n`)],
  [".git is a link", (stranger) => symlinkSync(join(stranger, ".git"), join(place.projectDir, ".git"))],
  [
    ".git/commondir leads outside",
    (stranger) => {
      place.git("init", "-q");
      place.write(".git/commondir", `${stranger}/.git\n`);
    },
  ],
  [
    "the objects are a link",
    (stranger) => {
      place.git("init", "-q");
      rmSync(join(place.projectDir, ".git/objects"), { recursive: true });
      symlinkSync(join(stranger, ".git/objects"), join(place.projectDir, ".git/objects"));
    },
  ],
  [
    "it claims to be a worktree of another repository",
    (stranger) => {
      mkdirSync(join(stranger, ".git/worktrees/w"), { recursive: true });
      writeFileSync(join(stranger, ".git/worktrees/w/commondir"), "../..\n");
      writeFileSync(join(stranger, ".git/worktrees/w/HEAD"), "ref: refs/heads/main\n");
      writeFileSync(join(stranger, ".git/worktrees/w/gitdir"), `${place.projectDir}/.git\n`);
      place.write(".git", `gitdir: ${stranger}/.git/worktrees/w\n`);
    },
  ],
];

test.each(ELSEWHERE)("a repository that is elsewhere is refused: %s", async (_, prepare) => {
  const stranger = strangers();
  prepare(stranger);
  const before = hashFile(outside);
  place.write("new.txt", "x\n");
  for (const { text, isError } of [
    await reads("log"),
    await place.use(gitDiff, { commit: "HEAD" }),
    await place.use(gitCommit, { message: "m", paths: ["new.txt"] }),
  ]) {
    expect([isError, text]).toEqual([true, expect.stringMatching(/refused: /)]);
  }
  expect(hashFile(outside)).toBe(before);
});

test("core.worktree and bare do not lead git elsewhere", async () => {
  const stranger = strangers();
  place.git("init", "-q");
  place.git("config", "core.worktree", stranger);
  expect((await reads("status")).text).not.toContain("secret");
  expect((await reads("ls-files", "-o")).text).not.toContain("secret");
  place.git("config", "--unset", "core.worktree");
  place.git("config", "core.bare", "true");
  place.write("a.txt", "x\n");
  expect((await reads("status")).text).toContain("?? a.txt");
});

test.each(["logs/HEAD", "logs/refs/heads/main", "refs/heads/main", "refs/heads", "logs", "index", "HEAD"])(
  "a commit writes nothing through a link at .git/%s",
  async (name) => {
    place.git("init", "-q");
    place.write("a.txt", "one\n");
    place.git("add", ".");
    place.git("commit", "-qm", "first");
    const at = join(place.projectDir, ".git", name);
    renameSync(at, join(outside, "target"));
    symlinkSync(join(outside, "target"), at);
    const before = hashFile(outside);
    place.write("a.txt", "two\n");
    expect((await place.use(gitCommit, { message: "m", paths: ["a.txt"] })).text).toMatch(
      /refused: .*symbolic link/,
    );
    expect(hashFile(outside)).toBe(before);
  },
);

test("a nested repository's own programs are not run", async () => {
  place.git("init", "-q");
  const nested = join(place.projectDir, "nested");
  mkdirSync(nested);
  const repository = hostileRepository(nested, outside);
  place.git("-c", "protocol.file.allow=always", "add", "nested");
  place.git("commit", "-qm", "with a submodule");
  repository.touchAll();
  writeFileSync(join(nested, "a.txt"), "changed\n");
  const before = repository.marks();
  await reads("status");
  await place.use(gitDiff, {});
  await reads("grep", "one");
  expect(repository.marks()).toEqual(before);
});

test("a linked worktree that Retinue made is used, and no other", async () => {
  place.git("init", "-q");
  place.write("a.txt", "one\n");
  place.git("add", ".");
  place.git("commit", "-qm", "first");
  const worktree = join(place.root, "worktree");
  place.git("worktree", "add", "-q", "--detach", worktree);
  writeFileSync(join(worktree, "a.txt"), "two\n");
  const asked: unknown[] = [];
  const allowGitDir = (folder: { gitDir: string; commonDir: string }) => {
    asked.push([folder.gitDir, folder.commonDir]);
    return true;
  };
  const repository = await openRepository(worktree, { signal, allowGitDir });
  expect((await runGit(repository, ["diff", "--stat"], { signal })).stdout).toContain("a.txt");
  expect(asked).toEqual([
    [join(place.projectDir, ".git/worktrees/worktree"), join(place.projectDir, ".git")],
  ]);
  for (const allow of [undefined, worktreesIn(place.root), () => false]) {
    await expect(openRepository(worktree, { signal, allowGitDir: allow })).rejects.toThrow(/refused/);
  }
  const kept = join(place.root, "worktrees/run");
  mkdirSync(join(place.root, "worktrees"));
  place.git("worktree", "move", worktree, kept);
  expect((await openRepository(kept, { signal, allowGitDir: worktreesIn(place.root) })).projectDir).toBe(
    kept,
  );
});

test.each([
  ["log", "--output=/tmp/x"],
  ["log", "--outpu=/tmp/x"],
  ["log", "--ext-diff"],
  ["log", "--textconv"],
  ["log", "-O/tmp/x"],
  ["log", "--format=%G?"],
  ["show", "--output", "/tmp/x"],
  ["grep", "-Osh", "x"],
  ["grep", "--open-files-in-pager=sh", "x"],
  ["grep", "-f/etc/passwd"],
  ["grep", "--no-index", "x"],
  ["status", "-C", "/"],
  ["status", "--git-dir=/x"],
  ["ls-files", "--with-tree=x"],
  ["ls-files", "-X/etc/passwd"],
  ["blame", "--contents=/etc/passwd", "a.txt"],
  ["blame", "-S/etc/passwd", "a.txt"],
  ["blame", "-L:x:/a/,/b/", "a.txt"],
  ["branch", "-d", "main"],
  ["branch", "-D", "main"],
  ["branch", "--edit-description"],
  ["branch", "--merged=--output=x"],
  ["tag", "-d", "v1"],
  ["tag", "new"],
  ["describe", "--dirty"],
  ["rev-parse", "--upload-pack=sh"],
  ["rev-parse", "--git-dir"],
  ["log", "--upload-pack=sh"],
  ["log", "--exec=sh"],
  ["log", "a\nb"],
])("git %s %s is refused", async (command, ...args) => {
  place.git("init", "-q");
  expect((await reads(command, ...args)).text).toMatch(/not allowed|needs a|too many|not a revision/);
});

test("whatever the arguments are, no option gets through that is not listed", () => {
  const words = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "-p",
      "--output=x",
      "-O",
      "--",
      "-n",
      "--no-index",
      "--ext-diff",
      "-5",
      "HEAD",
      "--format",
      "a:b",
    ),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(GIT_COMMANDS)),
      fc.array(words, { maxLength: 6 }),
      (command, args) => {
        const grammar: CommandGrammar = GIT_COMMANDS[command as keyof typeof GIT_COMMANDS];
        const parsed = parseArguments(command, grammar, args);
        if (typeof parsed === "string") return;
        const known = [...(grammar.flags?.split(" ") ?? []), ...Object.keys(grammar.values ?? {})];
        for (const option of parsed.options) {
          expect(known.some((name) => option === name || option.startsWith(name))).toBe(true);
        }
        for (const word of parsed.words.slice(command === "grep" ? 1 : 0))
          expect(word.startsWith("-")).toBe(false);
      },
    ),
    { seed: 4, numRuns: 500 },
  );
});

test("names that begin with a dash or look like patterns are names", async () => {
  place.git("init", "-q");
  for (const file of ["-x", "--output=y", ":(top)z", "*.txt", "b.txt"]) place.write(file, `${file}\n`);
  expect(
    (await place.use(gitCommit, { message: "m", paths: ["-x", "--output=y", ":(top)z", "*.txt"] })).text,
  ).toMatch(/^committed/);
  expect(place.git("ls-files").split("\n")).toEqual(["*.txt", "--output=y", "-x", ":(top)z"]);
  expect((await reads("log", "--format=%s", "--", "-x")).text).toBe("m\n");
  expect((await reads("ls-files", "--", ":(top)z", "*.txt")).text).toBe("*.txt\n:(top)z");
  expect((await place.use(gitDiff, { commit: "HEAD", path: "--output=y", stat: true })).text).toContain(
    "--output=y | +1 -0",
  );
  expect(existsSync(join(place.projectDir, "y"))).toBe(false);
});
