import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo, nextCalls } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { readResults } from "../../../models/offline/read-results.ts";
import { taskSections, taskText } from "../../../models/offline/task-text.ts";
import { calledNames } from "../failures/called-names.ts";
import { lastBlamed } from "../failures/read-blame.ts";
import { readTestRun, type TestFailure, type TestRun } from "../failures/read-test-run.ts";
import { type Explained, reportFailures } from "../failures/report-failures.ts";
import { locate } from "../research/locate.ts";
import { kindOf } from "../review/finding.ts";
import { type Definition, type Line, linesIn } from "./read-code.ts";
import { testCall } from "./tester.ts";

const EXPLAINED = 3;
const RUNS = 3;
const LINES_BEFORE = 30;
const LINES_AFTER = 4;
const BLAMED_LINES = 15;

/** The debugger: sees the test fail, then follows it to the lines of the project it leads to, and to who changed them last. */
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
    const calls = runsFor(situation.task);
    const move = nextCalls(situation, [() => calls]);
    if (move) return move;
    const results = calls.flatMap((call) => answerTo(situation.calls, call)?.result ?? []);
    const runs = results.map(readTestRun);
    const broken = results.find((_, index) => !runs[index]?.counts);
    if (broken !== undefined) return { cannot: `the tests did not run: ${broken.trim().slice(0, 2_000)}` };
    return explain(runs, situation);
  },
};

/** The failing files that an earlier result names, or else what the task itself names. */
function runsFor(task: string): OfflineCall[] {
  const known = readResults(taskSections(task)).flatMap(({ details }) => readTestRun(details).failures);
  const files = [...new Set(known.flatMap(({ path }) => path ?? []))].slice(0, RUNS);
  if (files.length > 0) return files.map((path) => ({ tool: "test", input: { path } }));
  return [testCall(taskText(task).replace(/\(this follows on:.*$/s, ""))];
}

function explain(runs: readonly TestRun[], situation: Situation): Move {
  const failures = runs.flatMap((run) => run.failures);
  const followed: Explained[] = [];
  for (const failure of failures.slice(0, EXPLAINED)) {
    const step = follow(failure, situation);
    if ("calls" in step) return step;
    followed.push(step);
  }
  return { say: reportFailures(runs, followed) };
}

/** One failure from its line to the code it leads to: one more call after the other, until nothing is left to look at. */
function follow(failure: TestFailure, situation: Situation): Extract<Move, { calls: unknown }> | Explained {
  const places = [failure, failure.frame].flatMap((place) =>
    place?.path !== undefined && place.at !== undefined ? [{ path: place.path, at: place.at }] : [],
  );
  const reads = places.map(readCall);
  const reading = nextCalls(situation, [() => reads]);
  if (reading && "calls" in reading) return reading;
  const [lines = [], frameLines = []] = reads.map((call) => linesOf(call, situation));
  const inSource = places.findLast(({ path }) => kindOf(path) !== "test");
  const located = inSource ? null : definitionFor(failure, lines, situation);
  if (located && "calls" in located) return located;
  const definition = located?.definition;
  const blame = blameCall(inSource, definition, situation);
  const blaming = blame && nextCalls(situation, [() => [blame]]);
  if (blaming && "calls" in blaming) return blaming;
  const blamed = blame && lastBlamed(answerTo(situation.calls, blame)?.result ?? "");
  const log = blamed?.committed ? logCall(blamed.commit) : undefined;
  const logging = log && nextCalls(situation, [() => [log]]);
  if (logging && "calls" in logging) return logging;
  const subject = log && /^[0-9a-f]+ (.*)$/m.exec(answerTo(situation.calls, log)?.result ?? "")?.[1];
  return {
    failure,
    lines,
    ...(failure.frame && { frameLines }),
    ...(definition && { definition }),
    ...(blamed && {
      blamed: { ...blamed, path: inSource?.path ?? definition?.path ?? "", subject: subject ?? "" },
    }),
  };
}

/** Where the first function that the failing line calls is defined. */
function definitionFor(
  { at }: TestFailure,
  lines: readonly Line[],
  situation: Situation,
): Extract<Move, { calls: unknown }> | { definition?: Definition } {
  if (at === undefined) return {};
  for (const name of calledNames(lines, at).slice(0, 2)) {
    const located = locate(name, situation);
    if ("calls" in located) return located;
    const definition = located.places.find(({ path }) => kindOf(path) !== "test");
    if (definition) return { definition };
  }
  return {};
}

function readCall({ path, at }: { path: string; at: number }): OfflineCall {
  const offset = Math.max(1, at - LINES_BEFORE);
  return { tool: "read", input: { path, offset, limit: at - offset + 1 + LINES_AFTER } };
}

function linesOf(call: OfflineCall, { calls }: Situation): Line[] {
  const past = answerTo(calls, call);
  return past && !past.failed ? linesIn(past.result) : [];
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
