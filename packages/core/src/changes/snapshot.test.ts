import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Shadow } from "./shadow.ts";
import { compareSnapshots, takeSnapshot } from "./snapshot.ts";

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
