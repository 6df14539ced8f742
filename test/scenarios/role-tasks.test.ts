import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "@retinue/core/schema/result";
import { callTool, callTools, type StepMaker, say } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";

const PROJECT = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test" } }),
  "src/auth.js":
    "/** Checks a password. */\nexport function signIn(name, password) {\n  return password === 'x';\n}\n",
  "src/sum.js":
    "export function sum(numbers) {\n  let total = 1;\n  for (const each of numbers) total += each;\n  return total;\n}\n",
  "src/index.js": `export { signIn } from "./auth.js";\nexport { sum } from "./sum.js";\n`,
  "migrations/001-users.sql": "CREATE TABLE users (name TEXT);\n",
  "migrations/002-carts.sql": "CREATE TABLE carts (id INTEGER);\n",
  "docs/library-x.md": "# Library X\n\n`connect(url)` opens a connection.\n",
  "test/sum.test.js": `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "../src/sum.js";\n\ntest("adds", () => assert.equal(sum([1, 2]), 3));\n`,
  "test/auth.test.js": `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { signIn } from "../src/auth.js";\n\ntest("lets in", () => assert.ok(signIn("a", "y")));\n`,
};

/** A task as a person would give it, what the model does, and what must then be so. */
type Example = {
  role: string;
  task: string;
  steps: readonly StepMaker[];
  /** What the last tool result must hold. */
  sees: RegExp;
  leaves?: (result: RunResult, read: (path: string) => string) => void;
};

/** The run ends by repeating what it last saw. */
const tell: StepMaker = ({ last }) => say(last);

const EXAMPLES: readonly Example[] = [
  {
    role: "researcher",
    task: "Research how authentication works in this codebase",
    steps: [callTool("grep", { pattern: "signIn" }), callTool("read", { path: "src/auth.js" }), tell],
    sees: /password === 'x'/,
  },
  {
    role: "researcher",
    task: "Find all files related to database migrations",
    steps: [callTool("glob", { pattern: "migrations/**" }), tell],
    sees: /001-users\.sql[\s\S]*002-carts\.sql/,
  },
  {
    role: "researcher",
    task: "Look up API documentation for library X",
    steps: [callTool("grep", { pattern: "connect", path: "docs" }), tell],
    sees: /docs\/library-x\.md:3/,
  },
  {
    role: "planner",
    task: "Create a plan to implement password hashing",
    steps: [callTool("plan_files", { task: "hash the password in signIn" }), tell],
    sees: /src\/auth\.js/,
  },
  {
    role: "planner",
    task: "Analyze dependencies for refactoring sum",
    steps: [
      callTools([
        { tool: "overview", input: {} },
        { tool: "grep", input: { pattern: "sum.js" } },
      ]),
      tell,
    ],
    sees: /src\/index\.js:2[\s\S]*test\/sum\.test\.js:3/,
  },
  {
    role: "planner",
    task: "Generate step-by-step migration plan",
    steps: [callTool("ls", { path: "migrations" }), tell],
    sees: /002-carts\.sql/,
  },
  {
    role: "executor",
    task: "Implement function difference based on this plan",
    steps: [
      callTool("write", {
        path: "src/difference.js",
        content: "export const difference = (a, b) => a - b;\n",
      }),
      callTool("shell", { command: "ls src" }),
      tell,
    ],
    sees: /difference\.js/,
    leaves: ({ files_created }) => expect(files_created).toEqual(["src/difference.js"]),
  },
  {
    role: "executor",
    task: "Refactor module sum following these rules",
    steps: [
      callTool("read", { path: "src/sum.js" }),
      callTool("edit", {
        path: "src/sum.js",
        edits: [
          {
            old: "let total = 1;\n  for (const each of numbers) total += each;\n  return total;",
            new: "return numbers.reduce((total, each) => total + each, 0);",
          },
        ],
      }),
      tell,
    ],
    sees: /src\/sum\.js/,
    leaves: ({ files_modified }, read) => {
      expect(files_modified).toEqual(["src/sum.js"]);
      expect(read("src/sum.js")).toContain("reduce");
    },
  },
  {
    role: "executor",
    task: "Fix the bug in src/sum.js",
    steps: [
      callTool("test", { path: "test/sum.test.js" }),
      callTool("read", { path: "src/sum.js" }),
      callTool("edit", { path: "src/sum.js", edits: [{ old: "total = 1", new: "total = 0" }] }),
      callTool("test", { path: "test/sum.test.js" }),
      callTool("git_commit", { message: "Begin the sum at nought", paths: ["src/sum.js"] }),
      tell,
    ],
    sees: /Begin the sum at nought|[0-9a-f]{7}/,
    leaves: (result, read) => {
      expect(result).toMatchObject({ tests_run: 1, tests_passed: 1, files_modified: ["src/sum.js"] });
      expect(result.tests).toMatchObject([{ runs: 2 }]);
      expect(read("src/sum.js")).toContain("total = 0");
    },
  },
  {
    role: "reviewer",
    task: "Review these changes for bugs",
    steps: [callTool("git_diff", {}), tell],
    sees: /\+export const leftover = 1;/,
  },
  {
    role: "reviewer",
    task: "Check if tests pass",
    steps: [callTool("test", {}), tell],
    sees: /sum\.test\.js/,
    leaves: (result) => expect(result).toMatchObject({ tests_run: 2, tests_passed: 0, files_modified: [] }),
  },
  {
    role: "reviewer",
    task: "Suggest improvements to this code",
    steps: [callTool("shell", { command: "grep -c export src/*.js; echo x > src/new.js" }), tell],
    sees: /src\/auth\.js:1[\s\S]*[Rr]ead-only/,
    leaves: ({ files_created }) => expect(files_created).toEqual([]),
  },
  {
    role: "tester",
    task: "Write unit tests for function signIn",
    steps: [
      callTool("write", {
        path: "test/sign-in.test.js",
        content: `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { signIn } from "../src/auth.js";\n\ntest("keeps out", () => assert.equal(signIn("a", "z"), false));\n`,
      }),
      callTool("test", { path: "test/sign-in.test.js" }),
      tell,
    ],
    sees: /1 passed/,
    leaves: (result) =>
      expect(result).toMatchObject({
        tests_run: 1,
        tests_passed: 1,
        files_created: ["test/sign-in.test.js"],
      }),
  },
  {
    role: "tester",
    task: "Add integration test for the whole module",
    steps: [
      callTool("write", {
        path: "test/integration/all.test.js",
        content: `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport * as shop from "../../src/index.js";\n\ntest("both", () => assert.deepEqual(Object.keys(shop), ["signIn", "sum"]));\n`,
      }),
      callTool("test", { path: "test/integration/all.test.js" }),
      tell,
    ],
    sees: /1 passed/,
    leaves: ({ files_created }) => expect(files_created).toEqual(["test/integration/all.test.js"]),
  },
  {
    role: "tester",
    task: "Fix failing test in test/auth.test.js",
    steps: [
      callTool("test", { path: "test/auth.test.js" }),
      callTool("read", { path: "test/auth.test.js" }),
      callTool("edit", {
        path: "test/auth.test.js",
        edits: [{ old: `signIn("a", "y")`, new: `signIn("a", "x")` }],
      }),
      callTool("test", { path: "test/auth.test.js" }),
      tell,
    ],
    sees: /1 passed/,
    leaves: (result) =>
      expect(result).toMatchObject({ tests_run: 1, tests_passed: 1, files_modified: ["test/auth.test.js"] }),
  },
];

const runsCommands = ({ steps }: Example) => /"(?:shell|test)"/.test(JSON.stringify(steps));

test.each(EXAMPLES.filter((example) => !runsCommands(example)))("$role: $task", play);
test.runIf(hasSandbox).each(EXAMPLES.filter(runsCommands))("$role: $task (needs bubblewrap)", play);

async function play({ role, task, steps, sees, leaves }: Example): Promise<void> {
  const script = role === "executor" ? "coder" : role;
  await using t = await builtInRuntime(PROJECT, { [script]: steps });
  writeFileSync(join(t.projectDir, "src/leftover.js"), "export const leftover = 1;\n");
  execFileSync("git", ["add", "--intent-to-add", "src/leftover.js"], { cwd: t.projectDir });
  const result = await t.runtime.spawn(role, task);
  expect(result.details).toMatch(sees);
  expect(result.status).toBe("completed");
  leaves?.(result, (path) => readFileSync(join(t.projectDir, path), "utf8"));
}
