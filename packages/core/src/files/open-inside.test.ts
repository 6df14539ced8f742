import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listInside, openFolder, openForReading, PathRefused, writeInside } from "./open-inside.ts";

let base = "";
let root = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "retinue-inside-")));
  root = join(base, "root");
  mkdirSync(join(root, "folder"), { recursive: true });
  mkdirSync(join(base, "root-2"));
  writeFileSync(join(base, "outside.txt"), "outside");
  writeFileSync(join(root, "folder", "a.txt"), "inside");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function read(path: string, mayRead?: (path: string) => boolean): Promise<string> {
  const handle = await openForReading(root, path, mayRead);
  return handle.readFile("utf8").finally(() => handle.close());
}

test("a file below the root is read; a path beside the root is not, also if it begins with the same letters", async () => {
  expect(await read(join(root, "folder/a.txt"))).toBe("inside");
  writeFileSync(join(root, "..name"), "two dots");
  expect(await read(join(root, "..name"))).toBe("two dots");
  for (const path of [join(base, "outside.txt"), join(base, "root-2", "b.txt"), join(root, "../outside.txt")])
    await expect(read(path)).rejects.toThrow(PathRefused);
});

test("no link is followed, neither at the end of a path nor on the way", async () => {
  symlinkSync(join(base, "outside.txt"), join(root, "link.txt"));
  symlinkSync(base, join(root, "away"));
  await expect(read(join(root, "link.txt"))).rejects.toThrow("is a symbolic link");
  await expect(read(join(root, "away", "outside.txt"))).rejects.toThrow(PathRefused);
  await expect(writeInside(root, join(root, "link.txt"), "x")).rejects.toThrow("is a symbolic link");
  await expect(writeInside(root, join(root, "away", "new.txt"), "x")).rejects.toThrow(PathRefused);
  await expect(openFolder(root, join(root, "away"), true)).rejects.toThrow(PathRefused);
  expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("outside");
  expect(existsSync(join(base, "new.txt"))).toBe(false);
});

test("a folder is no file, and a file is no folder on the way", async () => {
  await expect(read(join(root, "folder"))).rejects.toThrow("is not a regular file");
  await expect(writeInside(root, join(root, "folder"), "x")).rejects.toThrow("is not a regular file");
  await expect(read(join(root, "folder/a.txt/b.txt"))).rejects.toThrow("is not a folder");
});

test("a file that has a second name outside is neither read nor written", async () => {
  linkSync(join(base, "outside.txt"), join(root, "linked.txt"));
  await expect(read(join(root, "linked.txt"))).rejects.toThrow("second name (hard link) outside");
  await expect(writeInside(root, join(root, "linked.txt"), "x")).rejects.toThrow("second name (hard link)");
  expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("outside");
});

test("a file with two names inside is read if both may be read", async () => {
  linkSync(join(root, "folder/a.txt"), join(root, "second.txt"));
  expect(await read(join(root, "second.txt"))).toBe("inside");
  const may = (path: string) => !path.includes("folder");
  await expect(read(join(root, "second.txt"), may)).rejects.toThrow("that you may not read");
});

test("installed packages, which have second names in a store, may be read and not changed", async () => {
  const path = join(root, "node_modules/dep/index.js");
  mkdirSync(join(path, ".."), { recursive: true });
  linkSync(join(base, "outside.txt"), path);
  expect(await read(path)).toBe("outside");
  await expect(writeInside(root, path, "x")).rejects.toThrow("probably in a package store");
});

test("a file is written with the folders that it needs; one that is there keeps its mode", async () => {
  expect(await writeInside(root, join(root, "x/y/new.txt"), "new", 0o600)).toBe("created");
  expect(statSync(join(root, "x/y/new.txt")).mode & 0o777).toBe(0o600);
  chmodSync(join(root, "folder/a.txt"), 0o751);
  expect(await writeInside(root, join(root, "folder/a.txt"), "changed")).toBe("modified");
  expect(statSync(join(root, "folder/a.txt")).mode & 0o777).toBe(0o751);
  expect(readFileSync(join(root, "folder/a.txt"), "utf8")).toBe("changed");
});

test("content that fails halfway leaves the old file, and nothing beside it", async () => {
  async function* failing() {
    yield Buffer.from("half");
    throw new Error("the source broke off");
  }
  const path = join(root, "folder/a.txt");
  await expect(writeInside(root, path, failing())).rejects.toThrow("the source broke off");
  expect(readFileSync(path, "utf8")).toBe("inside");
  expect(readdirSync(join(root, "folder"))).toEqual(["a.txt"]);
});

test("a folder is listed with what is a folder in it, and not through a link", async () => {
  mkdirSync(join(root, "folder", "inner"));
  symlinkSync(join(root, "folder"), join(root, "link"));
  expect((await listInside(root, join(root, "folder"))).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { name: "a.txt", isFolder: false },
    { name: "inner", isFolder: true },
  ]);
  await expect(listInside(root, join(root, "link"))).rejects.toThrow(PathRefused);
});
