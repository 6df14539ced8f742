import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDiff } from "./read-diff.ts";
import { reviewDiff } from "./review-rules.ts";
import { readTarget } from "./reviewer.ts";
import { classifyFile } from "./source-line.ts";

/** A diff that adds these lines to a new file. */
function adding(path: string, lines: readonly string[]): string {
  return [
    `diff --git a/${path} b/${path}`,
    "new file mode 100644",
    "index 0000000..1111111",
    "--- /dev/null",
    `+++ b/${path}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
  ].join("\n");
}

const review = (...diffs: readonly string[]) => reviewDiff(readDiff(diffs.join("\n")).files);
const foundIn = (path: string, ...lines: readonly string[]) =>
  review(adding(path, lines))
    .filter(({ what }) => !what.startsWith("the change touches no test"))
    .map(({ severity, at, what }) => `${severity} ${at} ${what}`);

describe("a rule finds what it is for, at its line", () => {
  test.each<[path: string, lines: readonly string[], found: RegExp]>([
    ["src/a.ts", ["<<<<<<< HEAD"], /^high 1 a merge conflict/],
    ["README.md", ["text", ">>>>>>> theirs"], /^high 2 a merge conflict/],
    ["src/a.ts", ["const key = '[redacted:aws-key]';"], /^high 1 .*secret/],
    ["test/a.test.ts", ["test.only('x', () => {});"], /^high 1 only this test runs/],
    ["test/a.test.ts", ["it.skip('x', () => {});"], /^low 1 a test is switched off/],
    ["src/a.ts", ["  debugger;"], /^medium 1 a breakpoint/],
    ["src/a.py", ["breakpoint()"], /^medium 1 a breakpoint/],
    ["src/a.ts", ["console.log(x);"], /^low 1 output for looking/],
    ["src/a.ts", ["// TODO: later"], /^low 1 something was left to do/],
    ["src/a.ts", ["try { run(); } catch {}"], /^medium 1 an error is caught and dropped/],
    ["src/a.ts", ["try {", "  run();", "} catch (error) {", "}"], /^medium 3 an error is caught and dropped/],
    ["src/a.py", ["except ValueError:", "    pass"], /^medium 1 an error is caught and dropped/],
    ["src/a.ts", ["const x: any = 1;"], /^low 1 `any`/],
    ["src/a.ts", ["// @ts-ignore", "x();"], /^medium 1 a check was switched off/],
    ["src/a.ts", ["x(); // biome-ignore lint: so"], /^medium 1 a check was switched off/],
    ["src/a.py", ["import x  # noqa"], /^medium 1 a check was switched off/],
    ["src/a.js", ["eval(input);"], /^medium 1 text becomes code/],
    ["src/a.ts", ["get({ rejectUnauthorized: false });"], /^high 1 .*certificate/],
  ])("%s %j", (path, lines, found) => {
    expect(foundIn(path, ...lines)).toEqual([expect.stringMatching(found)]);
  });
});

describe("a rule leaves alone what only looks like it", () => {
  test.each<[path: string, lines: readonly string[]]>([
    ["src/a.ts", ['const text = "debugger; console.log(1) eval(x) // TODO";']],
    ["src/a.ts", ["const pattern = /console\\.log\\(|: any|eval\\(/;"]],
    ["src/a.ts", ["const company = many;", "anyOf(x);"]],
    ["src/cli/a.ts", ["console.log(result);"]],
    ["src/a.ts", ["try { run(); } catch (error) { report(error); }"]],
    ["src/a.ts", ["} catch {", "  // nothing was there", "}"]],
    ["src/a.ts", ["/** Opens it. */", "export function open() {}"]],
    ["src/a.ts", ["// a comment about how a function works"]],
    ["docs/a.md", ["Use `console.log(x)`; TODO lists are fine.", "======="]],
    ["package-lock.json", ['"x": "TODO"']],
  ])("%s %j", (path, lines) => {
    expect(foundIn(path, ...lines)).toEqual([]);
  });
});

test("lines that were there before are nobody's finding", () => {
  const diff = [
    "diff --git a/src/a.ts b/src/a.ts",
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "@@ -10,3 +10,4 @@ function f() {",
    " debugger;",
    "-const a = 1;",
    "+const a = 2;",
    "+debugger;",
    " }",
  ].join("\n");
  expect(review(diff)).toEqual([expect.objectContaining({ at: 12, path: "src/a.ts", line: "debugger;" })]);
});

const SOURCE = Array.from({ length: 8 }, (_, index) => `const value${index} = compute(${index});`);

test("a source without any test in the change is said once, and not if a test comes with it", () => {
  const alone = review(adding("src/price.ts", SOURCE), adding("src/tax.ts", SOURCE));
  expect(alone).toEqual([
    expect.objectContaining({
      severity: "medium",
      what: expect.stringContaining("price.ts and 1 more sources"),
    }),
  ]);
  const tested = adding("src/price.test.ts", ["import './price.ts';", "test('x', () => {});"]);
  expect(review(adding("src/price.ts", SOURCE), tested)).toEqual([]);
});

test("tests that went away are a finding", () => {
  const diff = [
    "diff --git a/test/a.test.ts b/test/a.test.ts",
    "--- a/test/a.test.ts",
    "+++ b/test/a.test.ts",
    "@@ -1,3 +1,1 @@",
    "-test('one', () => {});",
    "-test('two', () => {});",
    " done();",
  ].join("\n");
  expect(review(diff)).toEqual([expect.objectContaining({ severity: "medium", path: "test/a.test.ts" })]);
});

test("a renamed file is read under its new name", () => {
  const renamed =
    "diff --git a/old name.ts b/new name.ts\nsimilarity index 100%\nrename from old name.ts\nrename to new name.ts";
  expect(readDiff(renamed).files).toEqual([
    expect.objectContaining({ path: "new name.ts", status: "renamed" }),
  ]);
});

test("a diff with a hole in it says so, and gives no line to the wrong file", () => {
  const whole = `${adding("src/a.ts", ["ok();", "ok();", "ok();"])}\n${adding("src/b.ts", ["debugger;"])}`;
  const { files, cut } = readDiff(
    whole.replace("+ok();\n+ok();\n+ok();", "+ok();\n[… 99 characters left out; x …]\n+debugger;"),
  );
  expect(cut).toBe(true);
  expect(files.map(({ path, hunks }) => [path, hunks.flat().length])).toEqual([
    ["src/a.ts", 1],
    ["src/b.ts", 1],
  ]);
  expect(readDiff(whole).cut).toBe(false);
});

test("content that looks like a header stays content", () => {
  const { files } = readDiff(
    adding("src/a.ts", ["diff --git a/x b/x", "@@ -1 +1 @@", "++ b/evil", "-- a/evil"]),
  );
  expect(files).toHaveLength(1);
  expect(files[0]?.hunks.flat()).toHaveLength(4);
});

test("reading any diff ends, and every finding is on an added line", () => {
  const piece = fc.constantFrom(
    "diff --git a/src/a.ts b/src/a.ts",
    "+++ b/src/a.ts",
    "@@ -1,2 +1,3 @@",
    "@@ -0,0 +1 @@",
    "+debugger;",
    "+} catch (e) {",
    "+}",
    "-test('x', () => {});",
    " context",
    "\\ No newline at end of file",
    "[… 5 characters left out; y …]",
    "+",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (lines) => {
      const { files } = readDiff(lines.join("\n"));
      const added = new Set(
        files.flatMap(({ path, hunks }) =>
          hunks.flat().flatMap((line) => (line.added ? [`${path}:${line.at}`] : [])),
        ),
      );
      for (const { path, at } of reviewDiff(files)) expect(at === 0 || added.has(`${path}:${at}`)).toBe(true);
    }),
  );
});

test.each([
  ["Review the last commit", { kind: "commit", commit: "HEAD" }],
  ["please review commit 1a2b3c4d", { kind: "commit", commit: "1a2b3c4d" }],
  ["Review HEAD~2", { kind: "commit", commit: "HEAD~2" }],
  ["Review the last three commits", { kind: "range", from: "HEAD~3", to: "HEAD" }],
  ["Review main..feature", { kind: "range", from: "main", to: "feature" }],
  ["Review everything against main", { kind: "range", from: "main", to: "HEAD" }],
  ["Review the staged changes", { kind: "staged" }],
  ["Review these changes for bugs", { kind: "working" }],
  ["Review everything that was changed for this goal: add a flag in src/a.ts", { kind: "working" }],
  ["Review src/discount.js", { kind: "files", paths: ["src/discount.js"] }],
])("“%s” is a review of %j", (task, target) => {
  expect(readTarget(task)).toEqual(target);
});

test.each([
  ["src/a.ts", "source"],
  ["src/a.test.ts", "test"],
  ["tests/unit/a.py", "test"],
  ["pkg/a_test.go", "test"],
  ["scripts/build.mjs", "script"],
  ["docs/a.md", "prose"],
  ["package-lock.json", "generated"],
  ["dist/cli.js", "generated"],
])("%s is %s", (path, kind) => {
  expect(classifyFile(path)).toBe(kind);
});
