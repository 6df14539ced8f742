import { fenceCode } from "../offline/fence-code.ts";
import type { Definition, Line } from "../offline/read-code.ts";
import type { Blamed } from "./read-blame.ts";
import type { TestFailure, TestRun } from "./read-test-run.ts";
import { countsText } from "./report-test-run.ts";

/** A failure and where it leads. */
export type Explained = {
  failure: TestFailure;
  /** Around the line that failed. */
  lines: readonly Line[];
  /** Around the place in the project that the trace ends in. */
  frameLines?: readonly Line[];
  /** The function that the failing line calls. */
  definition?: Definition;
  blamed?: Blamed & { path: string; subject: string };
};

const AROUND = 2;
const DEFINITION_LINES = 12;
const MAX_LINE = 160;
const MESSAGE_LINES = 8;
const BY_RULES =
  "Followed by rules: the places are where the failure shows and what it calls. Whether the code or the test is wrong, and how to mend it, a person or a model must judge.";

/** What fails and where it leads, each place with file and line. */
export function reportFailures(runs: readonly TestRun[], followed: readonly Explained[]): string {
  const failures = runs.flatMap((run) => run.failures);
  const counts = runs.map(countsText).join("; ");
  const [first] = followed;
  if (!first)
    return `**Summary**: No test fails: ${counts}.\n\n${failures.length === 0 ? "If it failed before, it does not fail every time; what differs between runs (order, time, files left over) is where to look." : ""}`.trim();
  const left = failures.length - followed.length;
  const sections = [
    `**Summary**: ${summaryOf(first)}${failures.length > 1 ? ` ${failures.length} tests fail in all.` : ""}`,
    "**Details**",
    `Run again: ${counts}.`,
    ...followed.map((each, index) => `${index + 1}. ${detailsOf(each)}`),
    left > 0 ? `${left} more failures were not followed.` : "",
    BY_RULES,
  ];
  return sections.filter(Boolean).join("\n\n");
}

function summaryOf({ failure, definition, blamed }: Explained): string {
  const message = failure.message
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 2)
    .join(" ");
  const at = placeOf(failure);
  const frame = failure.frame && placeOf(failure.frame) !== at ? `, from ${placeOf(failure.frame)}` : "";
  const leads = definition ? ` It calls \`${definition.name}\` (${definition.path}:${definition.at}).` : "";
  const change = blamed ? ` ${changeOf(blamed)}.` : "";
  return `“${failure.name}” fails at ${at}${frame}: ${cut(message).replace(/[.:]$/, "")}.${leads}${change}`;
}

function detailsOf({ failure, lines, frameLines, definition, blamed }: Explained): string {
  const message = failure.message.split("\n").slice(0, MESSAGE_LINES).map(cut);
  const parts = [`“${failure.name}” at ${placeOf(failure)}`, ...fenceCode(message)];
  if (failure.at !== undefined) parts.push("The line that fails:", ...fenceCode(around(lines, failure.at)));
  if (failure.frame && frameLines && frameLines.length > 0)
    parts.push(
      `The trace leads to ${placeOf(failure.frame)}:`,
      ...fenceCode(around(frameLines, failure.frame.at ?? 0)),
    );
  if (definition) {
    parts.push(
      `It calls \`${definition.name}\`, defined at ${definition.path}:${definition.at}:`,
      ...fenceCode([
        `  ${definition.at} | ${cut(definition.signature)}`,
        ...definition.body.slice(0, DEFINITION_LINES).map((line) => shown(line)),
      ]),
    );
  }
  if (blamed) parts.push(`${changeOf(blamed)}.`);
  return parts.join("\n");
}

function changeOf({
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

function around(lines: readonly Line[], at: number): string[] {
  return lines.filter((line) => Math.abs(line.at - at) <= AROUND).map((line) => shown(line, line.at === at));
}

function shown({ at, text }: Line, marked = false): string {
  return `${marked ? "→" : " "} ${at} | ${cut(text)}`;
}

function placeOf({ path, at }: { path?: string | undefined; at?: number | undefined }): string {
  if (path === undefined) return "an unknown place";
  return at === undefined ? path : `${path}:${at}`;
}

function cut(text: string): string {
  const line = text.trimEnd();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}
