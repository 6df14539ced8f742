import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyFolder } from "../copy-folder.ts";
import { writePrivateFile } from "../write-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "retinue-export-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const readMode = (path: string) => statSync(path).mode & 0o777;

test("a file is written whole for its owner alone, and replaces what was there", async () => {
  const path = join(dir, "a.json");
  writeFileSync(path, "old", { mode: 0o644 });
  await writePrivateFile(path, "new");
  expect([readFileSync(path, "utf8"), readMode(path)]).toEqual(["new", 0o600]);
});

test("a link is replaced and not followed, a folder and a missing folder are refused by name", async () => {
  writeFileSync(join(dir, "precious"), "precious");
  symlinkSync(join(dir, "precious"), join(dir, "link"));
  await writePrivateFile(join(dir, "link"), "new");
  expect(readFileSync(join(dir, "precious"), "utf8")).toBe("precious");
  expect(readFileSync(join(dir, "link"), "utf8")).toBe("new");
  mkdirSync(join(dir, "folder"));
  await expect(writePrivateFile(join(dir, "folder"), "")).rejects.toThrow(/folder is not a file/);
  await expect(writePrivateFile(join(dir, "none", "x"), "")).rejects.toThrow(/cannot write .*none\/x/);
});

test("files are copied with their folders for the owner alone; links are not followed and are named", async () => {
  const from = join(dir, "from");
  const to = join(dir, "to");
  mkdirSync(join(from, "work_products"), { recursive: true });
  mkdirSync(to);
  writeFileSync(join(dir, "secret"), "secret");
  writeFileSync(join(from, "work_products", "report.html"), "<p>");
  symlinkSync(join(dir, "secret"), join(from, "link"));
  symlinkSync(dir, join(from, "folder-link"));
  linkSync(join(dir, "secret"), join(from, "hard"));
  const told: string[] = [];
  const terminal = { tell: (text: string) => void told.push(text) };
  expect(await copyFolder(from, to, { terminal, mode: 0o600 })).toEqual(["work_products/report.html"]);
  expect(told.map((note) => /^warning: (\S+) was not copied/.exec(note)?.[1])).toEqual([
    "folder-link",
    "hard",
    "link",
  ]);
  const path = join(to, "work_products", "report.html");
  expect([readFileSync(path, "utf8"), readMode(path)]).toEqual(["<p>", 0o600]);
  expect(await copyFolder(join(dir, "not there"), to, { terminal })).toEqual([]);
});
