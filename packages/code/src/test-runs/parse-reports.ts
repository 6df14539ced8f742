import { parseObject, readObject, readObjects } from "@retinue/core/schema/json-object";
import {
  cutStack,
  type Failure,
  findProjectFrames,
  placeFailure,
  shortenMessage,
  type TestReport,
  toProjectPath,
} from "./test-report.ts";

/** Reads the JSON report of jest, which vitest writes, too. */
export function parseJest(text: string, projectDir: string): TestReport | null {
  const report = parseObject(text);
  if (!report || !Array.isArray(report.testResults)) return null;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: Failure[] = [];
  const broken: Failure[] = [];
  for (const suite of readObjects(report.testResults)) {
    const file = toProjectPath(String(suite.name ?? ""), projectDir);
    const tests = readObjects(suite.assertionResults);
    if (tests.length === 0 && suite.status === "failed")
      broken.push(readBrokenFile(file, String(suite.message ?? ""), projectDir));
    for (const test of tests) {
      if (test.status === "passed") counts.passed++;
      else if (test.status === "failed") {
        counts.failed++;
        failures.push(readJestFailure(test, file, projectDir));
      } else counts.skipped++;
    }
  }
  return { ...counts, failures, broken };
}

/** Reads the JSON report of mocha. */
export function parseMocha(text: string, projectDir: string): TestReport | null {
  const report = parseObject(text);
  if (!report || typeof report.stats !== "object") return null;
  const stats = readObject(report.stats);
  const failures = readObjects(report.failures).map((test) => {
    const error = readObject(test.err);
    const stack = String(error.stack ?? "");
    const file = test.file === undefined ? undefined : toProjectPath(String(test.file), projectDir);
    return {
      name: String(test.fullTitle ?? test.title ?? "a test"),
      message: cutStack(String(error.message ?? stack)),
      ...placeFailure(findProjectFrames(stack, projectDir), file),
    };
  });
  // A hook that fails is listed among the failures but is no test.
  const failed = Number(stats.failures ?? failures.length);
  return {
    passed: Number(stats.passes ?? 0),
    failed,
    skipped: Number(stats.pending ?? 0),
    failures,
    broken: [],
  };
}

function readJestFailure(test: Readonly<Record<string, unknown>>, file: string, projectDir: string): Failure {
  const stack = Array.isArray(test.failureMessages) ? String(test.failureMessages[0] ?? "") : "";
  const path = [
    ...(Array.isArray(test.ancestorTitles) ? test.ancestorTitles.map(String) : []),
    String(test.title ?? ""),
  ];
  return {
    name: path.filter(Boolean).join(" > "),
    message: cutStack(stack),
    ...placeFailure(findProjectFrames(stack, projectDir), file),
  };
}

function readBrokenFile(file: string, message: string, projectDir: string): Failure {
  const { line, frame } = placeFailure(findProjectFrames(message, projectDir), file);
  return { name: file, file, line, frame, message: cutStack(message) };
}

/** Reads what `cargo test` prints; null if no test binary ran to its end. */
export function parseCargo(text: string): TestReport | null {
  const results = [...text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored\b/gm)];
  if (results.length === 0) return null;
  const sum = (group: number) => results.reduce((total, result) => total + Number(result[group]), 0);
  const failures: Failure[] = [];
  for (const [, name = "", body = ""] of text.matchAll(
    /^---- (.+) stdout ----\n([\s\S]*?)(?=^---- |^failures:$|(?![\s\S]))/gm,
  )) {
    failures.push(readPanic(name, body));
  }
  const compiled = [...text.matchAll(/^error: could not compile `([^`]+)`(.*)$/gm)];
  const broken = compiled.map(([line = "", name = ""]) => ({ name, message: line }));
  return { passed: sum(1), failed: sum(2), skipped: sum(3), failures, broken };
}

function readPanic(name: string, body: string): Failure {
  const [, old, file, line, rest = ""] =
    /panicked at (?:'([\s\S]*?)', )?([^\n:']+\.rs):(\d+):\d+:?\n?([\s\S]*)/.exec(body) ?? [];
  const message = old ?? rest.split(/\n(?:stack backtrace:|note: )/)[0] ?? "";
  return {
    name,
    message: shortenMessage(message || body.trim() || "it failed"),
    ...(file !== undefined && { file, line: Number(line) }),
  };
}

/** Reads what Python's `unittest` prints; null if it did not come to its last line. */
export function parseUnittest(text: string, projectDir: string): TestReport | null {
  const ran = /^Ran (\d+) tests? in /m.exec(text);
  const verdict = /^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/m.exec(text.slice(ran?.index ?? 0));
  if (!ran || !verdict) return null;
  const counted = (word: string) =>
    Number(new RegExp(`(?:^|, )${word}=(\\d+)`).exec(verdict[1] ?? "")?.[1] ?? 0);
  const blocks = text.split(/^={70}$/m).slice(1);
  const all = blocks.flatMap((block) => {
    const [, kind, name = "", body = ""] =
      /^\n(ERROR|FAIL): (.+)\n-{70}\n([\s\S]*?)(?=^-{70}$|(?![\s\S]))/m.exec(block) ?? [];
    return kind === undefined ? [] : [{ name, body, isBroken: name.includes("_FailedTest") }];
  });
  const toFailure = ({ name, body }: { name: string; body: string }): Failure => {
    const frames = findProjectFrames(body, projectDir).toReversed();
    return {
      name,
      message: shortenMessage(body.trim().split("\n").at(-1) ?? ""),
      ...placeFailure(frames, frames.at(-1)?.file),
    };
  };
  const broken = all.filter(({ isBroken }) => isBroken).map(toFailure);
  const failed = counted("failures") + counted("errors") - broken.length + counted("unexpected successes");
  const skipped = counted("skipped");
  const passed = Math.max(0, Number(ran[1]) - failed - skipped - broken.length);
  return {
    passed,
    failed,
    skipped,
    failures: all.filter(({ isBroken }) => !isBroken).map(toFailure),
    broken,
  };
}

type GoEvent = {
  Action?: unknown;
  Package?: unknown;
  Test?: unknown;
  Output?: unknown;
  ImportPath?: unknown;
};

/** Reads `go test -json`. A test with tests below it is not counted itself. */
export function parseGo(text: string, modulePath: string): TestReport | null {
  const outcomes = new Map<string, { test: string; pkg: string; action: string }>();
  const output = new Map<string, string>();
  const packages = new Map<string, string>();
  for (const line of text.split("\n")) {
    const event = goEvent(line);
    if (!event) continue;
    const pkg = String(event.Package ?? String(event.ImportPath ?? "").replace(/ .*$/, ""));
    const key = event.Test === undefined ? pkg : `${pkg} ${event.Test}`;
    const action = String(event.Action);
    if (action === "output" || action === "build-output")
      output.set(key, (output.get(key) ?? "") + String(event.Output ?? ""));
    else if (["pass", "fail", "skip"].includes(action)) {
      if (event.Test === undefined) packages.set(pkg, action);
      else outcomes.set(key, { test: String(event.Test), pkg, action });
    }
  }
  if (packages.size === 0) return null;
  const parents = new Set(
    [...outcomes.values()].map(
      ({ test, pkg }) => `${pkg} ${test.slice(0, Math.max(0, test.lastIndexOf("/")))}`,
    ),
  );
  const leaves = [...outcomes].filter(([key]) => !parents.has(key));
  const count = (action: string) => leaves.filter(([, outcome]) => outcome.action === action).length;
  const findFolder = (pkg: string) =>
    pkg === modulePath ? "" : pkg.startsWith(`${modulePath}/`) ? `${pkg.slice(modulePath.length + 1)}/` : "";
  const failures = leaves.flatMap(([key, { test, pkg, action }]) =>
    action === "fail" ? [goFailure(test, output.get(key) ?? "", findFolder(pkg))] : [],
  );
  const withFailures = new Set(leaves.flatMap(([, { pkg, action }]) => (action === "fail" ? [pkg] : [])));
  const broken = [...packages].flatMap(([pkg, action]) =>
    action === "fail" && !withFailures.has(pkg)
      ? [goFailure(pkg, output.get(pkg) ?? "", findFolder(pkg))]
      : [],
  );
  return { passed: count("pass"), failed: count("fail"), skipped: count("skip"), failures, broken };
}

function goFailure(name: string, output: string, folder: string): Failure {
  const lines = output
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*(=== |--- |# |FAIL\b|PASS\b|exit status)/.test(line));
  const [, file, line] = /^\s*(?:\.\/)?([^\s:]+\.go):(\d+)/m.exec(lines.join("\n")) ?? [];
  const message = lines.map((each) => each.trim().replace(/^[^\s:]+\.go:\d+(?::\d+)?: /, "")).join("\n");
  return {
    name,
    message: shortenMessage(message || "it failed"),
    ...(file !== undefined && { file: file.includes("/") ? file : `${folder}${file}`, line: Number(line) }),
  };
}

function goEvent(line: string): GoEvent | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as GoEvent;
  } catch {
    return null;
  }
}
