import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { git, gitCommit, gitDiff } from "./git-tools.ts";

/** The run may read everything but what lies in `secret/`. */
const maySee: ToolContext["maySee"] = (file) => file.kind === "path" && !file.relative.startsWith("secret/");

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
  place.git("init", "-q");
  place.write("a.txt", "one\ntwo\n");
  place.write("src/b.ts", "const b = 1;\n");
  place.write("secret/key.txt", "hidden words\n");
  place.write(".gitignore", "ignored\n");
  place.git("add", ".");
  place.git("commit", "-qm", "first\n\nwith a body");
  place.write("a.txt", "one\ntwo\nthree\n");
  place.write("secret/key.txt", "more hidden words\n");
  place.git("commit", "-qam", "second");
});
afterEach(() => place.remove());

const read = async (command: string, args: string[] = [], more: Partial<ToolContext> = {}) =>
  place.use(git, { command, args }, more);
const textOf = async (command: string, args: string[] = [], more: Partial<ToolContext> = {}) =>
  (await read(command, args, more)).text;

describe("git", () => {
  test("status names the branch and what changed, and says so if nothing did", async () => {
    expect(await textOf("status")).toBe("## main\nnothing to commit, working tree clean");
    place.write("a.txt", "x\n");
    place.write("new/c.txt", "c\n");
    rmSync(join(place.projectDir, "src/b.ts"));
    expect(await textOf("status")).toBe("## main\n M a.txt\n D src/b.ts\n?? new/c.txt");
    expect(await textOf("status", ["new"])).toBe("## main\n?? new/c.txt");
    expect(await textOf("status", ["--untracked-files=no"])).toBe("## main\n M a.txt\n D src/b.ts");
  });

  test("log is limited to what was asked for", async () => {
    expect(await textOf("log", ["--format=%s"])).toBe("second\nfirst\n");
    expect(await textOf("log", ["-1", "--format=%an %s"])).toBe("Ada second\n");
    expect(await textOf("log", ["-n", "1", "--oneline", "--", "src/b.ts"])).toMatch(/^[0-9a-f]+ first\n$/);
    expect(await textOf("log", ["--format=%s", "HEAD~1..HEAD"])).toBe("second\n");
    expect(await textOf("log", ["--grep", "body", "--format=%s"])).toBe("first\n");
  });

  test("log and show list the files of commits", async () => {
    expect(await textOf("log", ["--name-status", "--format=%s"])).toBe(
      "second\nM\ta.txt\nM\tsecret/key.txt\n\nfirst\nA\t.gitignore\nA\ta.txt\nA\tsecret/key.txt\nA\tsrc/b.ts",
    );
    const shown = await textOf("show", ["--numstat"]);
    expect(shown).toMatch(
      /^commit [0-9a-f]{40}\nAuthor: Ada <ada@example.org>\n[\s\S]*second\n\+1 -0\ta\.txt\n/,
    );
    expect(shown).not.toContain("three");
    expect(await textOf("show", ["-s"])).not.toContain("a.txt");
    expect(await textOf("show", ["--oneline", "--name-only"])).toMatch(
      /^[0-9a-f]+ second\na\.txt\nsecret\/key\.txt$/,
    );
  });

  test.each([
    ["show", []],
    ["show", ["HEAD", "-U1"]],
    ["log", ["-p", "-1"]],
    ["log", ["--patch", "--oneline", "-n", "1"]],
    ["diff", ["HEAD~1", "HEAD"]],
    ["diff", ["HEAD~1..HEAD"]],
    ["diff", ["HEAD~1...HEAD", "-w"]],
    ["diff", ["-p", "--stat", "HEAD~1.."]],
  ] as const)("git %s %j shows what changed, without files that may not be read", async (command, args) => {
    const text = await textOf(command, [...args], { maySee });
    expect(text).toContain("+three");
    expect(text).toContain(command === "diff" ? "a.txt | +1 -0" : "second");
    expect(text).not.toContain("hidden words");
    expect(text).toContain("(1 files left out: there is no right to read them)");
  });

  test.each([
    ["a file became a folder", ["conf"], ["conf/open.txt", "conf/hidden.txt"]],
    ["a folder became a file", ["conf/open.txt", "conf/hidden.txt"], ["conf"]],
    ["a name has signs of patterns", ["[c]*o?nf\\"], ["[c]*o?nf\\/open.txt", "[c]*o?nf\\/hidden.txt"]],
    ["a name looks like magic", [":(glob)x"], [":(glob)x/open.txt", ":(glob)x/hidden.txt"]],
    ["a name begins with another character set", ["日本"], ["日本/open.txt", "日本/hidden.txt"]],
    ["a folder is named like a pattern", [], ["conf", "\\conf/hidden.txt"]],
    ["names differ in case", ["conf"], ["CONF/hidden.txt", "conf/open.txt"]],
  ])("only files that may be read are shown where %s", async (_, before, after) => {
    const seesOpen: ToolContext["maySee"] = (file) =>
      file.kind === "path" && !file.relative.endsWith("/hidden.txt");
    const more = { maySee: seesOpen };
    for (const file of before) place.write(file, `words of ${file}\n`);
    place.git("add", "-A");
    place.git("commit", "--allow-empty", "-qm", "before");
    for (const file of before)
      rmSync(join(place.projectDir, file.split("/")[0] ?? ""), { recursive: true, force: true });
    for (const file of after) place.write(file, `words of ${file}\n`);
    place.git("add", "-A");
    const shown = [
      await textOf("diff", [], more),
      await textOf("diff", ["--cached"], more),
      (await place.use(gitDiff, {}, more)).text,
    ];
    place.git("commit", "-qm", "after");
    shown.push(await textOf("show", ["HEAD"], more), await textOf("log", ["-p", "-1"], more));
    shown.push(await textOf("diff", ["HEAD~1", "HEAD"], more));
    shown.push((await place.use(gitDiff, { commit: "HEAD" }, more)).text);
    const open = [...before, ...after].filter((file) => !file.endsWith("/hidden.txt"));
    for (const text of shown) {
      expect(text).not.toContain("hidden.txt");
      expect(text).toContain("(1 files left out: there is no right to read them)");
      for (const file of open)
        expect(text.split("\n")).toContain(`${before.includes(file) ? "-" : "+"}words of ${file}`);
    }
  });

  test("a submodule in the place of a folder shows nothing of the folder", async () => {
    place.git("rm", "-rq", "--cached", "secret");
    place.git("update-index", "--add", "--cacheinfo", `160000,${place.git("rev-parse", "HEAD")},secret`);
    place.git("commit", "-qm", "submodule");
    const text = await textOf("show", ["HEAD"], { maySee });
    expect(text).toContain("+Subproject commit");
    expect(text).not.toContain("hidden words");
  });

  test("diff shows what is not committed, what is staged, one path, or only the names", async () => {
    place.write("a.txt", "one\n");
    place.write("src/b.ts", "const b = 2;\n");
    place.git("add", "src/b.ts");
    const all = await textOf("diff");
    expect(all).toContain("HEAD → working tree");
    expect(all).toContain("-two");
    expect(all).toContain("+const b = 2;");
    expect(await textOf("diff", ["--cached"])).not.toContain("-two");
    expect(await textOf("diff", ["--", "a.txt"])).not.toContain("const b");
    expect(await textOf("diff", ["--name-only"])).toBe(
      "HEAD → working tree\n a.txt | +0 -2\n src/b.ts | +1 -1\n 2 files changed, +1 -3",
    );
    expect((await read("diff", ["a.txt"])).text).toBe("there is no commit 'a.txt'; paths come after --");
  });

  test("log -p shows ten commits at once and says how to go on", async () => {
    for (let count = 0; count < 12; count++) {
      place.write("a.txt", `${count}\n`);
      place.git("commit", "-qam", `change ${count}`);
    }
    const text = await textOf("log", ["-p"]);
    expect(text.match(/^commit /gm)).toHaveLength(10);
    expect(text).toContain("(changes of 10 commits at once; go on with --skip=10)");
    expect(await textOf("log", ["-p", "--skip=10"])).toContain("+three");
  });

  test("many large objects are cut where all of them together are too long, and the rest is counted", async () => {
    place.write("large.txt", "some words\n".repeat(150_000));
    place.git("add", ".");
    place.git("commit", "-qm", "large");
    for (const [command, args] of [
      ["show", Array.from({ length: 50 }, () => "HEAD")],
      ["show", Array.from({ length: 50 }, () => "HEAD:large.txt")],
    ] as const) {
      const text = await textOf(command, args);
      expect(text.length).toBeLessThan(5 * 1024 * 1024);
      expect(text).toMatch(/\n\(cut here, 4[67] more are not shown; ask for less at once\)$/);
    }
    expect(await textOf("show", ["HEAD:large.txt", "HEAD:a.txt"])).toMatch(/\none\ntwo\nthree\n$/);
  });

  test("log --follow shows a rename as one, and what was changed under the earlier name", async () => {
    place.git("mv", "a.txt", "M");
    place.git("commit", "-qm", "moved");
    place.write("M", "one\ntwo\nthree\nfour\n");
    place.write("src/b.ts", "const other = 1;\n");
    place.git("commit", "-qam", "changed");
    const text = await textOf("log", ["-p", "--follow", "--format=%s", "--", "M"]);
    expect(text).toMatch(/^changed\n[\s\S]*\+four[\s\S]*^moved\n a\.txt => M \| \+0 -0\n/m);
    expect(text).toMatch(/^rename from a\.txt\nrename to M$/m);
    expect(text).toMatch(/^second\n a\.txt \| \+1 -0[\s\S]*^\+three[\s\S]*^first\n a\.txt \| \+2 -0/m);
    expect(text).not.toMatch(/other|words/);
    expect(await textOf("log", ["-p", "-1", "--skip=1", "--follow", "--", "M"])).toContain(
      "rename from a.txt",
    );
    expect(await textOf("log", ["--stat", "--follow", "--format=%s", "--", "M"])).toContain(
      "second\n+1 -0\ta.txt",
    );
    place.git("mv", "secret/key.txt", "open.txt");
    place.git("commit", "-qm", "opened");
    const hidden = await textOf("log", ["-p", "--follow", "--", "open.txt"], { maySee });
    expect(hidden).not.toMatch(/hidden words|key\.txt/);
  });

  test("log --graph says that files and changes are shown without it", async () => {
    const note = "(files and changes are shown without --graph)";
    for (const option of ["-p", "--stat"])
      expect(await textOf("log", ["--graph", option, "--format=%s"])).toBe(`* second\n* first\n\n${note}`);
    expect(await textOf("log", ["--graph", "--format=%s"])).toBe("* second\n* first\n");
  });

  test("options on white space alone ask for no patch, and count for the list of files", async () => {
    place.write("a.txt", "one\n  two\nthree\nfour\n");
    expect(await textOf("diff", ["--stat", "-w"])).toBe(
      "HEAD → working tree\n a.txt | +1 -0\n 1 file changed, +1 -0",
    );
    expect(await textOf("log", ["-w", "--format=%s"])).toBe("second\nfirst\n");
    expect(await textOf("show", ["-w", "--name-only", "--format=%s"])).toBe("second\na.txt\nsecret/key.txt");
    expect(await textOf("show", ["-w"])).toContain("+three");
    expect(await textOf("log", ["-U1", "-1"])).toContain("+three");
  });

  test("a merge is listed against its first parent", async () => {
    place.git("checkout", "-qb", "side", "HEAD~1");
    place.write("side.txt", "s\n");
    place.git("add", ".");
    place.git("commit", "-qm", "side");
    place.git("checkout", "-q", "main");
    place.git("merge", "-q", "--no-ff", "-m", "merged", "side");
    expect(await textOf("show", ["--name-only", "--format=%s"])).toBe("merged\nside.txt");
    expect((await place.use(gitDiff, { commit: "HEAD" })).text).toContain(
      "(a merge, against its first parent)\n side.txt | +1 -0",
    );
  });

  test("show gives a file of a revision", async () => {
    expect(await textOf("show", ["HEAD~1:a.txt"])).toBe("one\ntwo\n");
    expect(await textOf("show", ["HEAD:./src/../a.txt"])).toBe("one\ntwo\nthree\n");
    expect(await read("show", ["HEAD:../outside"])).toMatchObject({ isError: true });
    expect((await read("show", ["HEAD:src"])).isError).toBe(true);
  });

  test("blame, branch, tag, ls-files, ls-tree, shortlog, rev-parse and the like answer", async () => {
    place.git("tag", "v1", "HEAD~1");
    place.git("branch", "other");
    expect(await textOf("blame", ["-s", "-L", "3,3", "a.txt"])).toMatch(/^[0-9a-f]+ 3\) three$/);
    expect(await textOf("blame", ["HEAD~1", "--", "a.txt"])).toMatch(/two$/);
    expect(await textOf("branch")).toBe("* main\n  other");
    expect(await textOf("branch", ["--show-current"])).toBe("main");
    expect(await textOf("tag")).toBe("v1");
    expect(await textOf("ls-files", ["src"])).toBe("src/b.ts");
    expect(await textOf("ls-tree", ["-r", "--name-only", "HEAD"])).toBe(
      ".gitignore\na.txt\nsecret/key.txt\nsrc/b.ts",
    );
    expect(await textOf("shortlog", ["-sn"])).toMatch(/2\tAda$/);
    expect(await textOf("rev-parse", ["--abbrev-ref", "HEAD"])).toBe("main");
    expect(await textOf("rev-list", ["--count", "HEAD"])).toBe("2");
    expect(await textOf("merge-base", ["--is-ancestor", "HEAD", "v1"])).toBe("no");
    expect(await textOf("describe", ["--tags"])).toMatch(/^v1-1-g/);
    expect(await textOf("diff", ["--stat", "HEAD~1", "HEAD", "--", "a.txt"])).toBe(
      "HEAD~1 → HEAD\n a.txt | +1 -0\n 1 file changed, +1 -0",
    );
  });

  test("grep finds in the working tree and in revisions", async () => {
    expect(await textOf("grep", ["three"])).toBe("a.txt:3:three");
    expect(await textOf("grep", ["-l", "t[wh]", "HEAD~1"])).toBe("HEAD~1:a.txt");
    expect(await textOf("grep", ["nowhere"])).toBe("no matches");
    expect(await textOf("grep", ["--", "-x"])).toMatch(/needs a pattern/);
  });

  test("what the run may not read is left out and counted", async () => {
    place.write("secret/new.txt", "hidden\n");
    const note = (count: number) => `(${count} files left out: there is no right to read them)`;
    expect(await textOf("status", [], { maySee })).toBe(`## main\n(nothing)\n${note(1)}`);
    expect(await textOf("grep", ["words"], { maySee })).toBe(`no matches\n${note(1)}`);
    expect(await textOf("log", ["-1", "--name-only", "--format=%s"], { maySee })).toBe(
      `second\na.txt\n\n${note(1)}`,
    );
    expect(await textOf("ls-files", ["secret"], { maySee })).toBe(`(nothing)\n${note(1)}`);
    for (const args of [
      ["blame", "secret/key.txt"],
      ["show", "HEAD:secret/key.txt"],
      ["show", "HEAD:src/../secret/key.txt"],
    ] as const) {
      expect(await read(args[0], [args[1]], { maySee })).toEqual({
        text: "there is no right to read secret/key.txt",
        isError: true,
      });
    }
    const diff = await place.use(gitDiff, { commit: "HEAD" }, { maySee });
    expect(diff.text).toContain(note(1));
    expect(diff.text).not.toContain("hidden");
  });

  test("an id or a tag of a file's content or a folder is no way around a right to read", async () => {
    const blob = place.git("rev-parse", "HEAD:secret/key.txt");
    const tree = place.git("rev-parse", "HEAD:secret");
    const root = place.git("rev-parse", "HEAD^{tree}");
    place.git("tag", "folder", tree);
    place.git("tag", "-am", "x", "noted-folder", tree);
    place.git("tag", "content", blob);
    for (const id of [blob, tree, root, "folder", "noted-folder", "content", "HEAD^{tree}", "folder^{}"]) {
      for (const command of ["show", "log", "ls-tree", "rev-list", "shortlog", "diff"])
        expect(await textOf(command, [id], { maySee })).not.toMatch(/hidden|key\.txt/);
      for (const path of ["key.txt", "./key.txt", "secret/key.txt", "", "."])
        expect(await read("show", [`${id}:${path}`], { maySee })).toMatchObject({ isError: true });
      expect(await read("grep", ["hid", id], { maySee })).toMatchObject({ isError: true });
      expect(await read("ls-tree", [id], { maySee })).toMatchObject({ isError: true });
      expect(await read("blame", [id, "--", "key.txt"], { maySee })).toMatchObject({ isError: true });
      for (const asked of [{ from: id, to: "HEAD" }, { from: "HEAD", to: id }, { from: id }, { commit: id }])
        expect((await place.use(gitDiff, asked, { maySee })).text).toMatch(/there is no commit/);
    }
    for (const word of [
      ":secret/key.txt",
      ":0:secret/key.txt",
      "HEAD:secret",
      ":/second",
      "HEAD:secret:key.txt",
    ])
      expect(await textOf("show", [word], { maySee })).not.toContain("hidden");
    place.git("tag", "-am", "x", "release");
    expect(await textOf("show", ["release:a.txt"], { maySee })).toBe("one\ntwo\nthree\n");
  });

  test("an option that is not listed is refused, and those that are allowed are named", async () => {
    expect(await read("log", ["-G", "x"])).toEqual({
      text: expect.stringMatching(
        /^git log: the option '-G' is not allowed; allowed: --stat, .*--max-count <number>/,
      ),
      isError: true,
    });
    expect((await read("branch", ["new-branch"])).isError).toBe(true);
    expect(place.git("branch", "--list", "new-branch")).toBe("");
  });

  test("a folder that is no repository, or lies in one, is said to be so", async () => {
    const other = toolPlace();
    expect(await other.use(git, { command: "status" })).toEqual({
      text: "the project's folder is not a git repository (it has no .git of its own)",
      isError: true,
    });
    other.remove();
  });

  test("a stopped run stops git", async () => {
    expect((await read("status", [], { signal: AbortSignal.abort() })).isError).toBe(true);
  });
});

describe("git_diff", () => {
  test("of a commit, between revisions, of the first commit", async () => {
    expect((await place.use(gitDiff, { commit: "HEAD", path: "a.txt" })).text).toMatch(
      /^commit [0-9a-f]+ Ada, 2026-01-02: second\n a\.txt \| \+1 -0\n 1 file changed, \+1 -0\n\ndiff --git a\/a\.txt b\/a\.txt\n[\s\S]*\n\+three$/,
    );
    expect((await place.use(gitDiff, { from: "HEAD", to: "HEAD~1", path: "a.txt" })).text).toContain(
      "\n-three",
    );
    expect((await place.use(gitDiff, { commit: "HEAD~1", stat: true })).text).toContain("4 files changed");
  });

  test("without revisions it shows all that is not committed, and names untracked files", async () => {
    expect((await place.use(gitDiff, {})).text).toBe("HEAD → working tree\n no changes");
    place.write("a.txt", "one\nTWO\nthree\n");
    place.git("add", "a.txt");
    place.write("src/b.ts", "const b = 2;\n");
    place.write("new.txt", "n\n");
    const { text } = await place.use(gitDiff, {});
    expect(text).toMatch(
      / a\.txt \| \+1 -1\n src\/b\.ts \| \+1 -1\n 2 files changed, \+2 -2\n new\.txt \| untracked\n/,
    );
    expect(text).toContain("+TWO");
    expect((await place.use(gitDiff, { staged: true })).text).not.toContain("src/b.ts");
  });

  test("renames, binary files and odd names are shown", async () => {
    place.git("mv", "a.txt", "ä -> b.txt");
    place.write("bin", "\0\u0001");
    place.git("add", ".");
    const { text } = await place.use(gitDiff, { staged: true });
    expect(text).toContain(" bin | binary\n a.txt => ä -> b.txt | +0 -0\n");
    expect(text).toContain("rename to ä -> b.txt");
  });

  test("a diff that is too long is cut, and says so", async () => {
    place.write("a.txt", "a line that is long enough\n".repeat(100_000));
    const { text } = await place.use(gitDiff, { path: "a.txt" });
    expect(text).toMatch(/\(the diff is longer and was cut here; name a path\)$/);
    expect(text.length).toBeLessThan(2_200_000);
  });

  test("works before the first commit", async () => {
    const other = toolPlace();
    other.git("init", "-q");
    other.write("x", "1\n");
    other.git("add", ".");
    expect((await other.use(gitDiff, { staged: true })).text).toMatch(
      /^nothing \(no commit yet\) → staged\n x \| \+1 -0/,
    );
    other.remove();
  });
});

describe("git_commit", () => {
  const commit = (paths: string[], message = "a change", more: Partial<ToolContext> = {}) =>
    place.use(gitCommit, { message, paths }, more);

  test("commits exactly the named files; what else is changed or staged stays so", async () => {
    place.write("a.txt", "changed\n");
    place.write("src/b.ts", "changed\n");
    place.write("new.txt", "new\n");
    place.git("add", "src/b.ts");
    const { text, isError } = await commit(["a.txt", "new.txt"], "Two files\n\nWhy.");
    expect([isError, text]).toEqual([
      false,
      expect.stringMatching(
        /^committed [0-9a-f]{12} on main\nM\ta\.txt\nA\tnew\.txt\nchanged, and not in this commit: src\/b\.ts$/,
      ),
    ]);
    expect(place.git("status", "--porcelain")).toBe("M  src/b.ts");
    expect(place.git("log", "-1", "--format=%an %cn%n%B")).toMatch(
      /^\S.*\nTwo files\n\nWhy\.\n\nRetinue-Call: call [0-9a-f]{16}/,
    );
    expect(place.git("fsck")).toBe("");
  });

  test("names at most twenty files that are changed and not in the commit, and none that may not be read", async () => {
    for (let count = 0; count < 25; count++) place.write(`many/${count}.txt`, "1\n");
    place.git("add", "many");
    place.write("secret/key.txt", "changed\n");
    place.write("a.txt", "changed\n");
    const { text } = await commit(["a.txt"], "a change", { maySee });
    expect(text).toMatch(
      /\nchanged, and not in this commit: (?:many\/\d+\.txt, ){19}many\/\d+\.txt and 5 more$/,
    );
  });

  test("the author is the repository's, or Retinue without any configuration", async () => {
    place.write("a.txt", "1\n");
    const home = process.env.HOME;
    process.env.HOME = place.root;
    try {
      await commit(["a.txt"]);
      expect(place.git("log", "-1", "--format=%an <%ae> %cn")).toBe("Retinue <retinue@localhost> Retinue");
      writeFileSync(join(place.root, ".gitconfig"), "[user]\n name = Person\n email = p@example.org\n");
      place.write("a.txt", "2\n");
      await commit(["a.txt"]);
      expect(place.git("log", "-1", "--format=%an <%ae>")).toBe("Person <p@example.org>");
      place.git("config", "user.name", "Local");
      place.write("a.txt", "3\n");
      await commit(["a.txt"]);
      expect(place.git("log", "-1", "--format=%an <%ae>")).toBe("Local <p@example.org>");
    } finally {
      process.env.HOME = home;
    }
  });

  test("deletions, modes, and a folder in the place of a file are committed", async () => {
    rmSync(join(place.projectDir, "a.txt"));
    place.write("a.txt/inner", "x\n");
    chmodSync(place.write("run.sh", "#!/bin/sh\n"), 0o755);
    expect((await commit(["a.txt", "a.txt/inner", "run.sh"])).text).toMatch(
      /D\ta\.txt\nA\ta\.txt\/inner\nA\trun\.sh$/,
    );
    expect(place.git("ls-tree", "HEAD", "run.sh")).toMatch(/^100755/);
    expect(place.git("status", "--porcelain")).toBe("");
  });

  test("what a file in a folder's place removes is not named if it may not be read", async () => {
    rmSync(join(place.projectDir, "secret"), { recursive: true });
    place.write("secret", "a file\n");
    const done = await place.use(gitCommit, { message: "swapped", paths: ["secret"] }, { maySee });
    expect(done.text).toMatch(/^committed [0-9a-f]+ on main\nA\tsecret$/);
  });

  test("the first commit of a repository works", async () => {
    const other = toolPlace();
    other.git("init", "-q");
    other.write("x", "1\n");
    expect((await other.use(gitCommit, { message: "m", paths: ["x"] })).text).toMatch(
      /on main \(the first commit\)\nA\tx$/,
    );
    other.remove();
  });

  test.each([
    ["nothing changed", ["a.txt"], /as they are in HEAD/],
    ["there is no such file", ["none.txt"], /no file none\.txt/],
    ["a folder is named", ["src"], /not a regular file|is a folder/],
    ["it is outside", ["../x"], /no file of the project/],
    ["it is ignored", ["ignored"], /ignored by \.gitignore/],
    ["it is a link", ["link.txt"], /symbolic link/],
    ["it lies behind a link", ["linked/x"], /symbolic link/],
    ["it belongs to another repository", ["nested/x"], /another repository, nested/],
  ])("is refused if %s, and nothing is changed", async (_, paths, why) => {
    place.write("ignored", "x\n");
    place.write("nested/x", "x\n");
    mkdirSync(join(place.projectDir, "nested/.git"));
    writeFileSync(join(place.root, "x"), "outside\n");
    symlinkSync(join(place.root, "x"), join(place.projectDir, "link.txt"));
    symlinkSync(place.root, join(place.projectDir, "linked"));
    const before = place.git("rev-parse", "HEAD");
    const { text, isError } = await commit(paths);
    expect([isError, text]).toEqual([true, expect.stringMatching(why)]);
    expect(place.git("rev-parse", "HEAD")).toBe(before);
    expect(place.git("diff", "--cached", "--name-only")).toBe("");
  });

  test("is refused while a merge is under way, and after a file without a right to read it", async () => {
    place.git("checkout", "-qb", "side", "HEAD~1");
    place.write("a.txt", "other\n");
    place.git("commit", "-qam", "side");
    expect(() => place.git("merge", "-q", "main")).toThrow();
    place.write("new.txt", "x\n");
    expect((await commit(["new.txt"])).text).toMatch(/a merge is under way/);
    place.git("merge", "--abort");
    place.write("secret/key.txt", "x\n");
    expect((await commit(["secret/key.txt"], "m", { maySee })).text).toMatch(/no right to read/);
  });

  test("a commit on a detached HEAD is said to be on no branch", async () => {
    place.git("checkout", "-q", "--detach");
    place.write("a.txt", "x\n");
    expect((await commit(["a.txt"])).text).toContain("HEAD is detached");
  });

  test("line ends are kept as the repository wants them", async () => {
    place.write(".gitattributes", "*.txt text\n");
    place.write("crlf.txt", "a\r\nb\r\n");
    await commit([".gitattributes", "crlf.txt"]);
    expect(place.git("cat-file", "-s", "HEAD:crlf.txt")).toBe("4");
  });

  test("after a crash the commit of a call is found by its trailer, and only by that", async () => {
    const input = { message: "once", paths: ["a.txt"] };
    const ask = (callId: string, asked = input) =>
      gitCommit.lookup?.(asked, {
        projectDir: place.projectDir,
        workspaceDir: place.workspaceDir,
        sessionId: "ses",
        runId: "run",
        callId,
        signal: new AbortController().signal,
      });
    place.write("a.txt", "x\n");
    expect(await ask("call")).toBeNull();
    await place.use(gitCommit, input);
    expect(await ask("call")).toMatch(/^committed as [0-9a-f]+ before the interruption$/);
    expect(await ask("call2")).toBeNull();
    expect(await ask("call", { ...input, message: "twice" })).toBeNull();
  });

  test("a message cannot carry the trailer of a call", async () => {
    place.write("a.txt", "x\n");
    expect((await commit(["a.txt"], "x\n\nRetinue-Call: other")).text).toMatch(/added by the host/);
  });

  test("no index and no lock is left behind", async () => {
    place.write("a.txt", "x\n");
    await commit(["a.txt"]);
    expect(existsSync(join(place.projectDir, ".git/index.lock"))).toBe(false);
  });
});
