import { posix } from "node:path";
import type { ToolContext } from "../../../tools/tool.ts";
import { searchFiles } from "../files/ripgrep.ts";
import { roleOf } from "../symbols/languages.ts";
import { findImports, importersOf } from "./import-graph.ts";

/** A file that goes with another: its test, or one that imports it. `share` is how much of its weight it takes over. */
export type Neighbour = { path: string; of: string; reason: string; share: number };

const MAX_IMPORTERS = 5;
const MAX_TESTS = 100;
const TEST_SHARE = 0.6;
const IMPORTING_TEST_SHARE = 0.35;
const IMPORTER_SHARE = 0.2;
const EVERYWHERE = new Set(["index", "main", "mod", "lib", "__init__", "types", "utils"]);

/** The tests of files, by name and by what they import, and the files that import them. */
export async function neighboursOf(paths: readonly string[], context: ToolContext): Promise<Neighbour[]> {
  const sources = paths.filter((path) => roleOf(path) !== "test");
  if (sources.length === 0) return [];
  const tests = await namesakes(sources, context);
  const imports = await findImports([...new Set(sources.map(stemOf))], context);
  const importers = importersOf(imports, new Set(sources));
  const importing = [...importers].flatMap(([of, from]) => {
    const inTests = [...from].filter((path) => roleOf(path) === "test").slice(0, MAX_IMPORTERS);
    const inSources = [...from].filter((path) => roleOf(path) === "source");
    return [
      ...inTests.map((path) => ({ path, of, reason: `imports ${of}`, share: IMPORTING_TEST_SHARE })),
      ...inSources.slice(0, MAX_IMPORTERS).map((path) => ({
        path,
        of,
        reason: inSources.length > 1 ? `imports ${of}, as ${inSources.length} files do` : `imports ${of}`,
        share: IMPORTER_SHARE / Math.sqrt(inSources.length),
      })),
    ];
  });
  return [...tests, ...importing];
}

/** Tests that carry the name of a file: `x.test.ts`, `x_test.go`, `test_x.py`, `XTest.java`, `x_spec.rb`. */
async function namesakes(sources: readonly string[], context: ToolContext): Promise<Neighbour[]> {
  const byStem = new Map<string, string[]>();
  for (const path of sources) {
    const stem = stemOf(path).toLowerCase();
    if (!EVERYWHERE.has(stem)) byStem.set(stem, [...(byStem.get(stem) ?? []), path]);
  }
  const accepts = (path: string) => roleOf(path) === "test" && byStem.has(testedStem(path));
  const search = await searchFiles({ args: ["--files"], accepts, max: MAX_TESTS }, context);
  return search.found.flatMap(({ path }) =>
    (byStem.get(testedStem(path)) ?? []).map((of) => ({
      path,
      of,
      reason: `the test of ${of} by its name`,
      share: posix.dirname(path) === posix.dirname(of) ? TEST_SHARE : TEST_SHARE / 1.5,
    })),
  );
}

function stemOf(path: string): string {
  return posix.basename(path).replace(/\.(?:d\.)?\w+$/, "");
}

function testedStem(path: string): string {
  return stemOf(path)
    .replace(/^test_|[._-](?:test|spec)s?$|(?<=[a-z])(?:Tests?|Spec)$/g, "")
    .toLowerCase();
}
