import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findChanged } from "./find-changed.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-find-changed-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A span that begins after everything up to now, by the clock of the file system. */
async function later(): Promise<{ sinceMs: number; untilMs: number }> {
  const probe = join(root, "probe");
  writeFileSync(probe, "");
  const { ctimeMs } = statSync(probe);
  await vi.waitFor(
    () => {
      writeFileSync(probe, "");
      expect(statSync(probe).ctimeMs).toBeGreaterThan(ctimeMs);
    },
    { interval: 1 },
  );
  const sinceMs = statSync(probe).ctimeMs;
  rmSync(probe);
  return { sinceMs, untilMs: sinceMs + 600_000 };
}

const names = (entries: readonly { path: string }[]) =>
  entries.map(({ path }) => path.slice(root.length + 1)).toSorted();

test("files, folders and links that changed in the span are found at any depth, and which of them may have a new name", async () => {
  mkdirSync(join(root, "there", "deep"), { recursive: true });
  for (const name of ["old.txt", "edited.txt"]) writeFileSync(join(root, "there", "deep", name), "one");
  const span = await later();
  writeFileSync(join(root, "there", "deep", "edited.txt"), "two");
  mkdirSync(join(root, "made"));
  writeFileSync(join(root, "made", "new.txt"), "three");
  symlinkSync("/nowhere", join(root, "made", "link"));
  const { entries, isAll } = await findChanged(root, span, 100);
  expect(names(entries)).toEqual(["made", "made/link", "made/new.txt", "there/deep/edited.txt"]);
  expect(names(entries.filter(({ isNamed }) => isNamed))).toEqual(["made", "made/link", "made/new.txt"]);
  expect(isAll).toBe(true);
});

test("a file that was given as many bytes and its old time back is found, by the time that no program can set", async () => {
  const path = join(root, "edited.txt");
  writeFileSync(path, "one");
  const { atime, mtime } = statSync(path);
  const span = await later();
  writeFileSync(path, "two");
  utimesSync(path, atime, mtime);
  expect(names((await findChanged(root, span, 100)).entries)).toEqual(["edited.txt"]);
});

test("it is said if there is more than is listed, if git's own files changed, and if a folder cannot be looked into", async () => {
  mkdirSync(join(root, "sub", ".git"), { recursive: true });
  const span = await later();
  for (const name of ["a", "b", "c"]) writeFileSync(join(root, name), name);
  expect(await findChanged(root, span, 3)).toMatchObject({ entries: { length: 3 }, isAll: true });
  expect(await findChanged(root, span, 2)).toMatchObject({ entries: { length: 2 }, isAll: false });
  writeFileSync(join(root, "sub", ".git", "COMMIT_EDITMSG"), "evil");
  const withGit = await findChanged(root, span, 100);
  expect(withGit.isAll).toBe(false);
  expect(names(withGit.entries)).not.toContain("sub/.git/COMMIT_EDITMSG");
  rmSync(join(root, "sub"), { recursive: true });
  mkdirSync(join(root, "closed"));
  chmodSync(join(root, "closed"), 0o000);
  const isClosed = process.getuid?.() !== 0;
  expect((await findChanged(root, span, 100)).isAll).toBe(!isClosed);
});

test("both ends of a span belong to it", async () => {
  const path = join(root, "a.txt");
  writeFileSync(path, "one");
  const { ctimeMs } = statSync(path);
  const found = async (sinceMs: number, untilMs: number) =>
    names((await findChanged(root, { sinceMs, untilMs }, 100)).entries);
  expect(await found(ctimeMs, ctimeMs)).toEqual(["a.txt"]);
  expect(await found(ctimeMs + 1, ctimeMs + 2)).toEqual([]);
  expect(await found(ctimeMs - 2, ctimeMs - 1)).toEqual([]);
});
