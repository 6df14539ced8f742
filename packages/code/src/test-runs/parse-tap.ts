import {
  type Failure,
  findProjectFrames,
  placeFailure,
  shortenMessage,
  type TestReport,
  toProjectPath,
} from "./test-report.ts";

type Point = {
  ok: boolean;
  name: string;
  directive: string | undefined;
  depth: number;
  about: ReadonlyMap<string, string>;
  /** What the test printed: the comments before it. */
  printed: string;
};

const POINT = /^( *)(not ok|ok)\b(?: +\d+)?(?: +-)? *(.*)$/;
const DIRECTIVE = /(?<!\\)#\s*(SKIP|TODO)\b.*$/i;

/** Reads TAP as `node --test` writes it, with its diagnostics; null if nothing in the text is TAP. */
export function parseTap(text: string, projectDir: string): TestReport | null {
  if (!/^TAP version \d+/m.test(text)) return null;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: Failure[] = [];
  const broken: Failure[] = [];
  for (const point of readPoints(text)) {
    if (point.about.get("type") === "suite" || (point.ok && isFile(point))) continue;
    if (point.directive) counts.skipped++;
    else if (point.ok) counts.passed++;
    else if (point.about.has("exitCode")) broken.push(readTapFailure(point, projectDir));
    else {
      counts.failed++;
      // A test that failed only because one below it did would say the same thing twice.
      if (point.about.get("failureType") !== "subtestsFailed")
        failures.push(readTapFailure(point, projectDir));
    }
  }
  return { ...counts, failures, broken };
}

function readTapFailure({ about, name, printed }: Point, projectDir: string): Failure {
  const [, at, line] = /^(.*?):(\d+)(?::\d+)?$/.exec(about.get("location") ?? "") ?? [];
  const file = at === undefined ? undefined : toProjectPath(at, projectDir);
  const placed = placeFailure(findProjectFrames(about.get("stack") ?? "", projectDir), file);
  return {
    name,
    // Of a file that could not be loaded only what it printed says why.
    message: shortenMessage(
      (about.has("exitCode") && findThrown(printed)) || about.get("error") || "it failed",
    ),
    ...placed,
    line: placed.line ?? (line === undefined ? undefined : Number(line)),
  };
}

/** Node lists a file in which no test was run, such as by a filter, as a test that passed. */
function isFile({ depth, name }: Point): boolean {
  return (
    depth === 0 && !/\s/.test(name) && /(?:^|[/._-])(?:test|spec)s?[/._-](?:.*\.)?[cm]?[jt]sx?$/.test(name)
  );
}

function findThrown(printed: string): string | undefined {
  return /^(?:Uncaught )?[\w.]*Error\b.*$/m.exec(printed)?.[0];
}

/** The test points in order, with the diagnostics that follow each. */
function readPoints(text: string): Point[] {
  const lines = text.split("\n");
  const points: Point[] = [];
  let printed: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", word, rest = ""] = POINT.exec(lines[at] ?? "") ?? [];
    const comment = /^# (?!Subtest: )(.*)$/.exec(lines[at] ?? "")?.[1];
    if (comment !== undefined) printed.push(comment.replace(/\\([#\\])/g, "$1"));
    if (word === undefined) continue;
    const directive = DIRECTIVE.exec(rest)?.[1];
    const name = rest
      .replace(DIRECTIVE, "")
      .trim()
      .replace(/\\([#\\])/g, "$1");
    const end = findDiagnosticsEnd(lines, at + 1, `${indent}  `);
    const about =
      end < 0 ? new Map<string, string>() : readDiagnostics(lines.slice(at + 2, end), indent.length + 2);
    points.push({
      ok: word === "ok",
      name,
      directive,
      depth: indent.length / 4,
      about,
      printed: printed.join("\n"),
    });
    printed = [];
    if (end > 0) at = end;
  }
  return addPaths(points);
}

/** The line that ends the diagnostics which begin at this line; -1 if none do, or they do not end. */
function findDiagnosticsEnd(lines: readonly string[], at: number, indent: string): number {
  if (lines[at] !== `${indent}---`) return -1;
  for (let end = at + 1; lines[end] === "" || lines[end]?.startsWith(indent); end++)
    if (lines[end] === `${indent}...`) return end;
  return -1;
}

/** A point comes after those below it: read from the end, the last one seen at each lesser depth is a parent. */
function addPaths(points: readonly Point[]): Point[] {
  const above: string[] = [];
  return points
    .toReversed()
    .map((point) => {
      above.length = Math.floor(point.depth);
      above.push(point.name);
      return { ...point, name: above.filter(Boolean).join(" > ") };
    })
    .toReversed();
}

/** The small part of YAML that is written here: `key: value`, and blocks of deeper lines after `|-`. */
function readDiagnostics(lines: readonly string[], indent: number): Map<string, string> {
  const about = new Map<string, string>();
  for (let at = 0; at < lines.length; at++) {
    const [, key, value = ""] = /^(\w+):(?: (.*))?$/.exec((lines[at] ?? "").slice(indent)) ?? [];
    if (key === undefined) continue;
    if (!/^[|>]-?$/.test(value)) {
      about.set(key, value.replace(/^'(.*)'$/, "$1").replaceAll("''", "'"));
      continue;
    }
    const block: string[] = [];
    while (at + 1 < lines.length && /^\s*$/.test((lines[at + 1] ?? "").slice(0, indent + 2))) {
      block.push((lines[++at] ?? "").slice(indent + 2));
    }
    about.set(key, block.join("\n"));
  }
  return about;
}
