import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Target } from "@retinue/core/schema/rights";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findDiskRights } from "./disk-rights.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-rights-")));
  mkdirSync(join(root, "workspace"));
  for (const path of [
    "src/a.ts",
    "src/a.test.ts",
    "test/unit/a.ts",
    "docs/a.md",
    "secrets/key.pem",
    ".env",
    ".git/config",
  ]) {
    mkdirSync(dirname(join(root, "project", path)), { recursive: true });
    writeFileSync(join(root, "project", path), "x");
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Rule = (path: string, root: string) => boolean;
async function rights(mayWrite: Rule, maySee: Rule = () => true, more: Partial<ToolContext> = {}) {
  const ask = (rule: Rule) => (file: Target) => file.kind === "path" && rule(file.relative, file.root);
  const found = await findDiskRights({
    projectDir: join(root, "project"),
    workspaceDir: join(root, "workspace"),
    maySee: ask(maySee),
    mayWrite: ask(mayWrite),
    ...more,
  });
  const short = (paths: readonly string[]) => paths.map((path) => path.slice(root.length + 1)).toSorted();
  return { writable: short(found.writable), readOnly: short(found.readOnly), hidden: short(found.hidden) };
}

test("who may write everything gets both folders", async () => {
  expect(await rights(() => true)).toEqual({ writable: ["project", "workspace"], readOnly: [], hidden: [] });
});

test("who may write nothing gets nothing", async () => {
  expect(await rights(() => false)).toEqual({ writable: [], readOnly: [], hidden: [] });
});

test("a tester gets the test folders, and the test files that lie among others", async () => {
  const { writable, readOnly } = await rights((path) => path.startsWith("test/") || path.includes(".test."));
  expect(writable).toEqual(["project/src/a.test.ts", "project/test"]);
  expect(readOnly).toEqual([]);
});

test("a folder that may not be written stays closed inside one that may", async () => {
  const { writable, readOnly } = await rights(
    (path, where) => where === "project" && !path.startsWith("docs/"),
  );
  expect([writable, readOnly]).toEqual([["project"], ["project/docs"]]);
});

test("what may not be read is hidden, and with it git's own files, which may hold it too", async () => {
  const { hidden } = await rights(
    () => true,
    (path) => !path.startsWith("secrets/") && path !== ".env",
  );
  expect(hidden).toEqual(["project/.env", "project/.git", "project/secrets"]);
});

test("in a large project, what was not looked at stays open only while no rule has shown", async () => {
  for (let folder = 0; folder < 50; folder++) {
    mkdirSync(join(root, "project/many", String(folder), "deep"), { recursive: true });
    for (let file = 0; file < 100; file++)
      writeFileSync(join(root, "project/many", String(folder), `${file}`), "");
  }
  const deep = "many/49/deep";
  expect((await rights((path) => !path.startsWith(deep))).readOnly).toEqual([]);
  const ruled = await rights((path) => !path.startsWith(deep) && path !== "package-lock.json");
  expect(ruled.readOnly).toEqual([`project/${deep}`]);
});

test("a rule that is known to be there is looked for even where nothing shows of it at first", async () => {
  for (let file = 0; file < 4_500; file++) writeFileSync(join(root, "project/docs", `${file}`), "");
  mkdirSync(join(root, "project/src/deep/deeper"), { recursive: true });
  writeFileSync(join(root, "project/src/deep/deeper/key"), "");
  const see: Rule = (path) => !path.startsWith("src/deep/deeper/key");
  expect((await rights(() => true, see, { dividesFiles: { read: true, write: false } })).hidden).toEqual([
    "project/.git",
    "project/src/deep/deeper/key",
  ]);
});

test("more than a sandbox can cover one by one is covered by the folders around it", async () => {
  for (let file = 0; file < 1_200; file++) writeFileSync(join(root, "project/src", `${file}.pem`), "");
  const see: Rule = (path) => !path.endsWith(".pem");
  expect((await rights(() => true, see)).hidden).toEqual(["project/.git", "project/secrets", "project/src"]);
});
