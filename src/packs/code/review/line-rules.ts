import { type FileKind, type FileRule, type Finding, kindOf, type Severity, splitLine } from "./finding.ts";
import type { NewLine } from "./read-diff.ts";

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

/** Looks at every added line by itself. */
export const lineRules: FileRule = (file) => {
  const kind = kindOf(file.path);
  const rules = RULES.filter(({ kinds, files }) => kinds.includes(kind) && (files?.test(file.path) ?? true));
  const findings: Finding[] = [];
  for (const line of file.hunks.flat().filter(({ added }) => added)) {
    const parts = { ...splitLine(line.text, file.path), line: line.text };
    for (const { pattern, where, severity, what } of rules)
      if (pattern.test(parts[where])) findings.push(findingAt(file.path, line, severity, what));
  }
  return findings;
};

/** A finding on one line, quoting it. */
export function findingAt(
  path: string,
  { at, text }: Pick<NewLine, "at" | "text">,
  severity: Severity,
  what: string,
): Finding {
  return { severity, path, at, what, line: text.trim() };
}
