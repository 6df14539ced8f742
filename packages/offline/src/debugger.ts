import {
  findAnswer,
  findNextCalls,
  findResult,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  readResults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { cutShort, needsModel } from "./offline-words.ts";
import { fenceCode, readNumberedLines, type SourceLine } from "./read-code.ts";
import { classifyFile } from "./source-line.ts";
import { describeCounts, readTestRun, type TestFailure, type TestRun, testCall } from "./tester.ts";

const EXPLAINED = 3;
const RUNS = 3;
const AROUND = 2;

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

/** Reads the lines that the failures and their traces lead to, and asks who changed them last. */
function explain(runs: readonly TestRun[], situation: Situation): OfflineMove {
  const followed = runs.flatMap(({ failures }) => failures).slice(0, EXPLAINED);
  const canBlame = situation.tools.includes("git");
  const calls = () => followed.flatMap(listPlaces).map(readCall);
  const blames = () =>
    canBlame ? followed.flatMap((failure) => findSource(failure) ?? []).map(blameCall) : [];
  const move = findNextCalls(situation, [() => [...calls(), ...blames()]]);
  return move ?? { say: reportFailures(runs, followed, situation.calls) };
}

/** A line of a file of the project. */
type Line = { path: string; at: number };

/** The line that failed, and the one in the project that its trace ends in. */
function listPlaces(failure: TestFailure): Line[] {
  return [failure, failure.frame].flatMap((place) =>
    place?.path !== undefined && place.at !== undefined ? [{ path: place.path, at: place.at }] : [],
  );
}

/** The innermost line outside of the tests; if there is none, the line of the test. */
function findSource(failure: TestFailure): Line | undefined {
  const places = listPlaces(failure);
  return places.findLast(({ path }) => classifyFile(path) !== "test") ?? places.at(-1);
}

function readCall({ path, at }: Line): OfflineCall {
  return { tool: "read", input: { path, offset: Math.max(1, at - AROUND), limit: 2 * AROUND + 1 } };
}

function blameCall({ path, at }: Line): OfflineCall {
  return { tool: "git", input: { command: "blame", args: ["-L", `${at},${at}`, "--", path] } };
}

const BLAMED =
  /^\^?([0-9a-f]{4,64}) (?:[^\s(]\S* +)?\((.+?) +(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d [+-]\d{4} +\d+\)/m;

/** Who last changed a line, from what `git blame` says of it. */
export function describeChange({ path, at }: Line, blame: string): string {
  const [, commit, author, date] = BLAMED.exec(blame) ?? [];
  if (commit === undefined) return "";
  if (/^0+$/.test(commit)) return `${path}:${at} has a change that is not committed yet.`;
  return `Last changed there: ${path}:${at}, in ${commit.slice(0, 10)} by ${author}, ${date}.`;
}

const MAX_LINE = 160;
const MESSAGE_LINES = 8;
const BY_RULES =
  "Followed by rules: the places are where the failure shows. Whether the code or the test is wrong, and how to fix it, a person or a model must judge.";

/** What fails and where it leads, each place with file and line. */
function reportFailures(
  runs: readonly TestRun[],
  followed: readonly TestFailure[],
  calls: readonly PastCall[],
): string {
  const total = runs.flatMap((run) => run.failures).length;
  const counts = runs.map(describeCounts).join("; ");
  const [first] = followed;
  if (!first)
    return `**Summary**: No test fails: ${counts}.\n\nIf it failed before, it does not fail every time; what differs between runs (order, time, files left over) is where to look.`;
  const left = total - followed.length;
  const sections = [
    `**Summary**: ${summariseFailure(first)}${total > 1 ? ` ${total} tests fail in all.` : ""}`,
    "**Details**",
    `Run again: ${counts}.`,
    ...followed.map((failure, index) => `${index + 1}. ${describeFailure(failure, calls)}`),
    left > 0 ? `${left} more failures were not followed.` : "",
    BY_RULES,
  ];
  return sections.filter(Boolean).join("\n\n");
}

function summariseFailure(failure: TestFailure): string {
  const lines = failure.message.split("\n").filter((line) => line.trim() !== "");
  const message = cutLine(lines.slice(0, 2).join(" ")).replace(/[.:]$/, "");
  const from = failure.frame ? `, from ${formatPlace(failure.frame)}` : "";
  return `“${failure.name}” fails at ${formatPlace(failure)}${from}: ${message}.`;
}

function describeFailure(failure: TestFailure, calls: readonly PastCall[]): string {
  const message = failure.message.split("\n").slice(0, MESSAGE_LINES).map(cutLine);
  const source = findSource(failure);
  const parts = [
    `“${failure.name}” at ${formatPlace(failure)}`,
    ...fenceCode(message),
    ...listPlaces(failure).flatMap((place) => showPlace(place, calls)),
    source ? describeChange(source, findResult(calls, blameCall(source))) : "",
  ];
  return parts.filter(Boolean).join("\n");
}

/** The lines around a place; nothing if they could not be read. */
function showPlace(place: Line, calls: readonly PastCall[]): string[] {
  const lines = readNumberedLines(findResult(calls, readCall(place)));
  if (lines.length === 0) return [];
  return [`At ${formatPlace(place)}:`, ...fenceCode(lines.map((line) => showLine(line, place.at)))];
}

function showLine({ at, text }: SourceLine, marked: number): string {
  return `${at === marked ? "→" : " "} ${at} | ${cutLine(text)}`;
}

function formatPlace({ path, at }: Partial<Line>): string {
  if (path === undefined) return "an unknown place";
  return at === undefined ? path : `${path}:${at}`;
}

function cutLine(text: string): string {
  return cutShort(text.trimEnd(), MAX_LINE);
}
