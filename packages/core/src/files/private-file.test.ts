import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { closeFolder, readPrivate, writePrivate } from "./private-file.ts";
import { replaceFile } from "./replace-file.ts";

let root = "";
let file = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-private-"));
  file = join(root, "secret");
  writeFileSync(file, "text", { mode: 0o600 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a file of the user's own is read, and one that is missing is nothing", async () => {
  expect(await readPrivate(file, "read")).toBe("text");
  expect(await readPrivate(join(root, "none"), "read")).toBeNull();
});

test.each([
  [0o640, "read", "can be read by others"],
  [0o604, "read", "can be read by others"],
  [0o660, "write", "can be changed by others"],
  [0o602, "write", "can be changed by others"],
] as const)("a file of the mode %o is not used where others may not %s it", async (mode, from, why) => {
  chmodSync(file, mode);
  await expect(readPrivate(file, from)).rejects.toMatchObject({
    message: expect.stringContaining(why),
    hint: `run: chmod 600 '${file}'`,
  });
});

test("what only must not be changed by others may be read by them", async () => {
  chmodSync(file, 0o644);
  expect(await readPrivate(file, "write")).toBe("text");
});

test("a link, a folder and a very large file are not used", async () => {
  symlinkSync(file, join(root, "link"));
  await expect(readPrivate(join(root, "link"), "read")).rejects.toThrow("is a link");
  await expect(readPrivate(root, "read")).rejects.toThrow("is not a regular file");
  writeFileSync(file, "x".repeat(1024 * 1024 + 1));
  await expect(readPrivate(file, "read")).rejects.toThrow("has more than 1048576 bytes");
});

test("what is written can be read by the user alone, and so can the folder that is made for it", async () => {
  const path = join(root, "new", "secret");
  await writePrivate(path, "one");
  await writePrivate(path, "two");
  expect(await readPrivate(path, "read")).toBe("two");
  expect([statSync(path).mode & 0o777, statSync(join(root, "new")).mode & 0o777]).toEqual([0o600, 0o700]);
  chmodSync(path, 0o644);
  await writePrivate(path, "three");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a folder is closed to others; a link to one, or a file, is refused", async () => {
  mkdirSync(join(root, "folder"), { mode: 0o755 });
  await closeFolder(join(root, "folder"));
  expect(statSync(join(root, "folder")).mode & 0o777).toBe(0o700);
  symlinkSync(join(root, "folder"), join(root, "link"));
  await expect(closeFolder(join(root, "link"))).rejects.toThrow("is a link or a file");
  await expect(closeFolder(file)).rejects.toThrow("is a link or a file");
  expect(await closeFolder(join(root, "none"))).toBeNull();
});

test("a file that is replaced keeps its mode unless another is given, and a failure leaves the old one alone", async () => {
  chmodSync(file, 0o640);
  await replaceFile(file, "new");
  expect(statSync(file).mode & 0o777).toBe(0o640);
  await replaceFile(file, "new", 0o604);
  expect(statSync(file).mode & 0o777).toBe(0o604);
  await expect(replaceFile(join(root, "none"), "new")).rejects.toThrow("ENOENT");
  mkdirSync(join(root, "taken"));
  await expect(replaceFile(join(root, "taken"), "new", 0o600)).rejects.toThrow();
  expect(readdirSync(root).sort()).toEqual(["secret", "taken"]);
  expect(existsSync(join(root, "none"))).toBe(false);
});
