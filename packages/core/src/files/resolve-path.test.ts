import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isBelow } from "./is-below.ts";
import { pathTarget, resolvePath } from "./resolve-path.ts";

let base = "";
let projectDir = "";
let workspaceDir = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "retinue-paths-")));
  projectDir = join(base, "project");
  workspaceDir = join(base, "workspace");
  for (const folder of [join(projectDir, "app"), workspaceDir, join(base, "project-2")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(projectDir, "top.txt"), "");
  writeFileSync(join(projectDir, "app", "own.txt"), "");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Where a path leads, such as `project top.txt`. */
async function aim(path: string, cwd?: string): Promise<string> {
  const target = await pathTarget(path, "read", {
    projectDir,
    workspaceDir,
    ...(cwd !== undefined && { cwd }),
  });
  return target.kind === "path" ? `${target.root} ${target.relative}` : target.kind;
}

test.each([
  ["top.txt", "project top.txt"],
  ["./app/../top.txt", "project top.txt"],
  ["project:app/own.txt", "project app/own.txt"],
  ["workspace:notes.md", "workspace notes.md"],
  ["new/deep/file.txt", "project new/deep/file.txt"],
  [".", "project "],
])("the path %j means %j", async (path, meant) => {
  expect(await aim(path)).toBe(meant);
});

test("a path outside is outside, however it is written, and also if it begins like the project", async () => {
  for (const path of [
    "../x",
    join(base, "project-2", "x"),
    "workspace:../../x",
    "/etc/passwd",
    "app/../../x",
  ])
    expect(await aim(path)).toMatch(/^outside \//);
  expect(await aim("~/x")).toBe(`outside ${join(realpathSync(homedir()), "x")}`);
});

test("links are followed to what they mean, also where that does not exist yet", async () => {
  symlinkSync(base, join(projectDir, "away"));
  symlinkSync(join(base, "not-there"), join(projectDir, "dangling"));
  symlinkSync(join(projectDir, "app"), join(base, "in"));
  expect(await aim("away/x")).toBe(`outside ${join(base, "x")}`);
  expect(await aim("dangling")).toBe(`outside ${join(base, "not-there")}`);
  expect(await aim("dangling/x")).toBe(`outside ${join(base, "not-there/x")}`);
  expect(await aim(join(base, "in", "new.txt"))).toBe("project app/new.txt");
  symlinkSync("b", join(projectDir, "a"));
  symlinkSync("a", join(projectDir, "b"));
  await expect(aim("a")).rejects.toThrow();
});

test("in a folder of its own a run's paths begin there, and what is only at the top is found there", async () => {
  const cwd = join(projectDir, "app");
  expect(await aim("own.txt", cwd)).toBe("project app/own.txt");
  expect(await aim("top.txt", cwd)).toBe("project top.txt");
  expect(await aim("new.txt", cwd)).toBe("project app/new.txt");
  expect(await aim("project:new.txt", cwd)).toBe("project new.txt");
});

test("a workspace inside the project is the workspace", async () => {
  const inner = join(projectDir, "data");
  mkdirSync(inner);
  const target = await pathTarget("data/x", "write", { projectDir, workspaceDir: inner });
  expect(target).toMatchObject({ root: "workspace", relative: "x", mode: "write" });
});

test("a path with a NUL character is refused", async () => {
  await expect(resolvePath("a\0b", projectDir)).rejects.toThrow("must not contain a NUL character");
});

test("a folder holds itself and what lies in it, not what begins with its name", () => {
  expect(["/a/b", "/a/b/c", "/a/bc", "/a"].map((path) => isBelow(path, "/a/b"))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(isBelow("/a", "/")).toBe(true);
});
