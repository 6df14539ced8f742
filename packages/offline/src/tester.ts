import { readQuery } from "@retinue/code/survey/search-query";
import {
  findAnswer,
  findNextCalls,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  type Situation,
  taskText,
} from "./conversation.ts";
import { needsModel } from "./offline-words.ts";

const WRITES =
  /^(?:please\s+)?(?:write|add|create|extend|fix|repair|update|generate|improve|implement|make)\b(?!.*\bpass\b)/i;
const FILTER =
  /\btests?\s+(?:named|called|titled)\s+[`"“']([^`"”'\n]{2,200})[`"”']|[`"“]([^`"”\n]{2,200})[`"”]/i;

const MAX_FAULT = 2_000;

/** The tester: runs the tests that a task names, or all, and reports what came of them. */
export const tester: Procedure = {
  agents: ["tester"],
  next(situation) {
    const task = taskText(situation.task);
    if (WRITES.test(task.trim()))
      return {
        cannot: needsModel(
          `write tests (“${task.slice(0, 120)}”)`,
          "run the tests there are and report on them",
        ),
      };
    return runTests(testCall(task), situation);
  },
};

/** Runs tests and reports them; also for others who are asked whether tests pass. */
export function runTests(call: OfflineCall, situation: Situation): OfflineMove {
  if (!situation.tools.includes("test"))
    return { cannot: needsModel("run tests without the tool `test`", "run them where it has that tool") };
  const move = findNextCalls(situation, [() => [call]]);
  if (move) return move;
  const past = findAnswer(situation.calls, call);
  if (!past) return { say: "**Summary**: The tests were not run: a limit came first." };
  const run = readTestRun(past.result);
  const nothing = run.counts?.run === 0 && run.failures.length === 0;
  if (!run.counts || (past.failed && nothing))
    return { cannot: `the tests did not run: ${past.result.trim().slice(0, MAX_FAULT)}` };
  return { say: reportTestRun(run) };
}

/** The call that runs what a task names: a file or folder, tests of a name, or everything. */
export function testCall(task: string): OfflineCall {
  const [path] = readQuery(task).paths;
  const [, named, quoted] = FILTER.exec(task) ?? [];
  const filter = named ?? quoted;
  return { tool: "test", input: { path, filter: filter && filter !== path ? filter : undefined } };
}

/** A place in a file of the project. */
type TestPlace = { path: string; at?: number };

/** A test that failed, or a file whose tests could not be loaded. */
export type TestFailure = {
  name: string;
  loaded: boolean;
  path?: string;
  at?: number;
  message: string;
  /** The innermost line of the project in the trace, if it is another one. */
  frame?: TestPlace;
};

/** What the tool `test` told of a run; without counts, nothing is known of its tests. */
export type TestRun = {
  runner: string;
  command: string;
  counts?: { run: number; passed: number; failed: number; skipped: number };
  failures: readonly TestFailure[];
  notes: readonly string[];
};

const COUNTS = /^tests: (\d+) run, (\d+) passed, (\d+) failed, (\d+) skipped/m;
const BLOCK = /^(FAILED|NOT LOADED) (.+)\n((?: {2}(?:at|in|\|).*(?:\n|$))*)/gm;

/** Reads what `test` answered, also where it is quoted in a report. */
export function readTestRun(text: string): TestRun {
  const [, run, passed, failed, skipped] = COUNTS.exec(text)?.map(Number) ?? [];
  const known = run !== undefined && passed !== undefined && failed !== undefined && skipped !== undefined;
  return {
    runner: /^runner: (\S+)/m.exec(text)?.[1] ?? "",
    command: /^command: (.*)$/m.exec(text)?.[1] ?? "",
    counts: known ? { run, passed, failed, skipped } : undefined,
    failures: [...text.matchAll(BLOCK)].map(([, word, name = "", body = ""]) => ({
      name,
      loaded: word === "FAILED",
      ...readPlace(/^ {2}at (.+)$/m.exec(body)?.[1]),
      message: [...body.matchAll(/^ {2}\| ?(.*)$/gm)].map(([, line = ""]) => line).join("\n"),
      frame: readPlace(/^ {2}in (.+)$/m.exec(body)?.[1]),
    })),
    notes: [...text.matchAll(/^note: (.*)$/gm)].map(([, note = ""]) => note),
  };
}

function readPlace(text: string | undefined): TestPlace | undefined {
  if (text === undefined) return undefined;
  const [, path = text, at] = /^(.*):(\d+)$/.exec(text) ?? [];
  return { path, at: at === undefined ? undefined : Number(at) };
}

const SHOWN = 20;
const MESSAGE_LINES = 12;

/** What came of a run of tests: counts, then each failure as `test` tells it, so that others can read it on. */
export function reportTestRun(run: TestRun): string {
  const { failures, notes, runner, command } = run;
  const [first] = failures;
  const left = failures.length - SHOWN;
  const sections = [
    `**Summary**: ${describeCounts(run)}.${first ? ` ${first.loaded ? "Failed" : "Not loaded"}: ${failures.slice(0, 3).map(formatName).join("; ")}${failures.length > 3 ? " and more" : ""}.` : ""}`,
    "**Details**",
    [`runner: ${runner}`, `command: ${command}`, `tests: ${formatCounts(run)}`].join("\n"),
    ...failures.slice(0, SHOWN).map(formatFailure),
    left > 0 ? `${left} more failures.` : "",
    notes.length > 0 ? notes.map((note) => `note: ${note}`).join("\n") : "",
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The counts in a sentence's words. */
export function describeCounts(run: TestRun): string {
  const broken = run.failures.filter(({ loaded }) => !loaded).length;
  const nothing = run.counts?.run === 0 && broken === 0 ? "; no tests were found" : "";
  return `${formatCounts(run)}${broken > 0 ? `, ${broken} not loaded` : ""}${nothing}`;
}

function formatCounts({ counts }: TestRun): string {
  if (!counts) return "not known";
  const { run, passed, failed, skipped } = counts;
  return `${run} run, ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function formatName({ name, path, at }: TestFailure): string {
  return `“${name}”${path ? ` (${path}${at === undefined ? "" : `:${at}`})` : ""}`;
}

function formatFailure({ name, loaded, path, at, frame, message }: TestFailure): string {
  const lines = message.split("\n").slice(0, MESSAGE_LINES);
  return [
    `${loaded ? "FAILED" : "NOT LOADED"} ${name}`,
    ...(path ? [`  at ${path}${at === undefined ? "" : `:${at}`}`] : []),
    ...(frame ? [`  in ${frame.path}${frame.at === undefined ? "" : `:${frame.at}`}`] : []),
    ...lines.map((line) => `  | ${line}`.trimEnd()),
  ].join("\n");
}
