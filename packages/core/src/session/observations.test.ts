import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Observations } from "./observations.ts";

let root: string;
let workspaceDir: string;
let faults: string[];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-observed-")));
  workspaceDir = join(root, "workspace");
  faults = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function open(): Observations {
  return new Observations({
    workspaceDir,
    redact: (text) => text.replaceAll("secret", "[redacted]"),
    onFault: (message, runId) => faults.push(`${runId}: ${message}`),
  });
}

test("what was observed is on disk after a flush, in order and with secrets hidden", async () => {
  const observations = open();
  observations.add("found/a.json", "one", "run");
  observations.add("found/a.json", "two secret", "run");
  observations.add("found/b.json", "three", "run");
  await observations.flush();
  expect(readFileSync(join(workspaceDir, "found/a.json"), "utf8")).toBe("two [redacted]");
  expect(readdirSync(join(workspaceDir, "found")).sort()).toEqual(["a.json", "b.json"]);
  expect(statSync(workspaceDir).mode & 0o777).toBe(0o700);
  expect(faults).toEqual([]);
});

test("what cannot be written is told with its run, and the next is written all the same", async () => {
  mkdirSync(workspaceDir);
  symlinkSync(root, join(workspaceDir, "link"));
  const observations = open();
  observations.add("../outside.json", "x", "run-1");
  observations.add("link/outside.json", "x", "run-2");
  observations.add("../secret.json", "x", "run-2");
  observations.add("good.json", "x", "run-3");
  await observations.flush();
  expect(faults).toEqual([
    expect.stringMatching(/^run-1: \.\.\/outside\.json was not kept: .*outside/),
    expect.stringMatching(/^run-2: link\/outside\.json was not kept: .*link is not a folder/),
    expect.stringMatching(/^run-2: \.\.\/\[redacted\]\.json was not kept/),
  ]);
  expect(readdirSync(root)).toEqual(["workspace"]);
  expect(readFileSync(join(workspaceDir, "good.json"), "utf8")).toBe("x");
});

test("no more waits to be written than memory can bear, and what is dropped is told", async () => {
  const observations = open();
  for (let at = 0; at < 205; at++) observations.add(`${at}.json`, "x", "run");
  observations.add("huge.json", "x".repeat(17_000_000), "run");
  expect(faults).toHaveLength(6);
  await observations.flush();
  expect(readdirSync(workspaceDir)).toHaveLength(200);
  observations.add("later.json", "x", "run");
  await observations.flush();
  expect(readdirSync(workspaceDir)).toContain("later.json");
  for (const name of ["one", "two"]) {
    observations.add(`${name}.json`, "x".repeat(10_000_000), "run");
    observations.add(`beside-${name}.json`, "x".repeat(10_000_000), "run");
    await observations.flush();
  }
  expect(faults).toHaveLength(8);
  expect(readdirSync(workspaceDir).filter((name) => name.includes("one"))).toEqual(["one.json"]);
  expect(readdirSync(workspaceDir).filter((name) => name.includes("two"))).toEqual(["two.json"]);
});
