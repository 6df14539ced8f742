import { expect, test } from "vitest";
import type { Target } from "../../schema/rights.ts";
import { allowsPath, compilePathPattern, touchesPath } from "./path-pattern.ts";

type Root = "project" | "workspace" | "outside";

function target(relative: string, root: Root): Extract<Target, { kind: "path" }> {
  const path = root === "outside" ? relative : `/${root}/${relative}`;
  return { kind: "path", path, root, relative, mode: "write" };
}
const allows = (pattern: string, path: string, root: Root = "project") =>
  allowsPath(compilePathPattern(pattern), { kind: "path", target: target(path, root) });
const touches = (pattern: string, path: string, root: Root = "project") =>
  touchesPath(compilePathPattern(pattern), { kind: "path", target: target(path, root) });

test.each([
  ["test/**", "test/a/b.ts"],
  ["test/**", "test/.hidden"],
  ["**/*.ts", "a.ts"],
  ["**/*.ts", "a/b/c.ts"],
  ["src/*.ts", "src/a.ts"],
  ["a?c", "abc"],
  ["*.py[co]", "x.pyc"],
  ["[!a]b", "cb"],
  ["{src,test}/**", "test/a"],
  ["a{b,c{d,e}}", "ace"],
  ["docs", "docs/deep/file"],
  ["docs/", "docs/deep/file"],
  ["*", "any/where"],
  ["**", "any/where"],
  ["./src/**", "src/a"],
  ["a//b", "a/b"],
  ["app/\\[id\\]/**", "app/[id]/page"],
  ["caf\u00e9", "cafe\u0301"],
  ["a/x/../b", "a/b"],
])("%s covers %s", (pattern, path) => {
  expect(allows(pattern, path)).toBe(true);
  expect(touches(pattern, path)).toBe(true);
});

test.each([
  ["test/**", "tests/a"],
  ["test/**", "src/test/a"],
  ["src/*.ts", "src/deep/a.ts"],
  ["*.ts", "src/a.ts"],
  ["src", "srcs"],
  ["a?c", "a/c"],
  ["../**", "a"],
  ["test/../**/..", "a"],
  ["src/**", "src/../../etc"],
])("%s does not allow %s", (pattern, path) => {
  expect(allows(pattern, path)).toBe(false);
});

test.each([
  [".env", ".ENV"],
  [".env", ".env."],
  [".env", ".env . "],
  [".env", ".e\u200bnv"],
  [".Env", ".env"],
  ["caf\u00e9", "CAFE\u0301"],
  ["secrets/", "secrets/not/yet/there"],
  ["secrets", "Secrets./x"],
  ["build-*", "build-1/x"],
  ["K", "\u212a"],
])("a deny on %s also holds for %j, an allow only for what is meant", (pattern, path) => {
  expect(touches(pattern, path)).toBe(true);
});

test("an allow rule does not fold case", () => {
  expect(allows("src/**", "SRC/a")).toBe(false);
  expect(allows("src/*", "src/a/b")).toBe(false);
});

test("a relative pattern never allows what is outside the roots, but may deny it", () => {
  expect(allows("**", "/etc/passwd", "outside")).toBe(false);
  expect(allows("*", "/etc/passwd", "outside")).toBe(false);
  expect(allows("etc/**", "/etc/passwd", "outside")).toBe(false);
  expect(touches("**/.env", "/elsewhere/.env", "outside")).toBe(true);
});

test("an absolute pattern is compared with the whole path", () => {
  expect(allows("/project/src/**", "src/a")).toBe(true);
  expect(allows("/etc/**", "/etc/hosts", "outside")).toBe(true);
  expect(allows("/src/**", "src/a")).toBe(false);
  expect(touches("/ETC", "/etc/hosts", "outside")).toBe(true);
});

test("a prefix limits a pattern to one root", () => {
  expect(allows("workspace:**", "a", "workspace")).toBe(true);
  expect(allows("workspace:**", "a", "project")).toBe(false);
  expect(touches("project:secrets", "secrets/a", "workspace")).toBe(false);
  expect(touches("project:/secrets", "secrets/a", "project")).toBe(true);
});

test("a home folder that was not filled in denies in any folder and allows nothing", () => {
  expect(allows("~/x", "/home/me/x", "outside")).toBe(false);
  expect(touches("~/.ssh", "/home/me/.ssh/id", "outside")).toBe(true);
});

test("a climb above the root denies in any folder and allows nothing", () => {
  expect(allows("../secrets", "/secrets", "outside")).toBe(false);
  expect(touches("../secrets", "/other/secrets/a", "outside")).toBe(true);
});

test("braces with too many choices allow nothing and deny everything", () => {
  const bomb = "{a,b}".repeat(20);
  expect(allows(bomb, "a".repeat(20))).toBe(false);
  expect(touches(bomb, "x")).toBe(true);
});

test("no pattern makes a long path slow", () => {
  const path = "a/".repeat(50_000);
  expect(allows(`${"**/a/".repeat(60)}b`, path)).toBe(false);
  expect(allows(`${"*a".repeat(60)}b`, "a".repeat(100_000))).toBe(false);
  expect(allows(`${"*?a".repeat(60)}b`, "a".repeat(100_000))).toBe(false);
});
