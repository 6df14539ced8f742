import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBlobStore } from "../record/blob-store.ts";
import { Shadow } from "./shadow.ts";
import { compareSnapshots, keepDifferences, takeSnapshot } from "./snapshot.ts";

let root = "";
let project = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-snapshot-")));
  project = join(root, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes a file and gives it a time of its own; the file system still knows when that was. */
function writeWithOldTime(path: string, text: string): void {
  const before = statSync(path, { throwIfNoEntry: false })?.ctimeMs;
  // The file system counts time in steps of a few milliseconds.
  do {
    writeFileSync(path, text);
    utimesSync(path, 1_000, 1_000);
  } while (statSync(path).ctimeMs === before);
}

test("a file that was rewritten within the same second, with as many bytes and its old time, is another", async () => {
  const path = join(project, "a.txt");
  writeWithOldTime(path, "text 0");
  const shadow = await Shadow.open(join(root, "data"), project);
  let last = await takeSnapshot(shadow);
  // Several rounds: some of them begin and end in the same second.
  for (const round of [1, 2, 3, 4, 5]) {
    writeWithOldTime(path, `text ${round}`);
    const snapshot = await takeSnapshot(shadow);
    expect(compareSnapshots(last, snapshot)).toMatchObject([{ path: "a.txt" }]);
    last = snapshot;
  }
  expect(compareSnapshots(last, await takeSnapshot(shadow))).toEqual([]);
  await shadow.close();
});

test("a file that is ignored by now, and one that was removed, are what they are when they are looked at anew", async () => {
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(project, name), name);
  const shadow = await Shadow.open(join(root, "data"), project);
  const first = await takeSnapshot(shadow);
  writeFileSync(join(project, ".gitignore"), "a.txt\n");
  rmSync(join(project, "b.txt"));
  const second = await takeSnapshot(shadow);
  expect(compareSnapshots(first, second).map(({ path }) => path)).toEqual(["b.txt", ".gitignore"]);
  await shadow.close();
});

/** What a deed changes in the project, as paths with `+` for what is new and `-` for what is gone. */
async function changesBy(deed: () => void): Promise<string[]> {
  const shadow = await Shadow.open(join(root, "data"), project);
  const before = await takeSnapshot(shadow);
  deed();
  const after = await takeSnapshot(shadow);
  await shadow.close();
  return compareSnapshots(before, after)
    .map((one) => `${one.before ? "" : "+"}${one.after ? "" : "-"}${one.path}`)
    .sort();
}

test("a mode that changed is a difference, of a file and of a folder", async () => {
  mkdirSync(join(project, "folder"));
  writeFileSync(join(project, "a.txt"), "a", { mode: 0o644 });
  const changed = await changesBy(() => {
    chmodSync(join(project, "a.txt"), 0o600);
    chmodSync(join(project, "folder"), 0o700);
  });
  expect(changed).toEqual(["a.txt", "folder"]);
});

test("empty folders that come and go are differences", async () => {
  mkdirSync(join(project, "old"));
  const changed = await changesBy(() => {
    rmSync(join(project, "old"), { recursive: true });
    mkdirSync(join(project, "new"));
  });
  expect(changed).toEqual(["+new", "-old"]);
});

test("files that were ignored, in whatever folder above them, are not made by a command that lists them no more", async () => {
  writeFileSync(join(project, ".gitignore"), "built/\n");
  mkdirSync(join(project, "built", "deep"), { recursive: true });
  writeFileSync(join(project, "built", "deep", "a.js"), "a");
  const changed = await changesBy(() => writeFileSync(join(project, ".gitignore"), "none\n"));
  expect(changed).toEqual([".gitignore"]);
});

test("more differences than are kept are refused before any content is read", async () => {
  const shadow = await Shadow.open(join(root, "data"), project);
  const one = { path: "a", before: null, after: { mode: 0o100644, oid: "none" } };
  const many = Array.from({ length: 20_001 }, () => one);
  const blobs = createBlobStore(join(root, "blobs"));
  await expect(keepDifferences(many, shadow, blobs)).rejects.toThrow("20001 files changed");
  await shadow.close();
});
