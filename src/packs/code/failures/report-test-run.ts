import type { TestFailure, TestRun } from "./read-test-run.ts";

const SHOWN = 20;
const MESSAGE_LINES = 12;

/** What came of a run of tests: counts, then each failure as `test` tells it, so that others can read it on. */
export function reportTestRun(run: TestRun): string {
  const { failures, notes, runner, command } = run;
  const [first] = failures;
  const left = failures.length - SHOWN;
  const sections = [
    `**Summary**: ${countsText(run)}.${first ? ` ${first.loaded ? "Failed" : "Not loaded"}: ${failures.slice(0, 3).map(nameOf).join("; ")}${failures.length > 3 ? " and more" : ""}.` : ""}`,
    "**Details**",
    [`runner: ${runner}`, `command: ${command}`, `tests: ${countsOf(run)}`].join("\n"),
    ...failures.slice(0, SHOWN).map(blockOf),
    left > 0 ? `${left} more failures.` : "",
    notes.length > 0 ? notes.map((note) => `note: ${note}`).join("\n") : "",
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The counts in a sentence's words. */
export function countsText(run: TestRun): string {
  const broken = run.failures.filter(({ loaded }) => !loaded).length;
  const nothing = run.counts?.run === 0 && broken === 0 ? "; no tests were found" : "";
  return `${countsOf(run)}${broken > 0 ? `, ${broken} not loaded` : ""}${nothing}`;
}

function countsOf({ counts }: TestRun): string {
  if (!counts) return "not known";
  const { run, passed, failed, skipped } = counts;
  return `${run} run, ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function nameOf({ name, path, at }: TestFailure): string {
  return `“${name}”${path ? ` (${path}${at === undefined ? "" : `:${at}`})` : ""}`;
}

function blockOf({ name, loaded, path, at, frame, message }: TestFailure): string {
  const lines = message.split("\n").slice(0, MESSAGE_LINES);
  return [
    `${loaded ? "FAILED" : "NOT LOADED"} ${name}`,
    ...(path ? [`  at ${path}${at === undefined ? "" : `:${at}`}`] : []),
    ...(frame ? [`  in ${frame.path}${frame.at === undefined ? "" : `:${frame.at}`}`] : []),
    ...lines.map((line) => `  | ${line}`.trimEnd()),
  ].join("\n");
}
