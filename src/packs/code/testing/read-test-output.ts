import { splitCommand } from "../../../permissions/patterns/split-command.ts";
import { parseJest, parseMocha } from "./parse-jest.ts";
import { parseJunit } from "./parse-junit.ts";
import { parseTap } from "./parse-tap.ts";
import { parseCargo, parseGo, parseUnittest } from "./parse-text.ts";

/** What a command's output says of the tests it ran. */
export type TestOutput = { suite: string; run: number; passed: number };

type Counts = { passed: number; failed: number };
type Reading = { runner: string; read: (text: string) => Counts | null };

/** The name of a suite: its runner, and what of the project it was told to run. */
export function nameSuite(runner: string, chosen: readonly (string | undefined)[]): string {
  return [runner, ...chosen].filter(Boolean).join(" ");
}

/** Counts of the tests that a shell command ran, if what it printed is the summary of a known runner; null if not. */
export function readTestOutput(command: string, output: string): TestOutput | null {
  if (!mayRunTests(command)) return null;
  const text = output.slice(-MAX_CHARS).replace(COLOURS, "");
  for (const { runner, read } of READINGS) {
    const counts = read(text);
    if (!counts) continue;
    const run = counts.passed + counts.failed;
    const suite = isWhole(command) ? runner : shortCommand(command);
    return run > 0 ? { suite, run, passed: counts.passed } : null;
  }
  return null;
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
/** A summary stands at the end. */
const MAX_CHARS = 400_000;

/** Programs that show or look for text, so that a summary among what they print is no test run. */
const SHOWING = new Set(
  "cat head tail less more grep egrep fgrep rg sed awk echo printf tee ls find wc sort uniq cut tr jq git diff cd true export set test [ mkdir rm cp mv touch sleep".split(
    " ",
  ),
);

function mayRunTests(command: string): boolean {
  return splitCommand(command).parts.some((part) => {
    const program =
      part
        .trim()
        .replace(/^(?:\w+=\S*\s+)+/, "")
        .split(/\s+/)[0] ?? "";
    return program !== "" && !SHOWING.has(program.replace(/^.*\//, ""));
  });
}

/** All tests of the project, said in one of the ways that people say it. */
const WHOLE =
  /^(?:npm|pnpm|yarn|bun)(?: run)?(?: -s| --silent)? (?:test|t)$|^(?:npx |pnpm (?:exec )?|yarn |bunx )?(?:vitest(?: run)?|jest|mocha)$|^node --test$|^(?:python3? -m )?pytest(?: -q)?$|^python3? -m unittest(?: discover)?$|^cargo test$|^go test(?: -v| -json)? \.\/\.\.\.$|^bun test$|^deno test$/;

function isWhole(command: string): boolean {
  return WHOLE.test(shortCommand(command));
}

const MAX_NAME = 120;

/** A command without what only shapes its output, so that the same suite has the same name. */
function shortCommand(command: string): string {
  const short = command
    .replace(/\|\s*(?:tail|head|cat|tee|grep)\b[^|;&]*/g, "")
    .replace(/\d?>>?\s*(?:&\d|\/dev\/null|\S+)/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return short.length > MAX_NAME ? `${short.slice(0, MAX_NAME - 1)}…` : short;
}

/** In the order in which they are tried: reports first, then the last lines that runners print for people. */
const READINGS: readonly Reading[] = [
  { runner: "junit", read: (text) => parseJunit(text.slice(Math.max(0, text.indexOf("<testsuite"))), "/") },
  { runner: "jest", read: (text) => parseJest(jsonIn(text), "/") },
  { runner: "mocha", read: (text) => parseMocha(jsonIn(text), "/") },
  { runner: "node", read: (text) => nodeSummary(text) ?? parseTap(text, "/") ?? plainTap(text) },
  { runner: "cargo", read: parseCargo },
  { runner: "unittest", read: (text) => parseUnittest(text, "/") },
  { runner: "go", read: (text) => parseGo(text, "") ?? goLines(text) },
  { runner: "vitest", read: (text) => counted(text, /^[ \t]*Tests {2,}(\d.*)$/gm) },
  { runner: "jest", read: (text) => counted(text, /^Tests: +(\d.* total)$/gm) },
  { runner: "mocha", read: mochaLines },
  { runner: "pytest", read: (text) => counted(text, /^(?:=+ )?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s\b/gm) },
  { runner: "deno", read: (text) => counted(text, /^(?:ok|FAILED) \| (\d+ passed.*)$/gm) },
  { runner: "bun", read: bunLines },
  { runner: "dotnet", read: dotnetLines },
  { runner: "maven", read: mavenLine },
  { runner: "rspec", read: (text) => lessFailures(text, /^(\d+) examples?, (\d+) failures?/gm) },
  {
    runner: "minitest",
    read: (text) => lessFailures(text, /^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors/gm),
  },
  { runner: "phpunit", read: phpunitLine },
  { runner: "gradle", read: (text) => lessFailures(text, /^(\d+) tests? completed, (\d+) failed/gm) },
];

/** The JSON that a runner printed, perhaps with other lines around it. */
function jsonIn(text: string): string {
  const start = text.search(/^\{/m);
  return start < 0 ? "" : text.slice(start, text.lastIndexOf("}") + 1);
}

/** `2 failed | 12 passed | 1 skipped`, in whatever order: all such lines of a text, as of several packages, add up. */
function counted(text: string, line: RegExp): Counts | null {
  const sums = [...text.matchAll(line)].map(([, list = ""]) => {
    const of = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(list)?.[1] ?? 0);
    return {
      passed: of("passed"),
      failed: of("failed") + of("errors?\\b"),
      known: /\d+ (?:passed|failed)/.test(list),
    };
  });
  return sums.some(({ known }) => known) ? addUp(sums) : null;
}

function addUp(all: readonly Counts[]): Counts {
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** The summary of `node --test`, for people or as TAP. */
function nodeSummary(text: string): Counts | null {
  const of = (word: string) =>
    [...text.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, "gm"))].map(([, count]) => Number(count));
  const [passed, failed] = [of("pass"), of("fail")];
  if (passed.length === 0 || failed.length !== passed.length || of("tests").length === 0) return null;
  return addUp(passed.map((count, index) => ({ passed: count, failed: failed[index] ?? 0 })));
}

/** TAP of other producers: a plan, and points of which those that are skipped or to do do not count. */
function plainTap(text: string): Counts | null {
  if (!/^1\.\.\d+/m.test(text)) return null;
  const points = [...text.matchAll(/^(not ok|ok)\b(?!.*#\s*(?:skip|todo)).*$/gim)];
  const passed = points.filter(([, word]) => word?.toLowerCase() === "ok").length;
  return points.length > 0 ? { passed, failed: points.length - passed } : null;
}

/** `go test -v`: a test with tests below it is not counted itself. */
function goLines(text: string): Counts | null {
  if (!/^=== RUN /m.test(text)) return null;
  const ended = [...text.matchAll(/^\s*--- (PASS|FAIL): (\S+)/gm)].map(([, word, name = ""]) => ({
    word,
    name,
  }));
  const leaves = ended.filter(({ name }) => !ended.some((other) => other.name.startsWith(`${name}/`)));
  const passed = leaves.filter(({ word }) => word === "PASS").length;
  return leaves.length > 0 ? { passed, failed: leaves.length - passed } : null;
}

function mochaLines(text: string): Counts | null {
  const passing = /^ {2}(\d+) passing \(/m.exec(text)?.[1];
  if (passing === undefined) return null;
  return { passed: Number(passing), failed: Number(/^ {2}(\d+) failing$/m.exec(text)?.[1] ?? 0) };
}

function bunLines(text: string): Counts | null {
  if (!/^Ran \d+ tests? across \d+ files?/m.test(text)) return null;
  const of = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(text)?.[1] ?? 0);
  return { passed: of("pass"), failed: of("fail") };
}

function dotnetLines(text: string): Counts | null {
  const lines = [...text.matchAll(/Failed: +(\d+), Passed: +(\d+), Skipped:/g)];
  const all = lines.map(([, failed, passed]) => ({ failed: Number(failed), passed: Number(passed) }));
  return all.length > 0 ? addUp(all) : null;
}

/** Maven prints a line for each class and, last, one for all of them. */
function mavenLine(text: string): Counts | null {
  const [, run, failures, errors, skipped] =
    [...text.matchAll(/Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)/g)]
      .at(-1)
      ?.map(Number) ?? [];
  if (run === undefined || failures === undefined || errors === undefined || skipped === undefined)
    return null;
  const failed = failures + errors;
  return { passed: Math.max(0, run - failed - skipped), failed };
}

function lessFailures(text: string, line: RegExp): Counts | null {
  const [, run, ...failures] = [...text.matchAll(line)].at(-1)?.map(Number) ?? [];
  if (run === undefined) return null;
  const failed = failures.reduce((sum, count) => sum + count, 0);
  return { passed: Math.max(0, run - failed), failed };
}

function phpunitLine(text: string): Counts | null {
  const whole = /^OK \((\d+) tests?,/m.exec(text)?.[1];
  if (whole !== undefined) return { passed: Number(whole), failed: 0 };
  return lessFailures(text, /^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?/gm);
}
