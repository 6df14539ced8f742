import { basename } from "node:path";
import type { FileDiff, NewLine } from "./read-diff.ts";
import { classifyFile, type FileKind, isPython, splitLine } from "./source-line.ts";

/** high: wrong, unsafe or loses something; medium: will cause trouble; low: worth knowing. */
export type Severity = "high" | "medium" | "low";

/** One thing that a rule found. */
export type ReviewFinding = {
  severity: Severity;
  path: string;
  /** The line after the change; 0 if it is about the whole file. */
  at: number;
  what: string;
  /** The line itself, if it carries the finding. */
  line?: string;
};

const ORDER: Readonly<Record<Severity, number>> = { high: 0, medium: 1, low: 2 };

/** What the rules find in a change, worst first and then by place. Deleted files are left out. */
export function reviewDiff(files: readonly FileDiff[]): ReviewFinding[] {
  const present = files.filter(({ status }) => status !== "deleted");
  return sortFindings([...reviewFiles(present), ...findUntested(files), ...findLostTests(files)]);
}

/** What the rules find in single files. */
export function reviewFiles(files: readonly FileDiff[]): ReviewFinding[] {
  return sortFindings(files.flatMap((file) => [...reviewLines(file), ...findDroppedErrors(file)]));
}

function sortFindings(findings: readonly ReviewFinding[]): ReviewFinding[] {
  return findings.toSorted(
    (a, b) =>
      ORDER[a.severity] - ORDER[b.severity] || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.at - b.at),
  );
}

/** A pattern on single added lines. */
type LineRule = {
  severity: Severity;
  what: string;
  pattern: RegExp;
  /** Where it looks: what runs, what a comment says, or the whole line. */
  where: "code" | "comment" | "line";
  kinds: readonly FileKind[];
  files?: RegExp;
};

const ANY_CODE: readonly FileKind[] = ["source", "script", "test"];
const JS = /\.(?:[cm]?[jt]sx?|vue|svelte)$/i;
const TS = /\.[cm]?tsx?$/i;

const RULES: readonly LineRule[] = [
  {
    severity: "high",
    what: "a merge conflict was committed",
    pattern: /^(?:<{7}|>{7}) \S/,
    where: "line",
    kinds: [...ANY_CODE, "prose"],
  },
  {
    severity: "high",
    what: "this looks like a secret; Retinue hides its value, the repository does not",
    pattern: /\[redacted:[a-z0-9-]+\]/,
    where: "line",
    kinds: ["source", "script", "prose"],
  },
  {
    severity: "high",
    what: "only this test runs, all others of the file are passed over",
    pattern: /\b(?:describe|it|test|context|suite)\.only\b|\b(?:fit|fdescribe)\s*\(/,
    where: "code",
    kinds: ["test"],
  },
  {
    severity: "low",
    what: "a test is switched off",
    pattern:
      /\b(?:describe|it|test)\.(?:skip|todo)\b|\b(?:xit|xdescribe)\s*\(|@(?:unittest|pytest\.mark)\.skip\b|#\[ignore\]|\bt\.Skip\(/,
    where: "code",
    kinds: ["test"],
  },
  {
    severity: "medium",
    what: "a breakpoint was left in",
    pattern: /^\s*debugger\b|\bbreakpoint\(\)|\bpdb\.set_trace\(|\bbinding\.pry\b|\bdbg!\(/,
    where: "code",
    kinds: ANY_CODE,
  },
  {
    severity: "low",
    what: "output for looking, perhaps left over",
    pattern: /\bconsole\.(?:log|debug|dir|trace)\s*\(/,
    where: "code",
    kinds: ["source"],
    files: JS,
  },
  {
    severity: "low",
    what: "something was left to do",
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/,
    where: "comment",
    kinds: ANY_CODE,
  },
  {
    severity: "medium",
    what: "an error is caught and dropped",
    pattern: /\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*\{\s*\}\s*\)/,
    where: "code",
    kinds: ["source", "script"],
  },
  {
    severity: "medium",
    what: "a check was switched off for this line",
    pattern:
      /@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore\b|\beslint-disable|#\s*noqa\b|#\s*type:\s*ignore|\bnolint\b|@SuppressWarnings/,
    where: "comment",
    kinds: ANY_CODE,
  },
  {
    severity: "low",
    what: "`any` switches the types off from here on",
    pattern: /(?::\s*|\bas\s+|<\s*|\|\s*)any\b(?!\s*\()/,
    where: "code",
    kinds: ["source", "script"],
    files: TS,
  },
  {
    severity: "medium",
    what: "text becomes code, a command or a page here; make sure that nobody else chooses it",
    pattern:
      /(?<![\w.])eval\s*\(|\bnew Function\s*\(|\.innerHTML\s*=|\bdangerouslySetInnerHTML\b|\bshell\s*[:=]\s*(?:true|True)\b|\bos\.system\s*\(|\bpickle\.loads?\s*\(/,
    where: "code",
    kinds: ["source", "script"],
  },
  {
    severity: "high",
    what: "the other side's certificate is no longer checked",
    pattern: /\brejectUnauthorized\s*:\s*false\b|\bverify\s*=\s*False\b|\bInsecureSkipVerify\s*:\s*true\b/,
    where: "code",
    kinds: ["source", "script"],
  },
];

/** Looks at every added line. */
function reviewLines(file: FileDiff): ReviewFinding[] {
  const kind = classifyFile(file.path);
  const rules = RULES.filter(({ kinds, files }) => kinds.includes(kind) && (files?.test(file.path) ?? true));
  const findings: ReviewFinding[] = [];
  for (const line of file.hunks.flat().filter(({ added }) => added)) {
    const parts = { ...splitLine(line.text, file.path), line: line.text };
    for (const { pattern, where, severity, what } of rules)
      if (pattern.test(parts[where])) findings.push(makeFinding(file.path, line, severity, what));
  }
  return findings;
}

/** A finding on one line, quoting it. */
function makeFinding(
  path: string,
  { at, text }: Pick<NewLine, "at" | "text">,
  severity: Severity,
  what: string,
): ReviewFinding {
  return { severity, path, at, what, line: text.trim() };
}

/** Looks for empty catch blocks of several lines. */
function findDroppedErrors({ path, hunks }: FileDiff): ReviewFinding[] {
  if (!ANY_CODE.includes(classifyFile(path))) return [];
  return hunks
    .flatMap((hunk) =>
      hunk.filter((line, index) => line.added && dropsError(path, line.text, hunk[index + 1]?.text ?? "")),
    )
    .map((line) => makeFinding(path, line, "medium", "an error is caught and dropped"));
}

function dropsError(path: string, line: string, next: string): boolean {
  return isPython(path)
    ? /^\s*except\b.*:\s*$/.test(line) && /^\s*pass\s*$/.test(next)
    : /\bcatch\s*(?:\([^)]*\))?\s*\{\s*$/.test(line) && /^\s*\}/.test(next);
}

/** Fewer new lines than this rarely need a test of their own. */
const WORTH_A_TEST = 5;
const CASE =
  /^\s*(?:test|it)(?:\.\w+)*\s*\(|^\s*(?:async\s+)?def test_|^\s*func Test\w*\(|^\s*#\[(?:tokio::)?test\]/;

const listAdded = ({ hunks }: FileDiff) => hunks.flat().filter(({ added }) => added);

function findUntested(files: readonly FileDiff[]): ReviewFinding[] {
  const tests = files.filter(({ path, status }) => classifyFile(path) === "test" && status !== "deleted");
  const sources = files.filter(
    (file) =>
      classifyFile(file.path) === "source" &&
      listAdded(file).filter(({ text }) => isCode(text)).length >= WORTH_A_TEST,
  );
  const [first] = sources;
  if (!first || tests.length > 0) return [];
  const rest = sources.length > 1 ? ` and ${sources.length - 1} more sources` : "";
  const what = `the change touches no test, but ${basename(first.path)}${rest}; whether older tests cover it was not looked at`;
  return [{ severity: "medium", path: first.path, at: listAdded(first)[0]?.at ?? 0, what }];
}

function isCode(text: string): boolean {
  return !/^\s*(?:$|\/\/|\/?\*|#|import\b|export (?:type )?\{|[)\]}]+[;,]?\s*$)/.test(text);
}

function findLostTests(files: readonly FileDiff[]): ReviewFinding[] {
  const tests = files.filter(({ path }) => classifyFile(path) === "test");
  const removed = tests.flatMap(({ removed: lines }) => lines.filter((text) => CASE.test(text))).length;
  const added = tests.flatMap(listAdded).filter(({ text }) => CASE.test(text)).length;
  const where = tests.find((file) => file.removed.some((text) => CASE.test(text)));
  if (removed <= added || !where) return [];
  const what = `tests were taken away: ${removed} less, ${added} new in the whole change`;
  return [{ severity: "medium", path: where.path, at: 0, what }];
}
