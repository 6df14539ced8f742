import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isFolderMode, isLinkMode, readEntry, removeEntry, writeEntry } from "./entry.ts";

let base = "";
let root = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "retinue-entry-")));
  root = join(base, "root");
  mkdirSync(join(root, "folder"), { recursive: true });
  writeFileSync(join(root, "file"), "text", { mode: 0o755 });
  symlinkSync("nowhere", join(root, "link"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a file, a link and a folder are told apart, and a link is read as what it says", async () => {
  const [file, link, folder] = await Promise.all(
    ["file", "link", "folder"].map((name) => readEntry(root, name, 100)),
  );
  expect([String(file?.content), String(link?.content), String(folder?.content)]).toEqual([
    "text",
    "nowhere",
    "",
  ]);
  expect(
    [file, link, folder].map((entry) => [isFolderMode(entry?.mode ?? 0), isLinkMode(entry?.mode ?? 0)]),
  ).toEqual([
    [false, false],
    [false, true],
    [true, false],
  ]);
});

test("what is missing is nothing, also behind a file and behind a link", async () => {
  symlinkSync(base, join(root, "away"));
  writeFileSync(join(base, "secret"), "outside");
  for (const path of ["none", "none/inner", "file/inner", "away/secret"])
    expect(await readEntry(root, path, 100)).toBeNull();
});

test("a file that is too large is refused by its size", async () => {
  await expect(readEntry(root, "file", 3)).rejects.toThrow("file has 4 bytes, more than 3");
  expect(String((await readEntry(root, "file", 4))?.content)).toBe("text");
});

test("an entry takes the place of a file or a link, with its mode, and the link's target is left alone", async () => {
  writeFileSync(join(root, "target"), "target");
  rmSync(join(root, "link"));
  symlinkSync("target", join(root, "link"));
  await writeEntry(root, "link", { mode: 0o100640, content: Buffer.from("new") });
  expect(lstatSync(join(root, "link")).isFile()).toBe(true);
  expect(statSync(join(root, "link")).mode & 0o777).toBe(0o640);
  expect(readFileSync(join(root, "target"), "utf8")).toBe("target");
  await writeEntry(root, "file", { mode: 0o120777, content: Buffer.from("target") });
  expect(readlinkSync(join(root, "file"))).toBe("target");
});

test("folders on the way are made; a folder that is there gets the mode, and a file in its place is refused", async () => {
  await writeEntry(root, "a/b/c", { mode: 0o100600, content: Buffer.from("c") });
  expect(readFileSync(join(root, "a/b/c"), "utf8")).toBe("c");
  await writeEntry(root, "folder", { mode: 0o040750, content: Buffer.alloc(0) });
  expect(statSync(join(root, "folder")).mode & 0o777).toBe(0o750);
  await expect(writeEntry(root, "file", { mode: 0o040750, content: Buffer.alloc(0) })).rejects.toThrow(
    "a file stands where a folder must be",
  );
});

test("a write that fails leaves no file of its own behind", async () => {
  const before = readdirSync(root).sort();
  await expect(writeEntry(root, "folder", { mode: 0o100644, content: Buffer.from("x") })).rejects.toThrow();
  expect(readdirSync(root).sort()).toEqual(before);
});

test("nothing is written or removed through a link", async () => {
  symlinkSync(base, join(root, "away"));
  writeFileSync(join(base, "secret"), "outside");
  await expect(writeEntry(root, "away/new", { mode: 0o100644, content: Buffer.from("x") })).rejects.toThrow();
  expect(await removeEntry(root, "away/secret")).toBe(true);
  expect(existsSync(join(base, "secret"))).toBe(true);
  expect(existsSync(join(base, "new"))).toBe(false);
});

test("a file, a link or an empty folder goes; a folder that holds something stays, and that is said", async () => {
  expect(
    await Promise.all(["file", "link", "folder", "none"].map((name) => removeEntry(root, name))),
  ).toEqual([true, true, true, true]);
  expect(readdirSync(root)).toEqual([]);
  mkdirSync(join(root, "full"));
  writeFileSync(join(root, "full", "x"), "x");
  expect(await removeEntry(root, "full")).toBe(false);
  expect(existsSync(join(root, "full", "x"))).toBe(true);
  chmodSync(join(root, "full"), 0o700);
});

test("a file that takes the place of a folder while that is removed is still there, and so it is said", async () => {
  const { rmdir } = fs;
  fs.rmdir = async (path, ...more) => {
    rmSync(join(root, "folder"), { recursive: true });
    writeFileSync(join(root, "folder"), "somebody's");
    await rmdir(path, ...more);
  };
  syncBuiltinESMExports();
  try {
    expect(await removeEntry(root, "folder")).toBe(false);
  } finally {
    fs.rmdir = rmdir;
    syncBuiltinESMExports();
  }
  expect(readFileSync(join(root, "folder"), "utf8")).toBe("somebody's");
});
