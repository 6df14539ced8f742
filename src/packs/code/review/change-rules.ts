import { basename } from "node:path";
import { type Finding, kindOf } from "./finding.ts";
import type { FileDiff } from "./read-diff.ts";

const LARGE_LINES = 500;
const LARGE_FILES = 30;
/** Fewer new lines than this seldom need a test of their own. */
const WORTH_A_TEST = 5;
const NAMED = 4;
const CASE =
  /^\s*(?:test|it)(?:\.\w+)*\s*\(|^\s*(?:async\s+)?def test_|^\s*func Test\w*\(|^\s*#\[(?:tokio::)?test\]/;

/** Looks at a change as a whole: its size, and whether its tests kept up with it. */
export function changeRules(files: readonly FileDiff[]): Finding[] {
  return [...untested(files), ...lostTests(files), ...large(files)];
}

const addedIn = ({ hunks }: FileDiff) => hunks.flat().filter(({ added }) => added);

function untested(files: readonly FileDiff[]): Finding[] {
  const tests = files.filter(({ path, status }) => kindOf(path) === "test" && status !== "deleted");
  const sources = files.filter(
    (file) =>
      kindOf(file.path) === "source" &&
      addedIn(file).filter(({ text }) => isCode(text)).length >= WORTH_A_TEST,
  );
  const [first] = sources;
  if (!first) return [];
  if (tests.length === 0) {
    const rest = sources.length > 1 ? ` and ${sources.length - 1} more sources` : "";
    const what = `the change touches no test, but ${basename(first.path)}${rest}; whether older tests cover it was not looked at`;
    return [{ severity: "medium", path: first.path, at: addedIn(first)[0]?.at ?? 0, what }];
  }
  const texts = tests.map(
    (file) =>
      `${file.path}\n${file.hunks
        .flat()
        .map(({ text }) => text)
        .join("\n")}`,
  );
  const alone = sources.filter(({ path, status }) => {
    const base = basename(path).replace(/\.\w+$/, "");
    return status === "added" && !texts.some((text) => text.includes(base));
  });
  const [unnamed] = alone;
  if (!unnamed) return [];
  const others = alone.slice(1, NAMED).map(({ path }) => path);
  const what = `no test of this change names this new file${others.length > 0 ? `, nor ${others.join(", ")}` : ""}`;
  return [{ severity: "low", path: unnamed.path, at: 1, what }];
}

function isCode(text: string): boolean {
  return !/^\s*(?:$|\/\/|\/?\*|#|import\b|export (?:type )?\{|[)\]}]+[;,]?\s*$)/.test(text);
}

function lostTests(files: readonly FileDiff[]): Finding[] {
  const tests = files.filter(({ path }) => kindOf(path) === "test");
  const removed = tests.flatMap(({ removed: lines }) => lines.filter((text) => CASE.test(text))).length;
  const added = tests.flatMap(addedIn).filter(({ text }) => CASE.test(text)).length;
  const where = tests.find((file) => file.removed.some((text) => CASE.test(text)));
  if (removed <= added || !where) return [];
  const what = `tests were taken away: ${removed} less, ${added} new in the whole change`;
  return [{ severity: "medium", path: where.path, at: 0, what }];
}

function large(files: readonly FileDiff[]): Finding[] {
  const own = files.filter(({ path }) => kindOf(path) !== "generated");
  const lines = own.reduce((sum, file) => sum + addedIn(file).length + file.removed.length, 0);
  const [first] = own;
  if (!first || (lines <= LARGE_LINES && own.length <= LARGE_FILES)) return [];
  const what = `the change is large (at least ${lines} lines in ${own.length} files), which hides defects; could it be several?`;
  return [{ severity: "low", path: first.path, at: 0, what }];
}
