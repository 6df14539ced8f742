import {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cutDeepPath, pinPath } from "./pin-path.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-pin-")));
  mkdirSync(join(root, "a/b"), { recursive: true });
  writeFileSync(join(root, "a/b/file"), "own");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe.runIf(process.platform === "linux")("a pinned path", () => {
  test("stays the same place although it is renamed and another takes its name", () => {
    using pinned = pinPath(root, join(root, "a/b"));
    renameSync(join(root, "a/b"), join(root, "moved"));
    mkdirSync(join(root, "a/b"));
    writeFileSync(join(root, "a/b/file"), "other");
    expect(readFileSync(`${pinned?.at}/file`, "utf8")).toBe("own");
  });

  test("is never reached through a link, and nothing outside is", () => {
    symlinkSync("b", join(root, "a/link"));
    symlinkSync(tmpdir(), join(root, "out"));
    for (const path of ["a/link", "a/link/file", "out", "missing", "a/b/file/x"])
      expect(pinPath(root, join(root, path))).toBeUndefined();
    expect(pinPath(root, "/etc")).toBeUndefined();
  });

  test("may have a name that is no text", () => {
    const name = Buffer.concat([Buffer.from(`${root}/a/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(name);
    using pinned = pinPath(root, name);
    expect(pinned && fstatSync(pinned.fd).isDirectory()).toBe(true);
  });
});

test("of a path that is too deep down the folder around it counts", () => {
  const deep = Array.from({ length: 100 }, (_, at) => `d${at}`);
  expect(cutDeepPath("/p", `/p/${deep.slice(0, 60).join("/")}`)).toBe(`/p/${deep.slice(0, 60).join("/")}`);
  expect(cutDeepPath("/p", `/p/${deep.join("/")}`)).toBe(`/p/${deep.slice(0, 60).join("/")}`);
});
