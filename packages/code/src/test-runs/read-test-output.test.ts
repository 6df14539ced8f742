import { spawnSync } from "node:child_process";
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
  ["dotnet test", "Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6\n", "dotnet", 5, 5],
  [
    "mvn -q test",
    "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!\nTests run: 7, Failures: 1, Errors: 1, Skipped: 1\n",
    "maven",
    6,
    4,
  ],
  ["bundle exec rspec", "12 examples, 1 failure, 2 pending\n", "rspec", 12, 11],
  ["vendor/bin/phpunit", "OK (5 tests, 9 assertions)\n", "phpunit", 5, 5],
  ["node --test", "ℹ tests 4\nℹ pass 3\nℹ fail 0\nℹ cancelled 1\nℹ skipped 0\nℹ todo 2\n", "node", 4, 3],
  ["phpunit", "FAILURES!\nTests: 5, Assertions: 9, Failures: 1.\n", "phpunit", 5, 4],
  ["phpunit", "ERRORS!\nTests: 5, Assertions: 9, Errors: 2.\n", "phpunit", 5, 3],
  ["phpunit", "FAILURES!\nTests: 5, Assertions: 9, Failures: 2, Skipped: 1.\n", "phpunit", 4, 2],
  [
    "mvn test",
    "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n[INFO] Tests run: 7, Failures: 0, Errors: 0, Skipped: 0\n",
    "maven",
    9,
    8,
  ],
  ["npx mocha", "  3 passing (10ms)\n\n  5 passing (10ms)\n  2 failing\n", "mocha", 10, 8],
  [
    "pytest",
    "!!!! Interrupted: 2 errors during collection !!!!\n==== 2 errors in 0.12s ====\n",
    "pytest",
    2,
    0,
  ],
  ["pytest -q", "2 errors in 0.12s\n", "pytest", 2, 0],
  [
    "npx jest --ci",
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       3 passed, 3 total\n",
    "jest",
    4,
    3,
  ],
  ["npx vitest run", " Test Files  1 failed (1)\n      Tests  no tests\n", "vitest", 1, 0],
  [
    "npx vitest run",
    " Test Files  2 passed (2)\n      Tests  3 passed (3)\n     Errors  1 error\n",
    "vitest",
    4,
    3,
  ],
  ["rspec", "0 examples, 0 failures, 1 error occurred outside of examples\n", "rspec", 1, 0],
  [
    "go test ./...",
    "--- FAIL: TestB (0.00s)\n    b_test.go:5: bad\nFAIL\nFAIL\tx.org/b\t0.003s\nok  \tx.org/a\t0.002s\nFAIL\n",
    "go",
    1,
    0,
  ],
  [
    "go test -v ./...",
    "# x.org/b\n./b.go:3:2: undefined: x\nFAIL\tx.org/b [build failed]\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nok\tx.org/a\t0.1s\n",
    "go",
    2,
    1,
  ],
  [
    "cargo nextest run",
    "     Summary [   0.010s] 6 tests run: 5 passed, 1 failed, 0 skipped\n",
    "cargo",
    6,
    5,
  ],
  [
    "npx vitest run src/a.test.ts 2>&1 | tail -5",
    "      Tests  3 passed (3)\n",
    "npx vitest run src/a.test.ts",
    3,
    3,
  ],
  ["npx vitest --reporter=json", report("vitest.json"), "vitest", 4, 1],
  ["cargo test --all", report("cargo.txt"), "cargo test --all", 3, 1],
])("the tests of `%s` are counted from what it prints", async (command, output, suite, run, passed) => {
  expect((await readTestOutput(command, output)).filter((one) => one.run > 0)).toMatchObject([
    { suite, run, passed },
  ]);
});

test.each([
  ["cat test.log", "      Tests  3 passed (3)\n"],
  ["echo 'Tests  100 passed (100)'; cd src", "Tests  100 passed (100)\n"],
  ["grep -r passed docs | head", "=== 3 passed in 0.1s ===\n"],
  ["npm run build", "built in 3.1s\n4 errors in 2.0s\n"],
  ["npm test", "no tests here\n"],
])("`%s` runs no tests, whatever it prints", async (command, output) => {
  expect((await readTestOutput(command, output)).filter((one) => one.run > 0 || one.fault)).toEqual([]);
});

const vitest = (failed: number, passed: number) =>
  `      Tests  ${failed > 0 ? `${failed} failed | ` : ""}${passed} passed (${failed + passed})\n`;

test.each([
  ["npm test --silent", "vitest"],
  ["npm run -s test", "vitest"],
  ["pnpm test", "vitest"],
  ["yarn test --reporter=dot", "vitest"],
  ["npm test -- --reporter verbose", "vitest"],
  ["CI=1 timeout 60 npx vitest run --coverage 2>&1 | tail -20", "vitest"],
  ["cd pa && npm test", "vitest in pa"],
  ["cd ./pa/; (cd ../pb && npm test)", "vitest in pb"],
  ["(cd pa && make) && npm test", "vitest"],
  ["bash -c 'cd pa && npx vitest'", "vitest in pa"],
  ["npm --prefix pa test", "vitest in pa"],
  ["cd /project/pa && npx vitest", "vitest in pa"],
])("`%s` runs all tests of its folder", async (command, suite) => {
  const [first] = await readTestOutput(command, vitest(0, 3), { projectDir: "/project" });
  expect(first).toEqual({ suite, run: 3, passed: 3 });
});

const GROUNDS = { projectDir: "/project", workspaceDir: "/data/workspace" };

test.each([
  ["cp -r . /tmp/mut && cd /tmp/mut && npm test"],
  ["cd /tmp/mut/packages/api && npx vitest"],
  ["mkdir -p /tmp/m; cp -r src /tmp/m/; (cd /tmp/m/src && npm test)"],
  ["git worktree add ../other && cd ../other && npm test"],
  ["D=$(mktemp -d) && cp -r . $D && cd $D && npm test"],
  ['export D=/tmp/mut; cd "$D"; npm test'],
  ["cd `mktemp -d` && npm test"],
  ["for i in 1 2; do cp -r . /tmp/m$i; (cd /tmp/m$i && npm test); done"],
  ["pushd /tmp/mut; npm test; popd"],
  ["bash -c 'cd /tmp/mut && npx vitest run'"],
  ["cd ~/copy && npm test"],
  ["npm --prefix /tmp/mut test"],
  ["npm --prefix=../mut test"],
  ["npx vitest run --root /tmp/mut"],
  ["npx vitest run /tmp/mut/a.test.ts"],
  ["make -C /tmp/mut test"],
  ["bash /tmp/mutate.sh"],
  ['D=$(mktemp -d "${TMPDIR:-/tmp}/mut.XXXX"); cp -r . $D; cd $D && npm test'],
  ["D=$(mktemp -d -t mut.XXXX); cd $D; npm test"],
  ["cd /tmp/mut && npm ci || npm install; npm test"],
  ["if cd /tmp/mut; then npm test; fi"],
  ["[ -d /tmp/mut ] || cp -r . /tmp/mut; cd /tmp/mut; npm test"],
  ["timeout 60 env -C /tmp/mut npm test"],
  ["env -C /tmp/mut npm test"],
  ["builtin cd /tmp/mut && npm test"],
  ["command cd /tmp/mut; npx vitest"],
  ["eval 'cd /tmp/mut' && npm test"],
  ["cd /tmp/mut || exit 1; npm test"],
  ["cd /tmp/mut || { echo missing; exit 1; }; npm test"],
  ["pushd /tmp/a; pushd /tmp/b; popd; npm test"],
  ["cd /tmp/mut && for d in */; do (cd $d && npm test); done"],
  ["npx vitest run --coverage /tmp/mut"],
  ["pytest -vv /tmp/mut"],
  ["pytest -rA /tmp/mut"],
  ["pytest --lf /tmp/mut/tests"],
  ["pytest -k adds /tmp/mut/tests"],
])("`%s` runs tests of no project, whether they pass or not", async (command) => {
  expect(await readTestOutput(command, vitest(1, 2), { ...GROUNDS, exitCode: 1 })).toEqual([]);
  expect(await readTestOutput(command, "nothing known", { ...GROUNDS, exitCode: 1 })).toEqual([]);
  expect(await readTestOutput(command, vitest(0, 3), GROUNDS)).toEqual([]);
});

test.each([
  ["npm test && cp -r . /tmp/mut && cd /tmp/mut && npm test", vitest(0, 3) + vitest(1, 2)],
  ["(cd /tmp/mut && npm test); npm test", vitest(1, 2) + vitest(0, 3)],
  ["cd /tmp/mut; npm test; cd - && npm test", vitest(1, 2) + vitest(0, 3)],
])("of `%s` only what ran in the project counts", async (command, outputs) => {
  const counted = await readTestOutput(command, outputs, { ...GROUNDS, exitCode: 1 });
  expect(counted.filter(({ run }) => run > 0)).toEqual([{ suite: "vitest", run: 3, passed: 3 }]);
  expect(counted.some(({ fault }) => fault)).toBe(false);
});

test("of one summary that may be the project's or a copy's, only a failure counts", async () => {
  for (const command of [
    "npm test > log; cd /tmp/mut && npm test",
    "npm test && cp -r . /tmp/mut && cd /tmp/mut && npm test",
  ]) {
    const [first] = await readTestOutput(command, vitest(1, 2), { ...GROUNDS, exitCode: 1 });
    expect(first).toEqual({ suite: "vitest", run: 3, passed: 2 });
    expect(await readTestOutput(command, vitest(0, 3), GROUNDS)).toEqual([]);
  }
});

test.each([
  ["for d in */; do (cd $d && npm test); done"],
  ["for d in $(ls -d */); do (cd $d && npm test); done"],
  ["for d in *; do cd $d; npm test; cd ..; done"],
  ["npx vitest $(git ls-files '*.test.ts')"],
  ["npx vitest $FILES"],
  ['npx vitest "${TESTS[@]}"'],
  ["find . -name '*.test.ts' | while read f; do npx vitest $f; done"],
  ['cd "$CI_PROJECT_DIR" && npm test'],
  ["cd ${PROJECT:-/tmp/x} && npm test"],
  ["D=$(mktemp -d ./copy.XXXX); cd $D && npm test"],
  ["command -v npx && npm test"],
  ["cd /nonexistent || npm test"],
  ["cd /app 2>/dev/null || true; npm test"],
  ["cd /tmp && ls; cd $OLDPWD && npm test"],
  ["pushd /tmp/a; pushd /tmp/b; popd; popd; npm test"],
  ["env -C pa npm test"],
  ["coverage run --data-file /tmp/cov -m pytest"],
  ["tox --workdir /tmp/t"],
  ["docker run -v /project:/app -w /app image npm test"],
  ["pytest -x --log-file /tmp/log.txt"],
])("`%s` is not known to run elsewhere, so its tests are the project's", async (command) => {
  const [first] = await readTestOutput(command, vitest(1, 2), { ...GROUNDS, exitCode: 1 });
  expect(first).toMatchObject({ run: 3, passed: 2 });
});

test.each([
  ["cd /project/pa && npx vitest --outputFile /tmp/out.json", "vitest in pa"],
  ["D=pa; cd $D && npm test", "vitest in pa"],
  ["ROOT=$(pwd); cd pb && cd $ROOT/pa && npm test", "vitest in pa"],
  ['cd "$(git rev-parse --show-toplevel)" && npm test', "vitest"],
  ["cd /data/workspace/copy && npm test", "vitest in the workspace/copy"],
  ["cd /tmp && cd /project && npm test", "vitest"],
  ["for p in pa pb; do (cd $p && npm test); done", "for p in pa pb; do (cd $p && npm test); done"],
  ["for p in $(ls packages); do cd packages/$p; npm test; cd -; done", undefined],
])("`%s` runs tests of the project or the workspace", async (command, suite = command) => {
  expect((await readTestOutput(command, vitest(0, 3), GROUNDS))[0]).toMatchObject({
    suite,
    run: 3,
    passed: 3,
  });
});

test.each([
  ["pytest -v"],
  ["pytest -x -q"],
  ["python3 -m pytest -xvs --tb=short -n 4"],
  ["uv run pytest --maxfail=1"],
])("`%s` runs all tests, too", async (command) => {
  expect(await readTestOutput(command, "=== 3 passed in 0.1s ===\n")).toEqual([
    { suite: "pytest", run: 3, passed: 3 },
  ]);
});

test.each([
  ["npx vitest run src/a.test.ts", ["vitest"]],
  ["npm test -- -t adds", ["vitest"]],
  ["cd pa && npx vitest run --project unit", ["vitest in pa"]],
  // A whole run need not include these.
  ["npm run test:e2e", undefined],
  ["npx vitest run --config e2e.config.ts", undefined],
  ["make test", undefined],
])("`%s` runs a part, or tests of its own", async (command, wholes) => {
  const [first] = await readTestOutput(command, vitest(1, 2));
  expect(first?.suite).toContain(command.replace("cd pa && ", ""));
  expect(first?.part_of).toEqual(wholes);
});

test("a file that node would not find by itself is no part of all tests", async () => {
  const [first] = await readTestOutput("node --test checks/a.mjs", "ℹ tests 1\nℹ pass 0\nℹ fail 1\n");
  expect(first).toEqual({ suite: "node --test checks/a.mjs", run: 1, passed: 0 });
});

test("several runners in one command are several suites, and several runs of one are told apart by their order", async () => {
  expect(
    await readTestOutput("npx jest; pytest", "Tests: 3 passed, 3 total\n== 2 failed, 1 passed in 0.1s ==\n"),
  ).toEqual([
    { suite: "jest", run: 3, passed: 3 },
    { suite: "pytest", run: 3, passed: 1 },
  ]);
  const both = "(cd pa && npx vitest); (cd pb && npx vitest)";
  expect(await readTestOutput(both, vitest(1, 2) + vitest(0, 2))).toEqual([
    { suite: "vitest in pa", run: 3, passed: 2 },
    { suite: "vitest in pb", run: 2, passed: 2 },
  ]);
  expect(await readTestOutput(both, vitest(1, 2))).toEqual([
    { suite: both, run: 3, passed: 2, part_of: ["vitest in pa", "vitest in pb"] },
  ]);
});

test("an exit code that no failed test explains is a fault; of a run that told nothing, too", async () => {
  expect(await readTestOutput("npx vitest run", vitest(0, 3), { exitCode: 1 })).toEqual([
    {
      suite: "vitest",
      run: 3,
      passed: 3,
      fault: "no test failed, but the command ended with exit code 1",
    },
  ]);
  expect(await readTestOutput("cargo test", "error: could not compile `x`\n", { exitCode: 101 })).toEqual([
    {
      suite: "cargo",
      run: 0,
      passed: 0,
      fault: "nothing was reported, and the command ended with exit code 101",
    },
  ]);
  expect(await readTestOutput("npm test", "", { exitCode: null })).toMatchObject([
    { suite: "npm test", fault: "nothing was reported, and the command was stopped" },
  ]);
  expect((await readTestOutput("npx vitest run", vitest(1, 2), { exitCode: 1 }))[0]?.fault).toBeUndefined();
  expect(await readTestOutput("npm run build", "", { exitCode: 1 })).toEqual([]);
});

test("a run that told nothing and ended well takes the place of an earlier one only if the exit code is its own", async () => {
  expect(await readTestOutput("mvn -q test", "")).toEqual([{ suite: "maven", run: 0, passed: 0 }]);
  expect(await readTestOutput("mvn -q test > log; echo done", "done\n")).toEqual([]);
});

test("the summary that node's own runner prints is understood; what is cancelled failed, and what is to do is no test", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-output-"));
  try {
    writeFileSync(
      join(folder, "a.test.mjs"),
      'import test from "node:test";\ntest("x", () => {});\ntest("slow", { timeout: 1 }, () => new Promise((done) => setTimeout(done, 1000)));\ntest("later", { todo: true }, () => { throw 1; });\ntest.skip("never", () => {});\n',
    );
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    for (const reporter of ["spec", "tap"]) {
      const args = ["--test", `--test-reporter=${reporter}`];
      const { stdout, status } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
      expect(await readTestOutput(`node ${args.join(" ")}`, stdout, { exitCode: status })).toEqual([
        { suite: "node", run: 2, passed: 1 },
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
