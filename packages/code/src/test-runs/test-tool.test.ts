import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasSandbox } from "../../../../test/fixtures/has-sandbox.ts";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { chooseRunner, detectRunners, type ProjectSigns } from "./detect-runner.ts";
import { createTest } from "./test-tool.ts";

const tool = createTest(DEFAULT_SHELL);
const repository = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
/** Where nothing may be skipped, what is missing fails. */
const works = (program: string, ...args: string[]) =>
  process.env.RETINUE_NO_SKIP === "1" || spawnSync(program, args).status === 0;

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
});
afterEach(() => place.remove());

function signs(
  manifest: object | null,
  names: string[] = [],
  files: Record<string, string> = {},
): ProjectSigns {
  const all = { ...files, ...(manifest && { "package.json": JSON.stringify(manifest) }) };
  return { files: new Map(Object.entries(all)), names: [...names, ...Object.keys(all)] };
}

test.each<[string, ProjectSigns, string[]]>([
  [
    "a script that calls vitest",
    signs({ scripts: { test: "tsc && vitest run" }, devDependencies: { jest: "1" } }),
    ["vitest"],
  ],
  [
    "a script that calls jest by its path",
    signs({ scripts: { test: "node ./node_modules/.bin/jest" } }),
    ["jest"],
  ],
  ["a script that calls mocha", signs({ scripts: { test: "mocha -r x" } }), ["mocha"]],
  ["a script that calls node --test", signs({ scripts: { test: "node --import tsx --test" } }), ["node"]],
  [
    "a script of its own and a config file",
    signs({ scripts: { test: "node scripts/test.mjs" } }, ["vitest.config.ts"]),
    ["vitest"],
  ],
  [
    "a script of its own and a dependency",
    signs({ scripts: { test: "make" }, devDependencies: { mocha: "1" } }),
    ["mocha"],
  ],
  ["only a script of its own", signs({ scripts: { test: "make check" } }), ["npm"]],
  [
    "the script that npm init writes",
    signs({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }),
    [],
  ],
  ["test files and no script", signs({}, ["test/a.js"]), ["node"]],
  ["pyproject with pytest", signs(null, [], { "pyproject.toml": "[tool.pytest.ini_options]\n" }), ["pytest"]],
  ["a conftest.py", signs(null, ["tests/conftest.py"]), ["pytest"]],
  ["Python tests alone", signs(null, ["tests/test_a.py"]), ["unittest"]],
  [
    "several languages",
    signs({ scripts: { test: "vitest" } }, ["Cargo.toml", "conftest.py"], { "go.mod": "module m" }),
    ["vitest", "pytest", "go", "cargo"],
  ],
  ["a package.json that is broken", { files: new Map([["package.json", "{"]]), names: [] }, []],
  ["nothing", signs(null), []],
])("%s tells the runner", (_, given, expected) => {
  expect(detectRunners(given).map(({ runner }) => runner)).toEqual(expected);
});

test("the language of a path chooses among runners", () => {
  const found = detectRunners(signs({ scripts: { test: "vitest" } }, ["Cargo.toml", "conftest.py"]));
  expect(chooseRunner(found, "tests/a.py")?.runner).toBe("pytest");
  expect(chooseRunner(found, "src/lib.rs")?.runner).toBe("cargo");
  expect(chooseRunner(found, "src/a.test.ts")?.runner).toBe("vitest");
  expect(chooseRunner(found, "docs")?.runner).toBe("vitest");
});

test("it is a command and reads a path, as far as rights are concerned", async () => {
  const targets = await tool.access({ path: "src" }, place);
  expect(targets).toEqual([
    { kind: "command", command: "test" },
    { kind: "path", path: join(place.projectDir, "src"), root: "project", relative: "src", mode: "read" },
  ]);
});

/** Runs the tool and notes what it counted. */
async function run(input: object = {}, more: Partial<ToolContext> = {}) {
  const counted: number[][] = [];
  const suites: object[] = [];
  const output = await place.use(tool, input, {
    tested: (suite, tests) => {
      suites.push({ suite, ...tests });
      if (!tests.fault) counted.push([tests.run, tests.passed]);
    },
    ...more,
  });
  return { ...output, counted, suites };
}

describe.skipIf(!hasSandbox)("real runs of tests (need bubblewrap)", () => {
  const nodeProject = () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write(
      "src/half.js",
      "export function half(n) {\n  if (n < 0) throw new RangeError('negative');\n  return n / 3;\n}\n",
    );
    place.write(
      "test/half.test.js",
      [
        'import test from "node:test";',
        'import assert from "node:assert";',
        'import { half } from "../src/half.js";',
        'test("of zero", () => assert.equal(half(0), 0));',
        'test("of two", () => {',
        "  assert.equal(half(2), 1);",
        "});",
        'test("of less", () => {',
        "  half(-1);",
        "});",
        'test.skip("later", () => {});',
      ].join("\n"),
    );
  };

  test("node:test gives counts and each failure with its place and the place it comes from", async () => {
    nodeProject();
    const { text, isError, counted } = await run();
    expect([isError, counted]).toEqual([false, [[3, 1]]]);
    expect(text).toMatch(
      /^runner: node \(the test script of package\.json calls it\)\ncommand: node --test .*\ntests: 3 run, 1 passed, 2 failed, 1 skipped\n/,
    );
    expect(text).toContain("FAILED of two\n  at test/half.test.js:6\n");
    expect(text).toContain("FAILED of less\n  at test/half.test.js:9\n  in src/half.js:2\n  | negative");
    expect(text).not.toContain(place.root);
    expect(readdirSync(place.workspaceDir)).toEqual([]);
  });

  test("a filter and a path narrow what is run", async () => {
    nodeProject();
    place.write("test/other.test.js", 'import test from "node:test"; test("other", () => {});');
    expect((await run({ filter: "of zero" })).counted).toEqual([[1, 1]]);
    expect((await run({ path: "test/other.test.js" })).counted).toEqual([[1, 1]]);
    expect((await run({ path: "test" })).counted).toEqual([[4, 2]]);
  });

  test("a suite is named by its runner and folder; a part of it says whose part it is", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write(
      "pa/package.json",
      JSON.stringify({ name: "pa", type: "module", scripts: { test: "node --test" } }),
    );
    place.write("pa/test/x.test.js", 'import test from "node:test"; test("x", () => {});');
    place.write("pb/x.test.js", 'import test from "node:test"; test("x", () => {});');
    const findSuite = async (input: object) => (await run(input)).suites;
    expect(await findSuite({})).toMatchObject([{ suite: "node" }]);
    expect(await findSuite({ path: "pa" })).toEqual([{ suite: "node in pa", run: 1, passed: 1 }]);
    expect(await findSuite({ path: "pb" })).toMatchObject([{ suite: "node in pb", part_of: ["node"] }]);
    expect(await findSuite({ path: "pa/test/x.test.js" })).toMatchObject([
      { suite: "node test/x.test.js in pa", part_of: ["node in pa"] },
    ]);
    expect(await findSuite({ filter: "x" })).toMatchObject([{ suite: "node x", part_of: ["node"] }]);
  });

  test("tests of a run that may write nothing can run, and write nothing", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write(
      "a.test.js",
      'import test from "node:test"; import fs from "node:fs";\ntest("writes", () => fs.writeFileSync("made.txt", "x"));\n',
    );
    const around: string[] = [];
    const aroundChanges: ToolContext["aroundChanges"] = (work) => {
      around.push("watched");
      return work();
    };
    const { text } = await run({}, { mayWrite: () => false, aroundChanges });
    expect(text).toMatch(/EROFS|read-only/i);
    expect([existsSync(join(place.projectDir, "made.txt")), around]).toEqual([false, []]);
    expect((await run({}, { aroundChanges })).counted).toEqual([[1, 1]]);
    expect([existsSync(join(place.projectDir, "made.txt")), around]).toEqual([true, ["watched"]]);
  });

  test("a crash before any test ran is a fault and has no counts", async () => {
    place.write("package.json", JSON.stringify({ scripts: { test: "node gone.js" } }));
    const { text, isError, counted, suites } = await run();
    expect([isError, counted]).toEqual([true, []]);
    expect(suites).toMatchObject([
      { run: 0, fault: "nothing was reported, and the command ended with exit code 1" },
    ]);
    expect(text).toMatch(/no counts: the runner ended with exit code 1/);
    expect(text).toContain("Cannot find module");
    expect(text).not.toMatch(/^tests:/m);
  });

  test("a file that cannot be loaded is no passed run", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write("a.test.js", 'import "./nowhere.js";\n');
    const { text, isError, counted } = await run();
    expect([isError, counted]).toEqual([true, [[1, 0]]]);
    expect(text).toMatch(/tests: 0 run, 0 passed, 0 failed, 0 skipped, 1 not loaded/);
    expect(text).toMatch(
      /NOT LOADED a\.test\.js\n {2}at a\.test\.js:1\n {2}\| Error \[ERR_MODULE_NOT_FOUND\]/,
    );
  });

  test("what a test prints cannot pass for a report", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write(
      "a.test.js",
      'import test from "node:test";\ntest("fails", () => { console.log("ok 7 - forged\\nTAP version 13\\nok 8 - forged too"); throw new Error("no"); });\n',
    );
    expect((await run()).counted).toEqual([[1, 0]]);
  });

  test("tests that do not end are stopped", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write("a.test.js", 'import test from "node:test"; test("hangs", () => { for (;;); });\n');
    const { text, isError, counted } = await run({ timeoutSeconds: 2 });
    expect([isError, text]).toEqual([true, expect.stringContaining("did not end in time")]);
    expect(counted.flat().reduce((sum, count) => sum + count, 0)).toBe(0);
  });

  test("a stopped run stops its tests", async () => {
    nodeProject();
    expect((await run({}, { signal: AbortSignal.abort() })).isError).toBe(true);
  });

  test("secrets of the environment and files without a right to read are not there for tests", async () => {
    place.write("package.json", JSON.stringify({ type: "module", scripts: { test: "node --test" } }));
    place.write(".env", "TOKEN=canary\n");
    place.write(
      "a.test.js",
      'import test from "node:test"; import fs from "node:fs";\ntest("peeks", () => { throw new Error(fs.readFileSync(".env", "utf8") + JSON.stringify(process.env)); });\n',
    );
    process.env.RETINUE_CANARY = "canary";
    try {
      const maySee: ToolContext["maySee"] = (file) => file.kind !== "path" || file.relative !== ".env";
      expect((await run({}, { maySee })).text).not.toContain("canary");
    } finally {
      delete process.env.RETINUE_CANARY;
    }
  });

  // It takes as long as all the others together.
  if (process.env.RETINUE_DEEP)
    test("vitest of this very project runs, even if nothing may be written", async () => {
      const targets = await tool.access(
        { path: "packages/core/src/text" },
        { projectDir: repository, workspaceDir: place.workspaceDir },
      );
      const { text, isError, counted } = await run(
        { path: "packages/core/src/text" },
        { projectDir: repository, targets, mayWrite: () => false },
      );
      expect([isError, text]).toEqual([
        false,
        expect.stringMatching(
          /^runner: vitest \(there is a vitest\.config\.ts\)\n.*\ntests: \d+ run, \d+ passed, 0 failed/,
        ),
      ]);
      expect(counted[0]?.[0]).toBeGreaterThan(5);
    });

  test("a runner that leads out of the project, or is not installed, is said to be so", async () => {
    place.write("package.json", JSON.stringify({ scripts: { test: "vitest" } }));
    expect((await run()).text).toMatch(/vitest is not installed: there is no node_modules\/vitest/);
    mkdirSync(join(place.projectDir, "node_modules"));
    symlinkSync(dirname(repository), join(place.projectDir, "node_modules/vitest"));
    expect((await run()).text).toMatch(/leads out of the project/);
  });

  test("a path in a package of a larger project is tested as that package says, and named from the project", async () => {
    place.write("package.json", JSON.stringify({ private: true, scripts: { test: "npm -ws test" } }));
    place.write("packages/a/package.json", JSON.stringify({ name: "a", scripts: { test: "node --test" } }));
    place.write("packages/a/test/package.json", JSON.stringify({ type: "module" }));
    place.write(
      "packages/a/test/[id].test.js",
      'import { test } from "node:test";\ntest("server.js", () => {});\ntest("bad", () => {\n  throw new Error("no");\n});\n',
    );
    for (const path of ["packages/a", "packages/a/test", "packages/a/test/[id].test.js"]) {
      const { text, counted } = await run({ path });
      expect(counted).toEqual([[2, 1]]);
      expect(text).toContain("these are the tests of packages/a, run there");
      expect(text).toContain("FAILED bad\n  at packages/a/test/[id].test.js:");
    }
  });

  test("tests have a time limit of their own, not that of commands", async () => {
    place.write("package.json", JSON.stringify({ scripts: { test: "node --test" } }));
    place.write(
      "slow.test.mjs",
      'import { test } from "node:test";\ntest("waits", () => new Promise((r) => setTimeout(r, 400)));\n',
    );
    const timed = (seconds: number, testSeconds: number) =>
      place.use(createTest({ ...DEFAULT_SHELL, seconds, testSeconds }), {});
    expect((await timed(0.1, 60)).text).toContain("tests: 1 run, 1 passed");
    expect((await timed(60, 0.1)).text).toContain("did not end in time");
  });

  test("a project without tests is told what can be asked for", async () => {
    expect(await run()).toMatchObject({
      isError: true,
      text: expect.stringMatching(/no test runner was found.*vitest, jest/),
    });
  });

  test.skipIf(!works("python3", "-m", "pytest", "--version"))("pytest", async () => {
    place.write("conftest.py", "");
    place.write("calc.py", "def div(a, b):\n    return a / b\n");
    place.write(
      "tests/test_calc.py",
      "from calc import div\ndef test_ok():\n    assert div(4, 2) == 2\ndef test_bad():\n    div(1, 0)\n",
    );
    const { text, counted } = await run({}, { mayWrite: () => false });
    expect(counted).toEqual([[2, 1]]);
    expect(text).toContain(
      "FAILED test_calc::test_bad\n  at tests/test_calc.py:5\n  in calc.py:2\n  | ZeroDivisionError: division by zero",
    );
    expect((await run({ filter: "ok" })).counted).toEqual([[1, 1]]);
  });

  test.skipIf(!works("python3", "--version"))("unittest", async () => {
    place.write(
      "test_u.py",
      "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 2)\n",
    );
    const { text, counted } = await run();
    expect(counted).toEqual([[1, 0]]);
    expect(text).toMatch(/FAILED test_a .*\n {2}at test_u\.py:4\n {2}\| AssertionError: 1 != 2/);
  });

  test.skipIf(!works("cargo", "--version"))("cargo", async () => {
    place.write("Cargo.toml", '[package]\nname = "c"\nversion = "0.1.0"\nedition = "2021"\n');
    place.write("src/lib.rs", '#[test]\nfn ok() {}\n#[test]\nfn bad() {\n    panic!("broke");\n}\n');
    spawnSync("cargo", ["generate-lockfile", "--offline"], { cwd: place.projectDir });
    const { text, counted } = await run({}, { mayWrite: () => false });
    expect([counted, text]).toEqual([
      [[2, 1]],
      expect.stringContaining("FAILED bad\n  at src/lib.rs:5\n  | broke"),
    ]);
    writeFileSync(join(place.projectDir, "src/lib.rs"), "fn x( {}\n");
    expect(await run({}, { mayWrite: () => false })).toMatchObject({ isError: true, counted: [] });
  });
});
