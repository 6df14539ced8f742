import {
  findAnswer,
  findNextCalls,
  findResult,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  readResults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { locate } from "./find-definition.ts";
import { cutShort, needsModel } from "./offline-words.ts";
import { type Definition, fenceCode, readNumberedLines, type SourceLine } from "./read-code.ts";
import { classifyFile } from "./source-line.ts";
import { describeCounts, readTestRun, type TestFailure, type TestRun, testCall } from "./tester.ts";

const EXPLAINED = 3;
const RUNS = 3;
const LINES_BEFORE = 30;
const LINES_AFTER = 4;
const BLAMED_LINES = 15;

/** The debugger: runs the failing test, follows it to lines of the project, and finds who changed them last. */
export const diagnose: Procedure = {
  agents: ["debugger"],
  next(situation) {
    const lacking = ["test", "read"].filter((tool) => !situation.tools.includes(tool));
    if (lacking.length > 0)
      return {
        cannot: needsModel(
          `find a cause without ${lacking.join(" and ")}`,
          "follow a failing test where it has these tools",
        ),
      };
    const calls = planRuns(situation.task);
    const move = findNextCalls(situation, [() => calls]);
    if (move) return move;
    const results = calls.flatMap((call) => findAnswer(situation.calls, call)?.result ?? []);
    const runs = results.map(readTestRun);
    const broken = results.find((_, index) => !runs[index]?.counts);
    if (broken !== undefined) return { cannot: `the tests did not run: ${broken.trim().slice(0, 2_000)}` };
    return explain(runs, situation);
  },
};

/** The failing files that an earlier result names, else those that the task names. */
function planRuns(task: string): OfflineCall[] {
  const known = readResults(taskSections(task)).flatMap(({ details }) => readTestRun(details).failures);
  const files = [...new Set(known.flatMap(({ path }) => path ?? []))].slice(0, RUNS);
  if (files.length > 0) return files.map((path) => ({ tool: "test", input: { path } }));
  return [testCall(taskText(task).replace(/\(this follows on:.*$/s, ""))];
}

function explain(runs: readonly TestRun[], situation: Situation): OfflineMove {
  const failures = runs.flatMap((run) => run.failures);
  const followed: Explained[] = [];
  for (const failure of failures.slice(0, EXPLAINED)) {
    const step = follow(failure, situation);
    if ("calls" in step) return step;
    followed.push(step);
  }
  return { say: reportFailures(runs, followed) };
}

/** Follows one failure from its line to the code it leads to, call by call. */
function follow(
  failure: TestFailure,
  situation: Situation,
): Extract<OfflineMove, { calls: unknown }> | Explained {
  const places = [failure, failure.frame].flatMap((place) =>
    place?.path !== undefined && place.at !== undefined ? [{ path: place.path, at: place.at }] : [],
  );
  const reads = places.map(readCall);
  const reading = findNextCalls(situation, [() => reads]);
  if (reading && "calls" in reading) return reading;
  const [lines = [], frameLines = []] = reads.map((call) => readCallLines(call, situation));
  const inSource = places.findLast(({ path }) => classifyFile(path) !== "test");
  const located = inSource ? null : definitionFor(failure, lines, situation);
  if (located && "calls" in located) return located;
  const definition = located?.definition;
  const blame = blameCall(inSource, definition, situation);
  const blaming = blame && findNextCalls(situation, [() => [blame]]);
  if (blaming && "calls" in blaming) return blaming;
  const blamed = blame && findLastBlamed(findResult(situation.calls, blame));
  const log = blamed?.committed ? logCall(blamed.commit) : undefined;
  const logging = log && findNextCalls(situation, [() => [log]]);
  if (logging && "calls" in logging) return logging;
  const subject = log && /^[0-9a-f]+ (.*)$/m.exec(findResult(situation.calls, log))?.[1];
  return {
    failure,
    lines,
    frameLines: failure.frame && frameLines,
    definition,
    blamed: blamed && {
      ...{ ...blamed, subject: subject ?? "" },
      path: inSource?.path ?? definition?.path ?? "",
    },
  };
}

/** Where the first function that the failing line calls is defined. */
function definitionFor(
  { at }: TestFailure,
  lines: readonly SourceLine[],
  situation: Situation,
): Extract<OfflineMove, { calls: unknown }> | { definition?: Definition } {
  if (at === undefined) return {};
  for (const name of findCalledNames(lines, at).slice(0, 2)) {
    const located = locate(name, situation);
    if ("calls" in located) return located;
    const definition = located.places.find(({ path }) => classifyFile(path) !== "test");
    if (definition) return { definition };
  }
  return {};
}

function readCall({ path, at }: { path: string; at: number }): OfflineCall {
  const offset = Math.max(1, at - LINES_BEFORE);
  return { tool: "read", input: { path, offset, limit: at - offset + 1 + LINES_AFTER } };
}

function readCallLines(call: OfflineCall, { calls }: Situation): SourceLine[] {
  const past = findAnswer(calls, call);
  return past && !past.failed ? readNumberedLines(past.result) : [];
}

function blameCall(
  line: { path: string; at: number } | undefined,
  definition: Definition | undefined,
  { tools }: Situation,
): OfflineCall | undefined {
  if (!tools.includes("git")) return undefined;
  const range = line
    ? { path: line.path, from: line.at, to: line.at }
    : definition && {
        path: definition.path,
        from: definition.at,
        to: Math.max(definition.at, definition.body.slice(0, BLAMED_LINES).at(-1)?.at ?? definition.at),
      };
  if (!range) return undefined;
  return {
    tool: "git",
    input: { command: "blame", args: ["-L", `${range.from},${range.to}`, "--", range.path] },
  };
}

function logCall(commit: string): OfflineCall {
  return { tool: "git", input: { command: "log", args: ["-1", "--oneline", commit] } };
}

/** Names that tests and programs of any project call. */
const NOT_OWN = new Set(
  `expect assert equal strictEqual deepEqual deepStrictEqual notEqual ok throws doesNotThrow rejects match test it describe
  require import await async function return if for while switch catch typeof new super String Number Boolean Symbol
  BigInt JSON Object Array Promise Math Date Map Set Error RegExp console parseInt parseFloat print len range str int float
  list dict isinstance assertEqual assertTrue assertFalse assertRaises raises fn mock vi jest t`.split(/\s+/),
);
const NAME = "[\\p{L}_$][\\p{L}\\p{N}_$]*";
const LOOK_BACK = 30;

/**
 * Names of the project's own functions that a failing line calls, in their order. If it calls none, those that
 * made the values it looks at.
 */
export function findCalledNames(lines: readonly SourceLine[], at: number): string[] {
  const index = lines.findIndex((line) => line.at === at);
  const text = lines[index]?.text ?? "";
  const direct = findCalls(text);
  if (direct.length > 0) return direct;
  const before = lines.slice(Math.max(0, index - LOOK_BACK), index).reverse();
  return [...new Set(findValues(text).flatMap((value) => findCalls(findAssignment(value, before))))];
}

function findCalls(text: string): string[] {
  const calls = [...removeStrings(text).matchAll(new RegExp(`(\\.)?(${NAME})\\s*(?:<[^<>()]*>)?\\(`, "gu"))];
  const own = calls.filter(([, , name = ""]) => !NOT_OWN.has(name) && !/^(?:to[A-Z]|assert)/.test(name));
  const functions = own.filter(([, dot]) => dot === undefined);
  return [...new Set((functions.length > 0 ? functions : own).map(([, , name = ""]) => name))];
}

function findValues(text: string): string[] {
  return [...new Set(removeStrings(text).match(new RegExp(`(?<!\\.)${NAME}`, "gu")) ?? [])].filter(
    (name) => !NOT_OWN.has(name),
  );
}

/** The right side of the last assignment to a name. */
function findAssignment(name: string, before: readonly SourceLine[]): string {
  const escaped = name.replaceAll("$", "\\$");
  const assigns = new RegExp(
    `(?:[{,[]\\s*${escaped}\\s*[,}\\]:][^=]*|\\b${escaped}\\s*(?::[^=]+)?)=(?![=>])(.*)$`,
    "u",
  );
  for (const { text } of before) {
    const right = assigns.exec(text)?.[1];
    if (right !== undefined) return right;
  }
  return "";
}

function removeStrings(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/g, '""').replace(/\/\/.*$/, "");
}

/** Who last changed a line. */
type Blamed = { at: number; commit: string; author: string; date: string; committed: boolean };

const LINE =
  /^\^?([0-9a-f]{4,64}) (?:[^\s(]\S* +)?\((.+?) +(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) [+-]\d{4} +(\d+)\)/gm;

/** The line that was changed last among those that `git blame` lists; what is not committed yet is the latest. */
export function findLastBlamed(text: string): Blamed | undefined {
  const all = [...text.matchAll(LINE)].map(([, commit = "", author = "", day = "", time = "", at]) => ({
    at: Number(at),
    commit,
    author,
    date: day,
    when: `${day} ${time}`,
    committed: !/^0+$/.test(commit),
  }));
  const [latest] = all.toSorted(
    (a, b) =>
      Number(a.committed) - Number(b.committed) || (a.when < b.when ? 1 : a.when > b.when ? -1 : a.at - b.at),
  );
  if (!latest) return undefined;
  const { when: _, ...blamed } = latest;
  return blamed;
}

/** A failure and where it leads. */
type Explained = {
  failure: TestFailure;
  /** Around the line that failed. */
  lines: readonly SourceLine[];
  /** Around the place in the project that the trace ends in. */
  frameLines?: readonly SourceLine[];
  /** The function that the failing line calls. */
  definition?: Definition;
  blamed?: Blamed & { path: string; subject: string };
};

const AROUND = 2;
const DEFINITION_LINES = 12;
const MAX_LINE = 160;
const MESSAGE_LINES = 8;
const BY_RULES =
  "Followed by rules: the places are where the failure shows and what it calls. Whether the code or the test is wrong, and how to fix it, a person or a model must judge.";

/** What fails and where it leads, each place with file and line. */
function reportFailures(runs: readonly TestRun[], followed: readonly Explained[]): string {
  const failures = runs.flatMap((run) => run.failures);
  const counts = runs.map(describeCounts).join("; ");
  const [first] = followed;
  if (!first)
    return `**Summary**: No test fails: ${counts}.\n\n${failures.length === 0 ? "If it failed before, it does not fail every time; what differs between runs (order, time, files left over) is where to look." : ""}`.trim();
  const left = failures.length - followed.length;
  const sections = [
    `**Summary**: ${summariseFailure(first)}${failures.length > 1 ? ` ${failures.length} tests fail in all.` : ""}`,
    "**Details**",
    `Run again: ${counts}.`,
    ...followed.map((each, index) => `${index + 1}. ${describeFailure(each)}`),
    left > 0 ? `${left} more failures were not followed.` : "",
    BY_RULES,
  ];
  return sections.filter(Boolean).join("\n\n");
}

function summariseFailure({ failure, definition, blamed }: Explained): string {
  const message = failure.message
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 2)
    .join(" ");
  const at = formatPlace(failure);
  const frame =
    failure.frame && formatPlace(failure.frame) !== at ? `, from ${formatPlace(failure.frame)}` : "";
  const leads = definition ? ` It calls \`${definition.name}\` (${definition.path}:${definition.at}).` : "";
  const change = blamed ? ` ${describeChange(blamed)}.` : "";
  return `“${failure.name}” fails at ${at}${frame}: ${cutLine(message).replace(/[.:]$/, "")}.${leads}${change}`;
}

function describeFailure({ failure, lines, frameLines, definition, blamed }: Explained): string {
  const message = failure.message.split("\n").slice(0, MESSAGE_LINES).map(cutLine);
  const parts = [`“${failure.name}” at ${formatPlace(failure)}`, ...fenceCode(message)];
  if (failure.at !== undefined)
    parts.push("The line that fails:", ...fenceCode(showAround(lines, failure.at)));
  if (failure.frame && frameLines && frameLines.length > 0)
    parts.push(
      `The trace leads to ${formatPlace(failure.frame)}:`,
      ...fenceCode(showAround(frameLines, failure.frame.at ?? 0)),
    );
  if (definition) {
    parts.push(
      `It calls \`${definition.name}\`, defined at ${definition.path}:${definition.at}:`,
      ...fenceCode([
        `  ${definition.at} | ${cutLine(definition.signature)}`,
        ...definition.body.slice(0, DEFINITION_LINES).map((line) => formatLine(line)),
      ]),
    );
  }
  if (blamed) parts.push(`${describeChange(blamed)}.`);
  return parts.join("\n");
}

function describeChange({
  path,
  at,
  commit,
  author,
  date,
  subject,
  committed,
}: Explained["blamed"] & object): string {
  if (!committed) return `${path}:${at} has a change that is not committed yet`;
  return `Last changed there: ${path}:${at}, in ${commit.slice(0, 10)}${subject ? ` “${subject}”` : ""} by ${author}, ${date}`;
}

function showAround(lines: readonly SourceLine[], at: number): string[] {
  return lines
    .filter((line) => Math.abs(line.at - at) <= AROUND)
    .map((line) => formatLine(line, line.at === at));
}

function formatLine({ at, text }: SourceLine, marked = false): string {
  return `${marked ? "→" : " "} ${at} | ${cutLine(text)}`;
}

function formatPlace({ path, at }: { path?: string | undefined; at?: number | undefined }): string {
  if (path === undefined) return "an unknown place";
  return at === undefined ? path : `${path}:${at}`;
}

function cutLine(text: string): string {
  return cutShort(text.trimEnd(), MAX_LINE);
}
