import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git } from "../../../../test/fixtures/project-tree.ts";
import { findRepository, objectFormat } from "./repository.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-repository-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A repository with one commit. */
function makeProject(...options: string[]): string {
  const project = join(root, "project");
  mkdirSync(project);
  git(project, "init", "-q", ...options);
  writeFileSync(join(project, "a.txt"), "a");
  git(project, "add", ".");
  git(project, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first");
  return project;
}

test("a project is in a repository only if it is its top folder", () => {
  const project = makeProject();
  const gitDir = join(project, ".git");
  expect(findRepository(project)).toEqual({ gitDir, commonDir: gitDir });
  mkdirSync(join(project, "below"));
  expect(findRepository(join(project, "below"))).toBeNull();
  expect(findRepository(join(root, "none"))).toBeNull();
});

test("a linked worktree has its own HEAD and shares objects and refs", () => {
  const project = makeProject();
  git(project, "worktree", "add", "-q", "--detach", join(root, "copy"));
  expect(findRepository(join(root, "copy"))).toEqual({
    gitDir: join(project, ".git", "worktrees", "copy"),
    commonDir: join(project, ".git"),
  });
});

test("a .git that leads nowhere, or is no pointer, is no repository", () => {
  for (const text of [
    "gitdir: /does/not/exist\n",
    "hello",
    `gitdir: ${makeProject()}/.git${" ".repeat(5_000)}`,
  ]) {
    writeFileSync(join(root, ".git"), text);
    expect(findRepository(root)).toBeNull();
  }
});

test.each(["sha1", "sha256"])("objects of a repository made with %s are named so", (format) => {
  const found = findRepository(makeProject(`--object-format=${format}`));
  expect(found && objectFormat(found)).toBe(format);
});
