import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { overview } from "./overview.ts";

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
});
afterEach(() => place.remove());

async function survey(input: object = {}, more?: Partial<ToolContext>): Promise<string> {
  const { text, isError } = await place.use(overview, input, more);
  return isError ? `error: ${text}` : text;
}

test("a project's parts are shown", async () => {
  place.write(
    "package.json",
    JSON.stringify({
      name: "shop",
      version: "1.2.3",
      description: "Sells things.",
      bin: { shop: "dist/cli.js" },
      exports: { ".": { types: "./dist/index.d.ts", import: "./dist/index.js" }, "./x": "./dist/x.js" },
      scripts: { test: "vitest run", build: "tsc" },
      devDependencies: { vitest: "5" },
    }),
  );
  place.write("README.md", "# Shop\n\n![badge](x.svg)\n\nA shop for things\nof all kinds.\n\nMore.\n");
  place.write("Makefile", "CC := gcc\nbuild: src\n\tcc\n.PHONY: all\nrun-it:\n\tx\n");
  place.write("src/index.ts", 'import { a } from "./core/a.ts";\n'.repeat(9));
  for (const name of ["b", "c", "d"]) place.write(`src/core/${name}.ts`, 'export { a } from "./a.js";\n');
  place.write("src/core/a.ts", "export const a = 1;\n");
  place.write("src/core/a.test.ts", 'import { a } from "./a.ts";\n');
  place.write("test/all.test.ts", "x\n");
  place.write("tools/run.py", "print(1)\n");
  expect(await survey()).toBe(
    `shop 1.2.3: Sells things.
A shop for things of all kinds.

Languages, by lines: TypeScript 48 % (15 in 7 files), Markdown 26 % (8 in 1 file), other 19 % (6 in 1 file), JSON 3 % (1 in 1 file), Python 3 % (1 in 1 file)

Folders, with their text files:
src/ 6
  core/ 5
test/ 1
tools/ 1
(and 3 beside these folders)

Entry points:
- dist/cli.js (bin shop of package.json)
- dist/index.js (exports . of package.json)
- dist/x.js (exports ./x of package.json)
- src/index.ts

Scripts:
- npm run test: vitest run
- npm run build: tsc
- make build
- make run-it

Tests: 2 files in src/ (1), test/ (1); runner: vitest (package.json)

Imported by most files:
- src/core/a.ts (by 5)`,
  );
});

test.each([
  [
    "pyproject.toml",
    '[project]\nname = "shop"\ndescription = "Sells."\n[project.scripts]\nshop = "shop.cli:main"\n[tool.pytest.ini_options]\n',
    ["shop: Sells.", "- shop.cli:main (script shop of pyproject.toml)", "pytest (pyproject.toml)"],
  ],
  ["go.mod", "module example.org/shop\n\ngo 1.23\n", ["example.org/shop", "go test (go.mod)"]],
  [
    "Cargo.toml",
    '[package]\nname = "shop"\n\n[[bin]]\nname = "till"\npath = "src/till.rs"\n',
    ["shop", "- src/till.rs (bin till of Cargo.toml)", "cargo test (Cargo.toml)"],
  ],
  [
    "composer.json",
    '{"name":"a/shop","scripts":{"lint":"x"},"require-dev":{"phpunit/phpunit":"1"}}',
    ["a/shop", "- composer lint", "phpunit (composer.json)"],
  ],
  [
    "deno.json",
    '{"tasks":{"go":"deno run x.ts"}}',
    ["- deno task go: deno run x.ts", "deno test (deno.json)"],
  ],
])("%s is read", async (name, content, expected) => {
  place.write(name, content);
  const text = await survey();
  for (const each of expected) expect(text).toContain(each);
});

test.each([
  "{",
  "null",
  "[]",
  '{"scripts": 3, "bin": null, "exports": [1], "name": {}}',
  '{"exports":{".":{"a":{"a":{"a":{"a":{"a":{"a":{"a":"x"}}}}}}}}}',
])("a package.json that holds %s hurts nothing", async (content) => {
  place.write("package.json", content);
  expect(await survey()).toContain("Folders, with their text files:");
});

test("what files say stays on its line and within limits", async () => {
  place.write(
    "package.json",
    JSON.stringify({
      name: "x",
      scripts: { "a\nScripts:\n- fake": "y\u001b[31m\nz" },
      description: "d".repeat(10_000),
    }),
  );
  place.write("README.md", `word ${"word ".repeat(5_000)}`);
  for (let at = 0; at < 300; at++) place.write(`folder${at}/a.ts`, "x\n");
  const text = await survey();
  expect(text).toContain("- npm run a Scripts: - fake: y [31m z");
  expect(text).toContain("(220 smaller folders left out)");
  expect(text.length).toBeLessThan(5_000);
});

test("a folder is looked at by itself, as deep as asked", async () => {
  place.write("src/a/b/c.ts", "x\n");
  place.write("src/package.json", '{"name":"inner"}');
  place.write("other/x.ts", "x\n");
  const text = await survey({ path: "src", depth: 1 });
  expect(text).toContain("inner");
  expect(text).toContain("a/ 1\n");
  expect(text).not.toMatch(/other|b\//);
  expect(await survey({ path: "src", depth: 2 })).toContain("a/ 1\n  b/ 1");
});

test("what the run may not see is neither read nor counted", async () => {
  place.write("package.json", '{"name":"hush"}');
  place.write("README.md", "These are secret words of the project.\n");
  place.write("a.ts", "x\n");
  const maySee: ToolContext["maySee"] = (file) => file.kind === "path" && file.relative === "a.ts";
  const text = await survey({}, { maySee });
  expect(text).not.toMatch(/hush|secret/);
  expect(text).toContain("(2 files left out: there is no right to read them)");
});

test("an empty folder, a missing one and a place outside are said", async () => {
  expect(await survey()).toBe("there are no text files here");
  expect(await survey({ path: "nowhere" })).toBe("error: nowhere: there is no such file or folder");
  expect(await survey({ path: ".." })).toMatch(/^error: .*outside the project/);
});
