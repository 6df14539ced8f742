import { basename } from "node:path";
import { escapePattern } from "@retinue/code/symbols/code-symbol";
import { showCount } from "@retinue/core/show/measures";
import {
  findNextCalls,
  findResult,
  type OfflineCall,
  type OfflineMove,
  type Situation,
} from "./conversation.ts";
import { type Definition, readCounts, readHitLines } from "./read-code.ts";
import { splitLine } from "./source-line.ts";

/** Which tests name a definition, in words. */
type TestsFound = { summary: string; details: string };

/** One test, where it begins, and how often it names the definition. */
type Case = { path: string; at: number; title: string; uses: number };

const TEST_FILES =
  "{**/test/**,**/tests/**,**/__tests__/**,**/spec/**,**/*.test.*,**/*.spec.*,**/test_*.py,**/*_test.py,**/*_test.go,**/*_test.rs,**/*_spec.rb}";

const TITLE =
  "^\\s*(?:(?:test|it|describe)(?:\\.\\w+)*\\s*[(`]|\\]?\\)\\s*\\(\\s*[\"'`]|(?:async )?def test|func Test|fn \\w|class Test)";

const OPENED = 4;
const COUNTED = 60;
const MAX_LINES = 160;
const SHOWN = 15;
const NAMED_FILES = 6;

/** Finds the tests that name a definition: by its name in the files where tests live, and the titles around it there. */
export function findTests(definition: Definition, situation: Situation): OfflineMove | TestsFound {
  const byName = countCall(`\\b${escapePattern(definition.name)}\\b`);
  const byModule = countCall(
    `["'/.]${escapePattern(nameModule(definition.path))}(?:\\.\\w+)?["']|\\bimport ${escapePattern(nameModule(definition.path))}\\b`,
  );
  const counts = (call: OfflineCall) => readCounts(findResult(situation.calls, call));
  const files = () => rankTestFiles(counts(byName), counts(byModule), definition.path);
  const lines = () => (files().length > 0 ? [linesCall(definition.name, files().slice(0, OPENED))] : []);
  const move = findNextCalls(situation, [() => [byName, byModule], lines]);
  if (move) return move;
  const shown = lines().map((call) => findResult(situation.calls, call));
  return reportTests(definition, files(), findUses(shown.join("\n"), definition.name));
}

function countCall(pattern: string): OfflineCall {
  return { tool: "grep", input: { pattern, mode: "count", glob: TEST_FILES, limit: COUNTED } };
}

function linesCall(name: string, files: readonly string[]): OfflineCall {
  const pattern = `${TITLE}|\\b${escapePattern(name)}\\b`;
  return { tool: "grep", input: { pattern, glob: globFiles(files), limit: MAX_LINES } };
}

/** The file named after the module first, then those that import it, then by how often they name the definition. */
function rankTestFiles(
  byName: ReadonlyMap<string, number>,
  byModule: ReadonlyMap<string, number>,
  path: string,
): string[] {
  const score = (file: string) =>
    (nameModule(file).replace(/[._-](?:test|spec)$|^test_/, "") === nameModule(path) ? 1_000 : 0) +
    (byModule.has(file) ? 100 : 0) +
    Math.min(99, byName.get(file) ?? 0);
  return [...byName.keys()]
    .filter((file) => file !== path)
    .sort((a, b) => score(b) - score(a) || (a < b ? -1 : 1));
}

/** Gives each use of the name to the test that begins above it. */
function findUses(result: string, name: string): Case[] {
  const cases: Case[] = [];
  const names = new RegExp(`\\b${escapePattern(name)}\\b`);
  for (const { path, at, text } of readHitLines(result)) {
    const title = findTitle(text);
    if (title !== undefined) {
      cases.push({ path, at, title, uses: names.test(title) ? 1 : 0 });
    }
    const current = cases.at(-1);
    if (current?.path === path && names.test(splitLine(text, path).code) && !/^\s*import\b/.test(text))
      current.uses++;
  }
  return cases.filter(({ uses }) => uses > 0);
}

function findTitle(text: string): string | undefined {
  const quoted =
    /^\s*(?:(?:test|it|describe)(?:\.\w+)*\s*(?:\([^"'`]*\)\s*)?\(|\]?\)\s*\()\s*(["'`])((?:\\.|(?!\1).)+)\1/.exec(
      text,
    )?.[2];
  return quoted ?? /^\s*(?:async )?(?:def|func|fn|class)\s+(\w*[Tt]est\w*)/.exec(text)?.[1];
}

function reportTests({ name }: Definition, files: readonly string[], naming: readonly Case[]): TestsFound {
  const caveat = `Tests that reach \`${name}\` only through other code are not seen this way.`;
  if (files.length === 0) return { summary: `No test names \`${name}\`.`, details: caveat };
  const unopened = files.slice(OPENED);
  const found =
    naming.length > 0
      ? `${showCount(naming.length, "test names", "tests name")} \`${name}\``
      : `\`${name}\` is mentioned in ${listFiles(files)}`;
  const opened =
    unopened.length > 0 ? `, of ${files.length} test files that mention it ${OPENED} were opened` : "";
  return {
    summary: `Tests: ${found}${opened}.`,
    details: [
      naming.length > 0 ? `Tests that name \`${name}\`:` : "",
      ...naming.slice(0, SHOWN).map(({ path, at, title }) => `- ${path}:${at} “${title}”`),
      naming.length > SHOWN ? `- and ${naming.length - SHOWN} more` : "",
      unopened.length > 0 ? `Also mentioned in (not opened): ${listFiles(unopened)}.` : "",
      caveat,
    ]
      .filter(Boolean)
      .join("\n"),
  };
}

function listFiles(files: readonly string[]): string {
  const left = files.length - NAMED_FILES;
  return `${files.slice(0, NAMED_FILES).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function nameModule(path: string): string {
  return basename(path).replace(/\.\w+$/, "");
}

/** A glob for exactly these files. */
export function globFiles(paths: readonly string[]): string {
  const globs = paths.map((path) => path.replace(/[*?[\]{},\\]/g, "\\$&"));
  return globs.length === 1 ? (globs[0] ?? "") : `{${globs.join(",")}}`;
}
