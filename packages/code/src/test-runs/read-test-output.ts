import { findTestCalls, judgeChoice, type TestCall } from "./find-test-calls.ts";
import { parseJunit } from "./parse-junit.ts";
import { parseCargo, parseGo, parseJest, parseMocha, parseUnittest } from "./parse-reports.ts";
import { parseTap } from "./parse-tap.ts";
import type { TestReport } from "./test-report.ts";
import type { Grounds } from "./whereabouts.ts";

/** What a command's output says of the tests of one suite. */
type TestOutput = {
  suite: string;
  run: number;
  passed: number;
  /** Suites that hold these tests among others: a later run of all of them tells more. */
  part_of?: readonly string[];
  /** Why it was no good run although no test is known to have failed. */
  fault?: string | undefined;
};

/** How a command ended, and where it ran: by default in the project. */
type CommandFacts = { exitCode?: number | null } & Partial<Grounds>;

type Counts = { passed: number; failed: number };

const MAX_NAME = 120;

/** The name of a suite: its runner or call, and the folder of the project in which it ran. */
export function nameSuite(what: string, folder: string): string {
  const short = what.length > MAX_NAME ? `${what.slice(0, MAX_NAME - 1)}…` : what;
  return folder === "" ? short : `${short} in ${folder}`;
}

/**
 * Counts of the tests that a shell command ran, as far as known runners printed a summary, and runs that went wrong. Tests in
 * neither the project nor the workspace, such as those of a copy, are nobody's figures; where a run cannot be placed, it is
 * the project's.
 */
export async function readTestOutput(
  command: string,
  output: string,
  facts: CommandFacts = {},
): Promise<TestOutput[]> {
  const { exitCode = 0, projectDir = "/", cwd = projectDir, workspaceDir } = facts;
  const calls = findTestCalls(command, { cwd, projectDir, workspaceDir });
  if (calls.every(({ isElsewhere }) => isElsewhere)) return [];
  const summaries = await readSummaries(output.slice(-MAX_CHARS).replace(COLOURS, ""), calls);
  const read = [...summaries].flatMap(([runner, counts]) => assignSummaries(calls, runner, counts));
  const measured = new Set(read.flatMap((one) => one.calls));
  const isExplained =
    read.some(({ counts }) => counts.failed > 0) || calls.some(({ isElsewhere }) => isElsewhere);
  const own = read.flatMap((one) => {
    const its = one.calls.filter(({ isElsewhere }) => !isElsewhere);
    // Of what may be the project's or a copy's, only a failure counts: to lose one is worse than to count a copy's.
    const isShared = its.length < one.calls.length;
    return its.length > 0 && (!isShared || one.counts.failed > 0) ? [{ ...one, calls: its }] : [];
  });
  const tests = own.map(({ runner, calls: its, counts }) => ({
    ...identifySuite(command, its, runner),
    run: counts.passed + counts.failed,
    passed: counts.passed,
    ...(exitCode !== 0 && !isExplained && { fault: describeExit({ exitCode }, true) }),
  }));
  // What told nothing ended well only if nothing else can have given the command its exit code.
  const isQuiet = exitCode === 0 && isAlone(command);
  const silent = calls.flatMap((call) => {
    const isScript = call.runner === null;
    if (!call.isTest || call.isElsewhere || (measured.has(call) && !isScript)) return [];
    const isCounted = own.some((one) => one.calls.includes(call));
    if (isCounted || (isQuiet && !measured.has(call)))
      return [{ ...identifySuite(command, [call]), run: 0, passed: 0 }];
    if (exitCode === 0 || isExplained) return [];
    return [
      { ...identifySuite(command, [call]), run: 0, passed: 0, fault: describeExit({ exitCode }, false) },
    ];
  });
  return [...tests, ...silent.filter(({ suite }) => !tests.some((one) => one.suite === suite))];
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
/** A summary is at the end. */
const MAX_CHARS = 400_000;

/** What is wrong with a run of tests of which none is known to have failed; undefined if it ended well. */
export function describeExit(
  { exitCode }: { exitCode: number | null },
  hasReported: boolean,
): string | undefined {
  if (exitCode === 0) return undefined;
  const said = hasReported ? "no test failed, but" : "nothing was reported, and";
  return `${said} the command ${exitCode === null ? "was stopped" : `ended with exit code ${exitCode}`}`;
}

/** Whether the exit code of a command can only be that of its one program, which may have changed the folder before. */
function isAlone(command: string): boolean {
  const rest = command.replace(/^\s*cd\s[^;|&\n]*&&/, "").replace(/\d?>&\d|&>/g, "");
  return !/[;|&\n!]/.test(rest.trim());
}

/** The name of the suite that some calls ran together, with the runner that their summary shows. */
function identifySuite(
  command: string,
  calls: readonly TestCall[],
  shown?: string,
): Pick<TestOutput, "suite" | "part_of"> {
  const wholes = calls.map(({ runner, args, folder }) => {
    const by = runner ?? shown;
    const choice = args && by !== undefined && folder !== null ? judgeChoice(by, args) : "other";
    return choice === "other" ? null : { suite: nameSuite(by ?? "", folder ?? ""), choice };
  });
  const [call, ...more] = calls;
  if (call && more.length === 0) {
    const whole = wholes[0];
    if (whole?.choice === "all") return { suite: whole.suite };
    const suite =
      call.folder === null ? nameSuite(shortCommand(command), "") : nameSuite(call.text, call.folder);
    return { suite, ...(whole && { part_of: [whole.suite] }) };
  }
  const names = [...new Set(wholes.flatMap((whole) => (whole ? [whole.suite] : [])))];
  return {
    suite: nameSuite(shortCommand(command), ""),
    ...(wholes.every((whole) => whole !== null) && names.length > 0 && { part_of: names }),
  };
}

/** A command without what only shapes its output, so that the same suite has the same name. */
function shortCommand(command: string): string {
  return command
    .replace(/\|\s*(?:tail|head|cat|tee|grep)\b[^|;&]*/g, "")
    .replace(/\d?>>?\s*(?:&\d|\/dev\/null|\S+)/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

type Assigned = { runner: string; calls: readonly TestCall[]; counts: Counts };

/** Says which call printed which summary. As many as there are calls, they are in the same order; else they add up. */
function assignSummaries(calls: readonly TestCall[], runner: string, counts: readonly Counts[]): Assigned[] {
  const naming = calls.filter((call) => call.runner === runner);
  const scripts = calls.filter((call) => call.runner === null && call.isTest);
  const open = calls.filter((call) => call.runner === null);
  const its = [naming, scripts, open].find((some) => some.length > 0) ?? calls;
  if (its.length === counts.length)
    return its.flatMap((call, at) => {
      const one = counts[at];
      return one ? [{ runner, calls: [call], counts: one }] : [];
    });
  return [{ runner, calls: its, counts: addUp(counts) }];
}

function addUp(all: readonly Counts[]): Counts {
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** The summaries in a text, by runner. A report in a general form is read only if no runner's own summary is there. */
async function readSummaries(
  text: string,
  calls: readonly TestCall[],
): Promise<Map<string, readonly Counts[]>> {
  const found = new Map<string, readonly Counts[]>();
  const read = (readers: Readonly<Record<string, Reader>>) => {
    for (const [runner, reader] of Object.entries(readers)) {
      const counts = reader(text, (name) => calls.some((call) => call.runner === name));
      if (counts.length > 0) found.set(runner, counts);
    }
  };
  read(SUMMARIES);
  if (found.size > 0) return found;
  const junit = reported(await parseJunit(junitIn(text), "/"));
  if (junit.length > 0) found.set("junit", junit);
  read({ tap: readPlainTap });
  return found;
}

/** Reads all summaries of one runner, each by itself; `isNamed` says whether the command names a runner. */
type Reader = (text: string, isNamed: (runner: string) => boolean) => readonly Counts[];

/** What runners print for people, and reports of which it is clear whose they are. */
const SUMMARIES: Readonly<Record<string, Reader>> = {
  node: readFirst(readNode, (text) => reported(parseTap(text, "/"))),
  cargo: readFirst((text) => reported(parseCargo(text)), readNextest),
  unittest: (text) =>
    text
      .split(/(?<=^(?:OK|FAILED|NO TESTS RAN)(?: \(.*\))?$)/m)
      .flatMap((one) => reported(parseUnittest(one, "/"))),
  go: readFirst((text) => reported(parseGo(text, "")), readGo),
  vitest: readFirst(
    (text) => readSuites(text, /^[ \t]*Test Files {2,}(.*)$/gm, /^[ \t]*Tests {2,}(\d.*|no tests)$/gm),
    (text, isNamed) => (isNamed("vitest") ? reported(parseJest(jsonIn(text), "/")) : []),
  ),
  jest: readFirst(
    (text) => readSuites(text, /^Test Suites: +(.*)$/gm, /^Tests: +(\d.* total)$/gm),
    (text, isNamed) => (isNamed("vitest") ? [] : reported(parseJest(jsonIn(text), "/"))),
  ),
  mocha: readFirst(readMocha, (text) => reported(parseMocha(jsonIn(text), "/"))),
  pytest: (text, isNamed) =>
    [...text.matchAll(/^(=+ )?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s\b/gm)].flatMap(([, frame, list = ""]) => {
      // Other programs end with `4 errors in 2.0s`, too.
      const isOwn = / (?:passed|failed)\b/.test(list) || frame !== undefined || isNamed("pytest");
      return isOwn && / (?:passed|failed|errors?)\b/.test(list) ? [countWords(list)] : [];
    }),
  deno: readLines(/^(?:ok|FAILED) \| (?<list>\d+ passed.*)$/gm),
  bun: (text) =>
    text
      .split(/(?<=^Ran \d+ tests? across \d+ files?.*$)/m)
      .filter((one) => /^Ran \d+ tests? across/m.test(one))
      .map((one) => ({
        passed: lastNumber(one, /^ *(\d+) pass$/gm),
        failed: lastNumber(one, /^ *(\d+) (?:fail|errors?)$/gm),
      })),
  dotnet: readFirst(readLines(/Failed: +(?<failed>\d+), Passed: +(?<passed>\d+), Skipped:/g), (text) =>
    text
      .split(/^(?=Total tests: \d)/m)
      .filter((one) => one.startsWith("Total tests:"))
      .map((one) => ({
        passed: lastNumber(one, /^ +Passed: (\d+)$/gm),
        failed: lastNumber(one, /^ +Failed: (\d+)$/gm),
      })),
  ),
  maven: readFirst(readMavenLines("\\[\\w+\\] +"), readMavenLines("")),
  rspec: readLines(
    /^(?<run>\d+) examples?, (?<failed>\d+) failures?(?:, \d+ pending)?(?:, (?<outside>\d+) errors? occurred outside)?/gm,
  ),
  minitest: readLines(
    /^(?<run>\d+) (?:runs|tests), \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors(?:, (?<skipped>\d+) skips)?/gm,
  ),
  phpunit: readPhpunit,
  gradle: readLines(/^(?<run>\d+) tests? completed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?/gm),
  playwright: (text, isNamed) =>
    isNamed("playwright") ? addLines(/^ {2}(?<list>\d+ (?:failed|passed|flaky))\b/gm, text) : [],
  ava: (text, isNamed) =>
    isNamed("ava")
      ? addLines(/^ {2}(?:(?<passed>\d+) tests? passed|(?<failed>\d+) tests? failed)$/gm, text)
      : [],
  ctest: readLines(/^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<run>\d+)/gm),
  swift: (text) =>
    readLines(/^\s*Executed (?<run>\d+) tests?, with (?<failed>\d+) failures?/gm)(text).slice(-1),
};

/** What the first of some readers finds that finds anything. */
function readFirst(...readers: readonly Reader[]): Reader {
  return (text, isNamed) => {
    for (const read of readers) {
      const counts = read(text, isNamed);
      if (counts.length > 0) return counts;
    }
    return [];
  };
}

/**
 * Reads summaries of one line by the groups of a pattern: `passed` and `failed`, or `run` with those of them that `failed`,
 * had `errors` or were `skipped`, and errors `outside` of all tests; or a `list` in words.
 */
function readLines(line: RegExp): (text: string) => readonly Counts[] {
  return (text) =>
    [...text.matchAll(line)].map(({ groups = {} }) => {
      if (groups.list !== undefined) return countWords(groups.list);
      const count = (name: string) => Number(groups[name] ?? 0);
      const failed = count("failed") + count("errors");
      const passed = groups.run === undefined ? count("passed") : count("run") - count("skipped") - failed;
      return { passed: Math.max(0, passed), failed: failed + count("outside") };
    });
}

/** Lines that are one summary together. */
function addLines(line: RegExp, text: string): readonly Counts[] {
  const counts = readLines(line)(text);
  return counts.length > 0 ? [addUp(counts)] : [];
}

/**
 * Maven prints a line for each class, with the time it took, and for each module one for all of them, which is there
 * twice in some versions: with a mark in front and without.
 */
function readMavenLines(mark: string): Reader {
  const counts =
    "Tests run: (?<run>\\d+), Failures: (?<failed>\\d+), Errors: (?<errors>\\d+), Skipped: (?<skipped>\\d+)";
  return readLines(new RegExp(`^${mark}${counts}(?!, Time elapsed)`, "gm"));
}

/** What could not be loaded counts as a test that failed. */
function reported(report: TestReport | null): readonly Counts[] {
  return report ? [{ passed: report.passed, failed: report.failed + report.broken.length }] : [];
}

/** The JSON that a runner printed, perhaps with other lines around it. */
function jsonIn(text: string): string {
  const start = text.search(/^\{/m);
  return start < 0 ? "" : text.slice(start, text.lastIndexOf("}") + 1);
}

/** The JUnit reports in a text, perhaps with other lines around them. */
function junitIn(text: string): string {
  const start = text.indexOf("<testsuite");
  const end = text.lastIndexOf("</testsuite");
  return start < 0 || end < start ? "" : text.slice(start, text.indexOf(">", end) + 1);
}

/** `2 failed | 12 passed | 1 skipped`, in whatever order and with whatever between. */
function countWords(list: string): Counts {
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}\\b`).exec(list)?.[1] ?? 0);
  return { passed: count("passed") + count("flaky"), failed: count("failed") + count("errors?") };
}

function lastNumber(text: string, line: RegExp): number {
  return Number([...text.matchAll(line)].at(-1)?.[1] ?? 0);
}

/** Summaries that count files and tests: a file that failed without a failed test did not load. */
function readSuites(text: string, filesLine: RegExp, testsLine: RegExp): Counts[] {
  const files = [...text.matchAll(filesLine)].map(([, list = ""]) => countWords(list));
  const tests = [...text.matchAll(testsLine)].map(([, list = ""]) => countWords(list));
  const errors = [...text.matchAll(/^[ \t]*Errors {2,}(\d+) errors?$/gm)].length;
  return tests.map(({ passed, failed }, at) => ({
    passed,
    failed:
      failed > 0 ? failed : (files.length === tests.length && files[at]?.failed) || (at === 0 ? errors : 0),
  }));
}

/** The summary of `node --test`, for people or as TAP; what is cancelled, such as by its time limit, did not pass. */
function readNode(text: string): Counts[] {
  const numbers = (word: string) =>
    [...text.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`, "gm"))].map(([, count]) => Number(count));
  const [tests, passed, failed, cancelled] = ["tests", "pass", "fail", "cancelled"].map(numbers);
  if (!tests || !passed || failed?.length !== passed.length || tests.length === 0) return [];
  return passed.map((count, at) => ({ passed: count, failed: (failed[at] ?? 0) + (cancelled?.[at] ?? 0) }));
}

function readNextest(text: string): Counts[] {
  return [...text.matchAll(/^ +Summary \[.*\] +(?:\d+\/)?\d+ tests? run: (\d+ .*)$/gm)].map(
    ([, list = ""]) => {
      const { passed, failed } = countWords(list);
      return { passed, failed: failed + Number(/(\d+) timed out/.exec(list)?.[1] ?? 0) };
    },
  );
}

/** TAP of other producers: a plan, and points of which those that are skipped or to do do not count. */
function readPlainTap(text: string): Counts[] {
  if (!/^1\.\.\d+/m.test(text)) return [];
  const points = [...text.matchAll(/^(not ok|ok)\b(?!.*#\s*(?:skip|todo)).*$/gim)];
  const passed = points.filter(([, word]) => word?.toLowerCase() === "ok").length;
  return points.length > 0 ? [{ passed, failed: points.length - passed }] : [];
}

/**
 * What `go test` prints: with `-v` every test, else only those that failed. A test with tests below it is not counted
 * itself; a package that failed without a failed test, such as one that was not built, counts as one.
 */
function readGo(text: string, isNamed: (runner: string) => boolean): Counts[] {
  const packages = [...text.matchAll(/^(ok|FAIL)[ \t]+(\S+)(?:[ \t]+(?:[\d.]+s|\(cached\)|\[.*\]))/gm)];
  const all = [...text.matchAll(/^\s*--- (PASS|FAIL|SKIP): (\S+)/gm)];
  if (!/^=== RUN /m.test(text) && !((isNamed("go") || all.length > 0) && packages.length > 0)) return [];
  // Names are only unique within a package, whose last line comes after its tests.
  const parts = text.split(/(?<=^(?:ok|FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[.*\]).*$)/m);
  return [addUp(parts.map(readGoPackage))];
}

function readGoPackage(text: string): Counts {
  const ended = [...text.matchAll(/^\s*--- (PASS|FAIL|SKIP): (\S+)/gm)].map(([, word, name = ""]) => ({
    word,
    name,
  }));
  const leaves = ended.filter(({ name }) => !ended.some((other) => other.name.startsWith(`${name}/`)));
  const failed = leaves.filter(({ word }) => word === "FAIL").length;
  const isBroken = failed === 0 && /^FAIL[ \t]+\S+[ \t]+\S/m.test(text);
  return { passed: leaves.filter(({ word }) => word === "PASS").length, failed: isBroken ? 1 : failed };
}

/** A summary begins with what passed, and says what failed only if something did. */
function readMocha(text: string): Counts[] {
  return text
    .split(/^(?= {2}\d+ passing \()/m)
    .filter((one) => /^ {2}\d+ passing \(/.test(one))
    .map((one) => ({
      passed: Number(/^ {2}(\d+) passing/.exec(one)?.[1] ?? 0),
      failed: Number(/^ {2}(\d+) failing$/m.exec(one)?.[1] ?? 0),
    }));
}

function readPhpunit(text: string): Counts[] {
  const good = readLines(/^OK \((?<run>\d+) tests?,/gm)(text);
  const others = [...text.matchAll(/^Tests: (\d+), Assertions: \d+(.*)$/gm)].map(([, run, rest = ""]) => {
    const count = (word: string) => Number(new RegExp(`\\b${word}: (\\d+)`).exec(rest)?.[1] ?? 0);
    const failed = count("Errors") + count("Failures");
    return { passed: Math.max(0, Number(run) - count("Skipped") - count("Incomplete") - failed), failed };
  });
  return [...good, ...others];
}
