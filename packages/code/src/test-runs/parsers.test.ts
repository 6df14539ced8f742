import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJunit } from "./parse-junit.ts";
import { parseCargo, parseGo, parseJest, parseMocha, parseUnittest } from "./parse-reports.ts";
import { parseTap } from "./parse-tap.ts";
import { findProjectFrames, type TestReport } from "./test-report.ts";

const captured = (name: string) =>
  readFileSync(new URL(`../../../../test/fixtures/test-reports/${name}`, import.meta.url), "utf8");

/** A failure as one line: name @ place < innermost place: first line of the message. */
function shown(report: TestReport | null): object | null {
  const line = ({ name, file, line: at, frame, message }: TestReport["failures"][number]) =>
    `${name} @ ${file ?? "?"}:${at ?? "?"}${frame ? ` < ${frame}` : ""}: ${message.split("\n")[0]}`;
  return (
    report && {
      counts: [report.passed, report.failed, report.skipped],
      failures: report.failures.map(line),
      broken: report.broken.map(line),
    }
  );
}

const TABLE: readonly [string, (text: string) => TestReport | null | Promise<TestReport | null>, object][] = [
  [
    "vitest.json",
    (text) => parseJest(text, "/project"),
    {
      counts: [1, 2, 2],
      failures: [
        "sum > adds @ src/sum.test.ts:5: AssertionError: expected -1 to be 3 // Object.is equality",
        "sum > throws @ src/sum.test.ts:8 < src/sum.ts:2: RangeError: negative",
      ],
      broken: [
        "src/broken.test.ts @ src/broken.test.ts:?: Cannot find module './missing.ts' imported from /project/src/broken.test.ts",
      ],
    },
  ],
  [
    "mocha.json",
    (text) => parseMocha(text, "/project"),
    {
      counts: [2, 1, 1],
      failures: ["sum adds @ test/sum.js:7 < lib/check.js:3: Expected values to be strictly equal:"],
      broken: [],
    },
  ],
  [
    "node.tap",
    (text) => parseTap(text, "/project"),
    {
      counts: [1, 2, 2],
      failures: [
        "group # one > fails equal @ a.test.js:6: Expected values to be strictly equal:",
        "group # one > throws @ a.test.js:3: boom here",
      ],
      broken: [
        "b.test.js @ b.test.js:1: Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/project/nope.js' imported from /project/b.test.js",
      ],
    },
  ],
  [
    "pytest.xml",
    (text) => parseJunit(text, "/project"),
    {
      counts: [1, 3, 1],
      failures: [
        "test_calc::test_bad @ tests/test_calc.py:6: AssertionError: should be three",
        "test_calc::test_err @ tests/test_calc.py:8 < calc.py:2: ZeroDivisionError: division by zero",
        'test_calc::test_setup @ tests/test_calc.py:14: failed on setup with "ValueError: setup"',
      ],
      broken: ["tests.test_import @ tests/test_import.py:1: ModuleNotFoundError: No module named 'nothere'"],
    },
  ],
  [
    "bun.xml",
    (text) => parseJunit(text, "/project"),
    {
      counts: [1, 1, 1],
      failures: ["sum.test.ts > sum > adds <two> @ sum.test.ts:7: it failed"],
      broken: [],
    },
  ],
  [
    "unittest.txt",
    (text) => parseUnittest(text, "/project"),
    {
      counts: [1, 2, 1],
      failures: [
        "test_c (test_u.T.test_c) @ test_u.py:5: ValueError: x",
        "test_b (test_u.T.test_b) @ test_u.py:4: AssertionError: 1 != 2",
      ],
      broken: [],
    },
  ],
  [
    "cargo.txt",
    (text) => parseCargo(text),
    {
      counts: [1, 2, 1],
      failures: [
        "tests::bad @ src/lib.rs:9: assertion `left == right` failed: sum of 1 and 2",
        "outer @ tests/it.rs:2: outer broke",
      ],
      broken: [],
    },
  ],
  [
    "go.jsonl",
    (text) => parseGo(text, "example.org/m"),
    {
      counts: [1, 1, 1],
      failures: ["TestAdd/one @ calc/calc_test.go:12: Add(1, 2) = -1, want 3"],
      broken: ["example.org/m/broken @ broken/broken.go:4: undefined: missing"],
    },
  ],
];

describe("reports of runners", () => {
  test.each(TABLE)("%s", async (name, parse, expected) => {
    expect(shown(await parse(captured(name)))).toEqual(expected);
  });

  test.each(TABLE)("%s in which nothing is a report gives no counts", async (_, parse) => {
    for (const text of ["", "null", "[]", "{}", "Segmentation fault\n", "<html></html>"])
      expect(await parse(text)).toBeNull();
  });

  test.each(TABLE)("%s cut off anywhere, or spoiled, is read without a fault", async (name, parse) => {
    const text = captured(name);
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length), fc.string(), async (at, noise) => {
        for (const spoiled of [text.slice(0, at), text.slice(0, at) + noise + text.slice(at)]) {
          const report = await parse(spoiled);
          if (!report) continue;
          for (const count of [report.passed, report.failed, report.skipped])
            expect(count).toBeGreaterThanOrEqual(0);
        }
      }),
      { seed: 4, numRuns: 100 },
    );
  });
});

test("a cargo build that failed has no counts", () => {
  expect(
    parseCargo(
      "error[E0425]: cannot find value `x`\nerror: could not compile `c` (lib test) due to 1 previous error\n",
    ),
  ).toBeNull();
});

test("the older form of a panic is understood", () => {
  const text =
    "---- t stdout ----\nthread 't' panicked at 'it broke', src/a.rs:3:5\nnote: run with x\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured\n";
  expect(shown(parseCargo(text))).toMatchObject({ failures: ["t @ src/a.rs:3: it broke"] });
});

test("places in installed packages and outside the project are not the project's", () => {
  const stack =
    "at a (/project/node_modules/x/i.js:1:1)\nat b (/elsewhere/y.js:2:2)\nat c (file:///project/src/z.js:3:4)\nat d (/project2/q.js:5:5)";
  expect(findProjectFrames(stack, "/project").map(({ text }) => text)).toEqual(["src/z.js:3"]);
});

test("a report of many tests is read in one go", async () => {
  const points = Array.from({ length: 20_000 }, (_, index) => `    ok ${index} - t${index}`);
  expect(parseTap(`TAP version 13\n${points.join("\n")}\nok 1 - all\n`, "/p")).toMatchObject({
    passed: 20_001,
  });
  const cases = Array.from({ length: 20_000 }, (_, index) => `<testcase name="t${index}"/>`).join("");
  expect(await parseJunit(`<testsuites><testsuite>${cases}</testsuite></testsuites>`, "/p")).toMatchObject({
    passed: 20_000,
  });
});

test("what tests write into their report costs no more than its length", async () => {
  const many = 100_000;
  const spoiled = ["<a>", "<a></b>", "<!--", "<![CDATA[", '<testcase name="', "<!DOCTYPE x ["].map(
    (text) => `<testsuite>${text.repeat(many)}`,
  );
  const levels = Array.from({ length: 30 }, (_, at) => `<!ENTITY e${at + 1} "&e${at};&e${at};">`).join("");
  spoiled.push(`<!DOCTYPE x [<!ENTITY e0 "ha">${levels}]><testsuite><testcase name="&e30;"/></testsuite>`);
  for (const text of spoiled) expect((await parseJunit(text, "/p"))?.failed ?? 0).toBe(0);
  const points = "not ok 1\n  ---\n".repeat(many);
  expect(parseTap(`TAP version 13\n${points}`, "/p")).toMatchObject({ failed: many });
});

test("entities of XML and characters by number are read", async () => {
  const text =
    '<testsuite><testcase name="a &lt;b&gt; &#65;"><failure message="m&#10;n"/></testcase></testsuite>';
  expect((await parseJunit(text, "/p"))?.failures).toMatchObject([{ name: "a <b> A", message: "m\nn" }]);
});
