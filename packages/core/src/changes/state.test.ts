import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { treeOf } from "../../../../test/fixtures/project-tree.ts";
import { type BlobStore, createBlobStore } from "../record/blob-store.ts";
import { keepState, lookAt, restoreState, sameState } from "./state.ts";

let root = "";
let project = "";
let blobs: BlobStore;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-state-")));
  project = join(root, "project");
  mkdirSync(join(project, "folder"), { recursive: true });
  chmodSync(join(project, "folder"), 0o750);
  writeFileSync(join(project, "file.sh"), "echo", { mode: 0o755 });
  symlinkSync("file.sh", join(project, "link"));
  blobs = createBlobStore(join(root, "blobs"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("files, links and folders come back with content and mode, and what was not there goes", async () => {
  const before = treeOf(project);
  const names = ["folder", "file.sh", "link", "none"];
  const kept = await Promise.all(names.map((name) => keepState(project, name, blobs, false)));
  expect(await Promise.all(names.map((name) => lookAt(project, name)))).toEqual(kept);
  for (const name of names) rmSync(join(project, name), { recursive: true, force: true });
  writeFileSync(join(project, "none"), "new");
  for (const [index, name] of names.entries())
    expect(await restoreState(project, name, kept[index] ?? null, blobs)).toBe(true);
  expect(treeOf(project)).toEqual(before);
});

test("a folder that should go stays if it holds something, and that is told", async () => {
  writeFileSync(join(project, "folder", "mine.txt"), "a person's");
  expect(await restoreState(project, "folder", null, blobs)).toBe(false);
  expect(readFileSync(join(project, "folder", "mine.txt"), "utf8")).toBe("a person's");
  rmSync(join(project, "folder", "mine.txt"));
  expect(await restoreState(project, "folder", null, blobs)).toBe(true);
  expect(existsSync(join(project, "folder"))).toBe(false);
});

test("states differ by mode alone, and by content alone", () => {
  const state = { mode: 0o100644, hash: "a" };
  expect(sameState(state, { ...state })).toBe(true);
  expect(sameState(null, null)).toBe(true);
  for (const other of [{ ...state, mode: 0o100755 }, { ...state, hash: "b" }, null])
    expect(sameState(state, other)).toBe(false);
});

test("what cannot be put back names the path, and says how to go on", async () => {
  const kept = await keepState(project, "file.sh", blobs, false);
  rmSync(join(project, "file.sh"));
  mkdirSync(join(project, "file.sh"));
  const failing = restoreState(project, "file.sh", kept, blobs);
  await expect(failing).rejects.toMatchObject({
    message: expect.stringMatching(/^file\.sh cannot be written: /),
    hint: expect.stringContaining("the same command then finishes"),
  });
});
