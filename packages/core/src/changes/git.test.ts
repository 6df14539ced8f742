import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git } from "../../../../test/fixtures/project-tree.ts";
import { entriesOf, runShadowGit, splitNul } from "./git.ts";

let project = "";
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "retinue-shadow-git-")));
  git(project, "init", "-q");
  writeFileSync(join(project, "a.txt"), "a");
  git(project, "add", ".");
  git(project, "commit", "-q", "-m", "first");
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const env = () => ({ GIT_DIR: join(project, ".git") });

test("only exit codes that the caller expects are answers; another is an error with git's own words", async () => {
  const ask = (expect?: (code: number) => boolean) =>
    runShadowGit(["rev-parse", "-q", "--verify", "none"], {
      cwd: project,
      env: env(),
      ...(expect && { expect }),
    });
  expect((await ask((code) => code === 1)).code).toBe(1);
  await expect(ask((code) => code === 2)).rejects.toThrow("git rev-parse failed");
  await expect(runShadowGit(["cat-file", "-p", "none"], { cwd: project, env: env() })).rejects.toThrow(
    /git cat-file failed: .*none/,
  );
});

test("nothing is fetched, not even from a folder of this machine", async () => {
  await expect(runShadowGit(["ls-remote", project], { cwd: project })).rejects.toThrow("not allowed");
});

test("programs that a repository's configuration names are not run", async () => {
  const made = join(project, "made-by-a-program");
  git(project, "config", "core.fsmonitor", `touch ${made}; false`);
  git(project, "config", "core.hooksPath", join(project, "hooks"));
  mkdirSync(join(project, "hooks"));
  writeFileSync(join(project, "hooks", "reference-transaction"), `#!/bin/sh\ntouch ${made}\n`, {
    mode: 0o755,
  });
  await runShadowGit(["update-ref", "refs/retinue/x", "HEAD"], { cwd: project, env: env() });
  await runShadowGit(["status"], { cwd: project, env: { ...env(), GIT_WORK_TREE: project } });
  expect(git(project, "-c", "core.fsmonitor=false", "ls-files", "-o", "made-by-a-program")).toBe("");
});

test("of a listing, files and links are entries, and submodules are not", () => {
  const lines = [
    "100644 aa 0\tone two",
    "120000 bb 0\tlink",
    "160000 cc 0\tmodule",
    "100755 dd 0\tline\nbreak",
  ];
  const listing = Buffer.from(lines.map((line) => `${line}\0`).join(""));
  expect(splitNul(listing)).toEqual(lines);
  const entries = entriesOf(listing, /^(\d{6}) ([0-9a-f]+) 0\t([\s\S]+)$/);
  expect([...entries]).toEqual([
    ["one two", { mode: "100644", oid: "aa" }],
    ["link", { mode: "120000", oid: "bb" }],
    ["line\nbreak", { mode: "100755", oid: "dd" }],
  ]);
});
