import { describeTestRun, type TestRunOutcome } from "@retinue/code/test-runs/report-text";
import type { TestReport } from "@retinue/code/test-runs/test-report";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readTestRun, reportTestRun } from "./tester.ts";

/** What the tool `test` would answer for this report. */
function answerFor(report: TestReport | null, exitCode = 1): string {
  const outcome: TestRunOutcome["outcome"] = {
    exitCode,
    stdout: "tests: many run",
    stderr: "",
    timedOut: false,
    notes: ["no network"],
  };
  const candidate = { runner: "vitest", why: "package.json calls it" } as const;
  return describeTestRun({
    candidate,
    others: [],
    argv: ["vitest", "run"],
    projectDir: "/p",
    reportDir: "/w/report",
    report,
    outcome,
    notes: [],
  });
}

const word = fc.stringMatching(/^[\w ]*\w$/);
const text = fc
  .array(
    fc.oneof(
      word,
      fc.constantFrom("FAILED x", "  at a.ts:1", "tests: 9 run, 9 passed, 0 failed, 0 skipped", ""),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((lines) => lines.join("\n").trim() || "x");
const failure = fc.record({
  name: word.map((name) => `t ${name}`),
  file: fc.constantFrom("src/a.test.ts", "test/b.test.ts"),
  line: fc.integer({ min: 1, max: 999 }),
  message: text,
  frame: fc.option(fc.constantFrom("src/a.ts:3", "src/b.ts:14"), { nil: undefined }),
});

test("whatever the tests say, what `test` tells of them is read back, and once more from the tester's report", () => {
  fc.assert(
    fc.property(fc.array(failure, { maxLength: 5 }), fc.nat(99), (failures, passed) => {
      const answer = answerFor({ passed, failed: failures.length, skipped: 1, failures, broken: [] });
      const run = readTestRun(answer);
      const expected = failures.map(({ file, line, frame, ...rest }) => {
        const [path, at] = frame?.split(":") ?? [];
        return {
          ...rest,
          loaded: true,
          path: file,
          at: line,
          ...(path && { frame: { path, at: Number(at) } }),
        };
      });
      expect(run.counts).toEqual({
        run: passed + failures.length,
        passed,
        failed: failures.length,
        skipped: 1,
      });
      expect(run.failures).toEqual(expected);
      expect(readTestRun(reportTestRun(run)).failures).toEqual(expected);
    }),
  );
});

test("without a report there are no counts, whatever the output says", () => {
  expect(readTestRun(answerFor(null)).counts).toBeUndefined();
});

test("a file that could not be loaded is not a failed test", () => {
  const broken = [{ name: "src/x.test.ts", file: "src/x.test.ts", message: "SyntaxError: Unexpected token" }];
  const run = readTestRun(answerFor({ passed: 2, failed: 0, skipped: 0, failures: [], broken }));
  expect(run.failures).toEqual([
    { name: "src/x.test.ts", loaded: false, path: "src/x.test.ts", message: "SyntaxError: Unexpected token" },
  ]);
  expect(reportTestRun(run)).toMatch(
    /^\*\*Summary\*\*: 2 run, 2 passed, 0 failed, 0 skipped, 1 not loaded\. Not loaded: “src\/x\.test\.ts”/,
  );
});

test("finding no tests at all is reported as such", () => {
  const run = readTestRun(answerFor({ passed: 0, failed: 0, skipped: 0, failures: [], broken: [] }, 0));
  expect(reportTestRun(run)).toContain("no tests were found");
});
