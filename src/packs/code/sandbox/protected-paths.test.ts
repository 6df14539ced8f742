import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pinPath } from "./pin-path.ts";
import { findProtected, holdPlaces, isProtected, setAside, TOP_NAMES } from "./protected-paths.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-protected-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
function write(path: string): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "x");
  return join(root, path);
}

test("agent files, settings and git's files are found at any depth, and nothing else", async () => {
  const wanted = [
    ".git/config",
    "a/b/.claude/x",
    "sub/.git",
    ".github/agents/x",
    ".vscode/mcp.json",
    "c/opencode.json",
  ];
  for (const path of wanted) write(path);
  for (const path of ["agents/x", "mcp.json", "src/claude", ".gitignore", "node_modules/x/.git/config"])
    write(path);
  const { paths, whole } = await findProtected(root, root);
  expect(paths.map((path) => path.slice(root.length + 1)).toSorted()).toEqual([
    ".git",
    ".github/agents",
    ".vscode/mcp.json",
    "a/b/.claude",
    "c/opencode.json",
    "sub/.git",
  ]);
  expect(whole).toBe(true);
});

test("a part of the project is judged by its place in the whole", async () => {
  write(".github/agents/x");
  expect((await findProtected(join(root, ".github"), root)).paths).toEqual([join(root, ".github/agents")]);
  expect(isProtected(join(root, ".github/workflows"), root)).toBe(false);
});

test("what was made against the rules gets a name that nothing reads", async () => {
  const made = write("sub/.claude/settings.json");
  const [moved = ""] = await setAside(root, [dirname(made)]);
  expect(moved).toMatch(/sub\/\.claude\.set-aside-[0-9a-f]{8}$/);
  expect([existsSync(dirname(made)), existsSync(join(moved, "settings.json"))]).toEqual([false, true]);
});

test("a folder that was swapped for a link is not followed", async () => {
  const outside = mkdtempSync(join(tmpdir(), "retinue-outside-"));
  mkdirSync(join(outside, ".git"));
  writeFileSync(join(outside, ".git", "config"), "theirs");
  symlinkSync(outside, join(root, "sub"));
  expect(await setAside(root, [join(root, "sub/.git")])).toEqual([]);
  expect(readdirSync(outside)).toEqual([".git"]);
  rmSync(outside, { recursive: true });
});

test("a handle stands for a place in the folder, never for a link or what lies outside", async () => {
  write("a/file");
  symlinkSync("/etc", join(root, "a/link"));
  for (const path of ["a/link", "a/link/passwd", "missing", "a/file/x", "../x"])
    expect(await pinPath(root, join(root, path))).toBeUndefined();
  for (const path of ["a", "a/file", ""]) {
    const handle = await pinPath(root, join(root, path));
    expect(handle).toBeDefined();
    await handle?.close();
  }
});

test("places are held by empty folders for as long as one command needs them, and what is there stays", () => {
  const path = join(root, ".claude");
  const first = holdPlaces([path]);
  const second = holdPlaces([path]);
  first.release();
  first.release();
  expect(existsSync(path)).toBe(true);
  second.release();
  expect(existsSync(path)).toBe(false);
  mkdirSync(path);
  expect(holdPlaces([path]).held).toEqual([]);
  expect(existsSync(path)).toBe(true);
});

test("the settings of Retinue and of git are among the names that are held", () => {
  expect(TOP_NAMES).toEqual(
    expect.arrayContaining([".retinue", ".git", ".claude", ".mcp.json", "opencode.json"]),
  );
});
