import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { git, treeOf } from "../../../../test/fixtures/project-tree.ts";
import { createBlobStore } from "../record/blob-store.ts";
import { Shadow, shadowDir } from "./shadow.ts";

let root = "";
let project = "";
let dataDir = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-shadow-")));
  project = join(root, "project");
  dataDir = join(root, "data");
  mkdirSync(project);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text = path) => {
  mkdirSync(join(project, path, ".."), { recursive: true });
  writeFileSync(join(project, path), text);
};
const pathsOf = async (shadow: Shadow) => [...(await shadow.refresh()).files.keys()].sort();

test("a shadow knows every file but ignored ones, those of nested repositories and Retinue's own", async () => {
  for (const path of ["a.txt", "x/b.txt", "dist/c.js", "nested/d.txt"]) put(path);
  put(".gitignore", "dist/\n");
  git(join(project, "nested"), "init", "-q");
  dataDir = join(project, "data");
  const shadow = await Shadow.open(dataDir, project);
  const { files, leftAlone } = await shadow.refresh();
  expect([...files.keys()].sort()).toEqual([".gitignore", "a.txt", "x/b.txt"]);
  expect([...leftAlone].sort()).toEqual(expect.arrayContaining(["dist", "nested"]));
  await shadow.close();
});

test("a file that went, one that became a folder and a folder that became a file are seen", async () => {
  for (const path of ["gone.txt", "folder", "file/inner.txt"]) put(path);
  const shadow = await Shadow.open(dataDir, project);
  expect(await pathsOf(shadow)).toEqual(["file/inner.txt", "folder", "gone.txt"]);
  for (const path of ["gone.txt", "folder", "file"]) rmSync(join(project, path), { recursive: true });
  put("folder/inner.txt");
  put("file");
  expect(await pathsOf(shadow)).toEqual(["file", "folder/inner.txt"]);
  await shadow.close();
});

test("bytes are those of the disk, whatever the project's attributes say", async () => {
  git(project, "init", "-q");
  put(".gitattributes", "* text eol=crlf ident\n");
  put("a.txt", "one\r\ntwo $Id$\n");
  const shadow = await Shadow.open(dataDir, project);
  const { files } = await shadow.refresh();
  const blobs = createBlobStore(join(root, "blobs"));
  const [hash] = (await shadow.keepContents([files.get("a.txt")], blobs, false)).values();
  expect(String(await blobs.get(hash ?? ""))).toBe("one\r\ntwo $Id$\n");
  await shadow.copyTo(join(root, "copy"));
  expect(treeOf(join(root, "copy"))).toEqual(treeOf(project));
  await shadow.close();
});

test("very many contents all come, each under its name", async () => {
  const wanted = Array.from({ length: 450 }, (_, index) => `content ${index}`);
  for (const [index, text] of wanted.entries()) put(`${index}.txt`, text);
  const shadow = await Shadow.open(dataDir, project);
  const { files } = await shadow.refresh();
  const blobs = createBlobStore(join(root, "blobs"));
  const hashes = await shadow.keepContents([...files.values()], blobs, false);
  const read = async (path: string) => String(await blobs.get(hashes.get(files.get(path)?.oid ?? "") ?? ""));
  expect(await Promise.all(wanted.map((_, index) => read(`${index}.txt`)))).toEqual(wanted);
  await shadow.close();
});

test("what a dead process left is cleared away, and the index of a living one stays", async () => {
  const shadow = await Shadow.open(dataDir, project);
  put("a.txt");
  await shadow.refresh();
  const folder = shadowDir(dataDir, project);
  // No process has the highest id of all; the parent of this one lives.
  const [dead, living] = ["index-4194304-dead", `index-${process.ppid}-alive`];
  for (const name of [dead, living]) writeFileSync(join(folder, name), "");
  const other = await Shadow.open(dataDir, project);
  expect(existsSync(join(folder, dead))).toBe(false);
  expect(existsSync(join(folder, living))).toBe(true);
  await Promise.all([shadow.close(), other.close()]);
  expect(readdirSync(folder).filter((name) => name.startsWith("index-"))).toEqual([living]);
});

test("several that open one shadow at once all have it, in the object format of the project", async () => {
  git(project, "init", "-q", "--object-format=sha256");
  put("a.txt");
  const shadows = await Promise.all(Array.from({ length: 4 }, () => Shadow.open(dataDir, project)));
  for (const shadow of shadows)
    expect((await shadow.refresh()).files.get("a.txt")?.oid).toMatch(/^[0-9a-f]{64}$/);
  await Promise.all(shadows.map((shadow) => shadow.close()));
});

test("a pinned shadow keeps its repository, whatever is put in the place of the folder's own", async () => {
  git(project, "init", "-q");
  put("a.txt");
  await (await Shadow.open(dataDir, project, { pin: true })).close();
  writeFileSync(join(project, ".git", "info", "exclude"), "a.txt\n");
  const own = join(project, ".git");
  rmSync(own, { recursive: true });
  git(project, "init", "-q", "--object-format=sha256");
  writeFileSync(join(own, "info", "exclude"), "b.txt\n");
  put("b.txt");
  const shadow = await Shadow.open(dataDir, project);
  const { files } = await shadow.refresh();
  expect(files.get("a.txt")?.oid ?? files.get("b.txt")?.oid).toMatch(/^[0-9a-f]{40}$/);
  await shadow.close();
});
