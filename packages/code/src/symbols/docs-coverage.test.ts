import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { docsCoverage } from "./docs-coverage.ts";

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
});
afterEach(() => place.remove());

async function coverage(input: object = {}, more?: Partial<ToolContext>): Promise<string[]> {
  return (await place.use(docsCoverage, input, more)).text.split("\n");
}

test("exported names of a module are told apart by whether a comment is right above them", async () => {
  place.write(
    "src/a.ts",
    `/** The file. */

import { x } from "./x.ts";
/** Documented. */
export function one(): void {}
// Not a documentation comment.
export function two(): void {}
/** Documented. */
export const three = 1, four = 2;
export type Five = string;
/** Too far up. */

export interface Six {}
function inner(): void {}
/** Documented where it is declared. */
class Seven {}
export { inner, Seven as Eight };
export { x } from "./x.ts";
export * from "./y.ts";
/** Documented. */
export default function nine(): void {}
/** Documented once. */
export function ten(a: string): void;
export function ten(a: unknown): void {}
export abstract class Eleven {}
export enum Twelve { A }
`,
  );
  expect(await coverage()).toEqual([
    "6 of 12 exported names are documented (50 %)",
    "Without documentation:",
    "src/a.ts:7  function two",
    "src/a.ts:10  type Five",
    "src/a.ts:13  interface Six",
    "src/a.ts:25  class Eleven",
    "src/a.ts:26  enum Twelve",
    "src/a.ts:14  function inner",
  ]);
});

test("a module that assigns its exports is read too", async () => {
  place.write("a.cjs", "/** Good. */\nexports.one = 1;\nmodule.exports.two = 2;\n");
  expect(await coverage()).toEqual([
    "1 of 2 exported names are documented (50 %)",
    "Without documentation:",
    "a.cjs:3  variable two",
  ]);
});

test("Python, Go and Rust are read by their own customs", async () => {
  place.write(
    "a.py",
    "def one():\n    \"\"\"Says.\"\"\"\n\ndef two(\n    a,\n) -> int:\n    '''Says.'''\n\nclass Three:\n    pass\n\ndef _four():\n    pass\n",
  );
  place.write(
    "b.go",
    "package b\n\n// One says.\nfunc One() {}\n\nfunc Two() {}\n\nfunc three() {}\n\n// Add says.\nfunc (s *Set) Add() {}\n\nfunc (s *inner) Sub() {}\n",
  );
  place.write(
    "c.rs",
    "/// Says.\n#[derive(Debug)]\npub struct One;\n\npub fn two() {}\n\npub(crate) fn three() {}\n\n#[cfg(test)]\nmod tests {\n    pub fn four() {}\n}\n",
  );
  expect(await coverage()).toEqual([
    "5 of 8 exported names are documented (62 %)",
    "- Go: 2 of 3 exported names are documented (66 %)",
    "- Python: 2 of 3 exported names are documented (66 %)",
    "- Rust: 1 of 2 exported names are documented (50 %)",
    "Without documentation:",
    "a.py:9  class Three",
    "b.go:6  function Two",
    "c.rs:5  function two",
  ]);
});

test("what __all__ names is what a Python module exports", async () => {
  place.write("a.py", '__all__ = [\n    "_one",\n]\n\ndef _one():\n    pass\n\ndef two():\n    pass\n');
  expect(await coverage()).toContain("0 of 1 exported names are documented (0 %)");
});

test("tests, generated and invisible files do not count", async () => {
  place.write("src/a.ts", "/** Good. */\nexport const a = 1;\n");
  place.write("src/a.test.ts", "export const b = 1;\n");
  place.write("dist/a.js", "export const c = 1;\n");
  place.write("secret/d.ts", "export const d = 1;\n");
  const maySee: ToolContext["maySee"] = (file) =>
    file.kind === "path" && !file.relative.startsWith("secret/");
  expect(await coverage({}, { maySee })).toEqual([
    "1 of 1 exported names are documented (100 %)",
    "(1 files left out: there is no right to read them)",
  ]);
});

test("the list is as long as asked, and a project without such code says so", async () => {
  expect(await coverage()).toEqual(["no exported names in sources of a known language"]);
  place.write("src/a.ts", Array.from({ length: 5 }, (_, at) => `export const a${at} = 1;\n`).join(""));
  const lines = await coverage({ limit: 2 });
  expect(lines.slice(2)).toEqual([
    "src/a.ts:1  variable a0",
    "src/a.ts:2  variable a1",
    "(3 more; set a path or a higher limit)",
  ]);
});
