import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTestOutput } from "./read-test-output.ts";

const report = (name: string) =>
  readFileSync(new URL(`../../../../test/fixtures/test-reports/${name}`, import.meta.url), "utf8");
const esc = String.fromCharCode(27);

test.each([
  [
    "npm test",
    `\n Test Files  1 failed (1)\n      Tests  2 failed | 12 passed | 1 skipped (15)\n`,
    "vitest",
    14,
    12,
  ],
  [
    "npx vitest run",
    `${esc}[2m      Tests ${esc}[22m ${esc}[1m${esc}[32m3 passed${esc}[39m${esc}[22m (3)\n`,
    "vitest",
    3,
    3,
  ],
  ["npx jest", "Tests:       1 failed, 2 skipped, 12 passed, 15 total\nTime: 1 s\n", "jest", 13, 12],
  ["npx mocha", "\n  12 passing (34ms)\n  1 pending\n  2 failing\n", "mocha", 14, 12],
  ["node --test", "ℹ tests 4\nℹ suites 0\nℹ pass 3\nℹ fail 1\nℹ cancelled 0\n", "node", 4, 3],
  ["prove -v t/", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n", "prove -v t/", 2, 1],
  ["pytest -q", "..F\n1 failed, 2 passed in 0.05s\n", "pytest", 3, 2],
  ["python -m pytest", "=== 1 failed, 2 passed, 1 error, 3 warnings in 0.05s ===\n", "pytest", 4, 2],
  ["python3 -m unittest", "...\n-----\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n", "unittest", 3, 2],
  [
    "cargo test",
    "test result: ok. 5 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
    "cargo",
    6,
    5,
  ],
  [
    "go test -v ./...",
    "=== RUN   TestA\n=== RUN   TestA/x\n    --- PASS: TestA/x (0.00s)\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\n",
    "go",
    2,
    1,
  ],
  ["deno test", "ok | 5 passed | 0 failed (10ms)\n", "deno", 5, 5],
  ["bun test", " 5 pass\n 1 fail\nRan 6 tests across 1 files. [10ms]\n", "bun", 6, 5],
  [
    "dotnet test",
    "Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6\n",
    "dotnet test",
    5,
    5,
  ],
  [
    "mvn -q test",
    "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\nTests run: 7, Failures: 1, Errors: 1, Skipped: 1\n",
    "mvn -q test",
    6,
    4,
  ],
  ["bundle exec rspec", "12 examples, 1 failure, 2 pending\n", "bundle exec rspec", 12, 11],
  ["vendor/bin/phpunit", "OK (5 tests, 9 assertions)\n", "vendor/bin/phpunit", 5, 5],
  [
    "npx vitest run src/a.test.ts 2>&1 | tail -5",
    "      Tests  3 passed (3)\n",
    "npx vitest run src/a.test.ts",
    3,
    3,
  ],
  ["npx vitest --reporter=json", report("vitest.json"), "npx vitest --reporter=json", 3, 1],
  ["cargo test --all", report("cargo.txt"), "cargo test --all", 3, 1],
])("the tests of `%s` are counted from what it prints", (command, output, suite, run, passed) => {
  expect(readTestOutput(command, output)).toEqual({ suite, run, passed });
});

test.each([
  ["cat test.log", "      Tests  3 passed (3)\n"],
  ["echo 'Tests  100 passed (100)'; cd src", "Tests  100 passed (100)\n"],
  ["grep -r passed docs | head", "=== 3 passed in 0.1s ===\n"],
  ["npm run build", "built in 3.1s\n4 errors in 2.0s\n"],
  ["npm test", "no tests here\n"],
])("`%s` runs no tests, whatever it prints", (command, output) => {
  expect(readTestOutput(command, output)).toBeNull();
});

test("the summary that node's own runner prints is understood", () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-output-"));
  try {
    writeFileSync(
      join(folder, "a.test.mjs"),
      'import test from "node:test";\ntest("x", () => {});\ntest("y", () => {});\n',
    );
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    const output = execFileSync(process.execPath, ["--test"], { cwd: folder, env, encoding: "utf8" });
    expect(readTestOutput("node --test", output)).toEqual({ suite: "node", run: 2, passed: 2 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
