import {
  asObject,
  asObjects,
  type Failure,
  inProject,
  messageAbove,
  parseObject,
  placeFailure,
  projectFrames,
  type TestReport,
} from "./test-report.ts";

/** Reads the JSON report of jest, which vitest writes, too. */
export function parseJest(text: string, projectDir: string): TestReport | null {
  const report = parseObject(text);
  if (!report || !Array.isArray(report.testResults)) return null;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: Failure[] = [];
  const broken: Failure[] = [];
  for (const suite of asObjects(report.testResults)) {
    const file = inProject(String(suite.name ?? ""), projectDir);
    const tests = asObjects(suite.assertionResults);
    if (tests.length === 0 && suite.status === "failed")
      broken.push(brokenFile(file, String(suite.message ?? ""), projectDir));
    for (const test of tests) {
      if (test.status === "passed") counts.passed++;
      else if (test.status === "failed") {
        counts.failed++;
        failures.push(failureOf(test, file, projectDir));
      } else counts.skipped++;
    }
  }
  return { ...counts, failures, broken };
}

/** Reads the JSON report of mocha. */
export function parseMocha(text: string, projectDir: string): TestReport | null {
  const report = parseObject(text);
  if (!report || typeof report.stats !== "object") return null;
  const stats = asObject(report.stats);
  const failures = asObjects(report.failures).map((test) => {
    const error = asObject(test.err);
    const stack = String(error.stack ?? "");
    const file = test.file === undefined ? undefined : inProject(String(test.file), projectDir);
    return {
      name: String(test.fullTitle ?? test.title ?? "a test"),
      message: messageAbove(String(error.message ?? stack)),
      ...placeFailure(projectFrames(stack, projectDir), file),
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

function failureOf(test: Readonly<Record<string, unknown>>, file: string, projectDir: string): Failure {
  const stack = Array.isArray(test.failureMessages) ? String(test.failureMessages[0] ?? "") : "";
  const path = [
    ...(Array.isArray(test.ancestorTitles) ? test.ancestorTitles.map(String) : []),
    String(test.title ?? ""),
  ];
  return {
    name: path.filter(Boolean).join(" > "),
    message: messageAbove(stack),
    ...placeFailure(projectFrames(stack, projectDir), file),
  };
}

function brokenFile(file: string, message: string, projectDir: string): Failure {
  const { line, frame } = placeFailure(projectFrames(message, projectDir), file);
  return { name: file, file, line, frame, message: messageAbove(message) };
}
