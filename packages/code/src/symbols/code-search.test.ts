import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { codeSearch } from "./code-search.ts";
import { readNameQuery } from "./code-symbol.ts";
import { parseSource } from "./languages.ts";
import { findTextSymbols } from "./text-symbols.ts";
import { findTreeSymbols } from "./tree-symbols.ts";

let place: ToolPlace;
beforeAll(() => {
  place = toolPlace();
  place.write(
    "src/total.ts",
    `import { round } from "./round.ts";
/** Adds. */
export function total(list: number[]): number {
  const totalNow = list.length;
  return round(totalNow);
}
export class Basket {
  total(): number { return total([]); }
  #totals = 1;
}
export interface Total { totalOf(): number }
export type TotalKind = "net" | "gross";
export const makeTotal = (x: number) => x;
const { totalSum, other } = { totalSum: 1, other: 2 };
export { totalSum as grandTotal };
`,
  );
  place.write("src/round.ts", "export const round = Math.round;\n");
  place.write(
    "src/total.test.ts",
    'import { total } from "./total.ts";\nconst total1 = total([]);\nfunction total() {}\n',
  );
  place.write("dist/total.js", "export function total() {}\n");
  place.write("src/view.tsx", "export const View = () => <TotalBox value={total([1])} />;\n");
  place.write("src/old.js", "exports.total = function () {};\nmodule.exports.sum = require('./total');\n");
  place.write(
    "py/shop.py",
    "from money import total\n\nclass Shop:\n    def total(self):\n        # total of all\n        return total(1)\n",
  );
  place.write(
    "go/shop.go",
    "package shop\n\nfunc (s *Shop) Total() int {\n\treturn total(s)\n}\n\ntype TotalSet struct{}\n",
  );
  place.write(
    "web/style.css",
    ".total-box { --total-gap: 1px; color: red }\n#total { gap: var(--total-gap) }\na:hover { }\n",
  );
  place.write("web/page.html", '<p id="total">total</p>\n');
  place.write("notes.md", "total total total\n");
  place.write("src/hidden/secret.ts", "export function totalSecret() {}\n");
});
afterAll(() => place.remove());

async function search(input: object, more?: Partial<ToolContext>): Promise<string[]> {
  const { text, isError } = await place.use(codeSearch, input, more);
  return (isError ? `error: ${text}` : text).split("\n");
}

const starts = (lines: readonly string[]) => lines.map((line) => line.split("  ").slice(0, 2).join("  "));

describe("names", () => {
  test("exact before longer, definitions before exports before uses, sources before tests before generated", async () => {
    const lines = starts(await search({ query: "total", path: "src", limit: 200 }));
    expect(lines.slice(0, 6)).toEqual([
      "src/old.js:1  function total",
      "src/total.ts:3  function total",
      "src/total.ts:8  method Basket.total",
      "src/total.test.ts:3  function total",
      "src/total.ts:8  call total",
      "src/view.tsx:1  call total",
    ]);
    const order = ["interface Total", "variable totalNow", "export grandTotal"].map((end) =>
      lines.findIndex((line) => line.endsWith(end)),
    );
    expect(order.every((at) => at > 5)).toBe(true);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    const all = starts(await search({ query: "total", limit: 200 }));
    expect(all.indexOf("dist/total.js:1  function total")).toBeGreaterThan(
      all.indexOf("src/total.test.ts:3  function total"),
    );
  });

  test("a line has the place, the kind, the name and the code", async () => {
    expect(await search({ query: "makeTotal" })).toEqual([
      "src/total.ts:13  function makeTotal  export const makeTotal = (x: number) => x;",
    ]);
  });

  test.each([
    ["function", "src/total.ts:3  function total"],
    ["method", "src/total.ts:8  method Basket.total"],
    ["type", "src/total.ts:12  type TotalKind"],
    ["interface", "src/total.ts:11  interface Total"],
    ["variable", "src/total.ts:14  variable totalSum"],
    ["import", "src/total.test.ts:1  import total"],
    ["call", "src/view.tsx:1  call total"],
  ])("kind %s finds only such", async (kind, expected) => {
    const lines = starts(await search({ query: "total", kind, language: "typescript", limit: 200 }));
    expect(lines).toContain(expected);
    expect(lines.filter((line) => !line.includes(`  ${kind} `))).toEqual([]);
  });

  test("a member is found by the name of its type, and a name by its words", async () => {
    expect(starts(await search({ query: "Basket.total()" }))).toEqual([
      "src/total.ts:8  method Basket.total",
      "src/total.ts:9  variable Basket.#totals",
    ]);
    expect(starts(await search({ query: "grand total" }))).toEqual(["src/total.ts:15  export grandTotal"]);
  });

  test("languages without a parser are searched by their lines, and that is said", async () => {
    expect(await search({ query: "total", language: "py" })).toEqual([
      "py/shop.py:4  method total  def total(self):",
      "py/shop.py:1  import total  from money import total",
      "py/shop.py:6  call total  return total(1)",
      "(Python: by text, not by structure)",
    ]);
    expect(starts(await search({ query: "Total", language: "Go", kind: "method" }))[0]).toBe(
      "go/shop.go:3  method Total",
    );
  });

  test("styles and pages have names too", async () => {
    expect(starts(await search({ query: "total", path: "web" }))).toEqual([
      "web/page.html:1  variable total",
      "web/style.css:2  variable total",
      "web/style.css:1  class total-box",
      "web/style.css:1  variable --total-gap",
    ]);
    expect(starts(await search({ query: "--total-gap", path: "web" }))).toEqual([
      "web/style.css:1  variable --total-gap",
    ]);
  });

  test("the definition of dispatch in this very project comes first", async () => {
    const roots = { projectDir: PACKAGE_ROOT, workspaceDir: place.workspaceDir };
    const targets = await codeSearch.access({ query: "dispatch" }, roots);
    const [first] = await search({ query: "dispatch" }, { ...roots, targets });
    expect(first).toMatch(
      /^packages\/core\/src\/run\/calls\/dispatch\.ts:\d+ {2}function dispatch {2}export async function dispatch\(/,
    );
  });
});

describe("limits and rights", () => {
  test("what is left out by the limit is said", async () => {
    const lines = await search({ query: "total", limit: 2 });
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/^\(\d+ more, \d+ of them uses; set a kind/);
  });

  test("uses leave room for definitions of longer names", async () => {
    place.write("many/uses.ts", `${"crowd();\n".repeat(50)}export function crowdControl() {}\n`);
    const lines = starts(await search({ query: "crowd", path: "many", limit: 10 }));
    expect(lines).toContain("many/uses.ts:51  function crowdControl");
  });

  test("nothing found says so", async () => {
    expect((await search({ query: "zebra" }))[0]).toMatch(/^no name like 'zebra'/);
  });

  test("files that the run may not see are not searched", async () => {
    const maySee: ToolContext["maySee"] = (file) =>
      file.kind === "path" && !file.relative.startsWith("src/hidden/");
    expect((await search({ query: "totalSecret" }))[0]).toMatch(/^src\/hidden/);
    const lines = await search({ query: "totalSecret" }, { maySee });
    expect(lines.join("\n")).not.toContain("export function");
    expect(lines.at(-1)).toBe("(1 files left out: there is no right to read them)");
  });

  test("links, binary and very large files are passed over", async () => {
    writeFileSync(join(place.root, "outside.ts"), "export function wolf() {}\n");
    symlinkSync(join(place.root, "outside.ts"), join(place.projectDir, "link.ts"));
    place.write("big.ts", `export function wolf() {}\n${"// x\n".repeat(100_000)}`);
    expect((await search({ query: "wolf" }))[0]).toMatch(/^no name like/);
  });

  test("deeply nested code is searched like any other", async () => {
    place.write("deep.ts", `export const abyss = ${"[".repeat(50_000)}${"]".repeat(50_000)};\n`);
    expect(starts(await search({ query: "abyss" }))).toEqual(["deep.ts:1  variable abyss"]);
  });

  test.each(["--pre=sh", "-f/etc/passwd", "$(id)", "(?:a", "a{999999}"])(
    "'%s' is a name and nothing else",
    async (query) => {
      expect((await search({ query }))[0]).toMatch(/^no name like|^src|^many/);
    },
  );

  test("a stopped run stops the search", async () => {
    expect((await search({ query: "total" }, { signal: AbortSignal.abort() }))[0]).toMatch(
      /^error: .*abort/i,
    );
  });

  test("a question without a name, an unknown language and a place outside are refused", async () => {
    expect((await search({}))[0]).toMatch(/^error: give a 'query' or a 'pattern'/);
    expect((await search({ query: "--" }))[0]).toMatch(/^error: '--' holds no name/);
    expect((await search({ query: "x", language: "klingon" }))[0]).toMatch(
      /no language 'klingon'; known: C, /,
    );
    expect((await search({ query: "x", path: "../outside.ts" }))[0]).toMatch(/outside the project/);
  });
});

describe("patterns", () => {
  test("code is found by its shape, and a query narrows it", async () => {
    expect(await search({ pattern: "export function $F($$$): number { $$$ }" })).toEqual([
      "src/total.ts:3  match  export function total(list: number[]): number { const totalNow = list.length; return round(totalNow); }",
    ]);
    expect(await search({ pattern: "total($A)", path: "src" })).toEqual([
      "src/total.ts:8  match  total([])",
      "src/view.tsx:1  match  total([1])",
      "src/total.test.ts:2  match  total([])",
    ]);
    expect(await search({ pattern: "total($A)", path: "src", query: "[1]" })).toEqual([
      "src/view.tsx:1  match  total([1])",
    ]);
  });

  test("a pattern that is none is refused with the parser's words", async () => {
    expect((await search({ pattern: "two words" }))[0]).toMatch(/^error: the pattern is not valid: /);
    expect((await search({ pattern: "x", language: "python" }))[0]).toMatch(
      /^error: patterns are for JavaScript/,
    );
  });

  test("a pattern that fits everything ends at the limit", async () => {
    const lines = await search({ pattern: "$A", limit: 3, path: "src" });
    expect(lines).toHaveLength(4);
    expect(lines[3]).toBe("(there are more matches; narrow the search)");
  });
});

test.each([
  ["Python", "async def fetch(x):", "function fetch"],
  ["Python", "    def area(self):", "method area"],
  ["Python", "LIMIT: int = 3", "variable LIMIT"],
  ["Go", "type Reader interface {", "interface Reader"],
  ["Go", "func (r *Reader) Read(p []byte) {", "method Read"],
  ["Rust", "pub(crate) async fn run() {", "function run"],
  ["Rust", "    pub fn new() -> Self {", "method new"],
  ["Rust", "pub trait Shape {", "interface Shape"],
  ["Java", "public final class Main {", "class Main"],
  ["Java", "    public static List<String> namesOf(int a) {", "method namesOf"],
  ["Kotlin", "data class User(val id: Int)", "class User"],
  ["Kotlin", "suspend fun load(): User {", "function load"],
  ["C#", "public interface IShape", "interface IShape"],
  ["Ruby", "  def self.build(x)", "method build"],
  ["Ruby", "module Shop", "type Shop"],
  ["PHP", "    public function total(): int", "method total"],
  ["C", "static int add(int a, int b)", "function add"],
  ["C", "#define MAX 3", "variable MAX"],
  ["C++", "void Shop::total(int a) {", "function total"],
  ["Swift", "protocol Shape {", "interface Shape"],
  ["Elixir", "  def total(list) do", "function total"],
  ["Lua", "local function total(list)", "function total"],
  ["Shell", "build() {", "function build"],
  ["SQL", "CREATE TABLE IF NOT EXISTS users (", "type users"],
])("%s: '%s' defines %s", (language, line, expected) => {
  const [, name = ""] = expected.split(" ");
  const [found] = findTextSymbols(line, language, readNameQuery(name));
  expect(`${found?.kind} ${found?.name}`).toBe(expected);
});

test.each([
  ["Java", "    return compute(a);", "compute", ["call"]],
  ["Java", "    if (ready) {", "if", []],
  ["C", "  call(a, b);", "call", ["call"]],
  ["Python", "x == 3", "x", []],
])("%s: '%s' does not define %s", (language, line, name, kinds) => {
  expect(findTextSymbols(line, language, readNameQuery(name)).map(({ kind }) => kind)).toEqual(kinds);
});

test("a file that holds a name more often than anyone reads is not gone through to its end", async () => {
  const calls = Array.from({ length: 3_000 }, () => "endlessly();").join("\n");
  const tree = await parseSource(calls, "TypeScript");
  const found = tree && findTreeSymbols(tree, calls, "TypeScript", readNameQuery("endlessly"));
  expect(found).toHaveLength(1_000);
});
