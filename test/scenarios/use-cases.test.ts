import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { callDelegate, callDelegateMany, callTool, callTools, say } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";

const API = {
  "package.json": JSON.stringify({ name: "api", type: "module", scripts: { test: "node --test" } }),
  "src/auth.js": `/** Basic authentication. */\nexport function isAllowed(header) {\n  return header === "Basic secret";\n}\n`,
  "src/errors.js": "export class NotFound extends Error {}\n",
  "src/server.js": `import { isAllowed } from "./auth.js";\n\nexport function serve(header) {\n  try {\n    return isAllowed(header);\n  } catch (error) {\n    console.error(error);\n    return false;\n  }\n}\n`,
  "test/auth.test.js": `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { isAllowed } from "../src/auth.js";\n\ntest("basic works", () => assert.ok(isAllowed("Basic secret")));\n`,
};

const TOKENS = `export function sign(user, key) {\n  return Buffer.from(JSON.stringify({ user, key })).toString("base64url");\n}\n`;
const TOKENS_TEST = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sign } from "../src/tokens.js";\n\ntest("a token has no padding", () => assert.ok(!sign("a", "k").includes("=")));\n`;
const EXPIRY = `\nexport function isExpired(token, now) {\n  return token.expires <= now;\n}\n`;

test.runIf(hasSandbox)(
  "research then implement: research, plan, code with a review inside, review, and the repair",
  async () => {
    await using t = await builtInRuntime(API, {
      main: [
        callDelegate("researcher", "Research the current authentication"),
        callDelegate("planner", "Plan JWT authentication from this research"),
        callDelegate("executor", "Implement JWT authentication by the plan"),
        callDelegate("reviewer", "Review the JWT authentication for security"),
        callDelegate("coder", "Add the check of expiry that the review asks for"),
        say("JWT authentication is in, with expiry."),
      ],
      researcher: [
        callTools([
          { tool: "grep", input: { pattern: "isAllowed" } },
          { tool: "read", input: { path: "src/auth.js" } },
        ]),
        say("src/auth.js:2 has basic authentication, no JWT."),
      ],
      planner: [
        callTool("plan_files", { task: "JWT authentication" }),
        say("1. src/tokens.js 2. src/auth.js 3. test/tokens.test.js"),
      ],
      coder: [
        callTools([
          { tool: "read", input: { path: "src/auth.js" } },
          { tool: "write", input: { path: "src/tokens.js", content: TOKENS } },
          { tool: "write", input: { path: "test/tokens.test.js", content: TOKENS_TEST } },
        ]),
        callTool("edit", {
          path: "src/auth.js",
          edits: [
            {
              old: `header === "Basic secret"`,
              new: `header.startsWith("Bearer ") || header === "Basic secret"`,
            },
          ],
        }),
        callTool("test", {}),
        callDelegate("reviewer", "Review src/tokens.js"),
        say("Made src/tokens.js and its test, changed src/auth.js; tests pass."),
        callTool("read", { path: "src/tokens.js" }),
        callTool("write", { path: "src/tokens.js", content: TOKENS + EXPIRY }),
        callTool("git_commit", {
          message: "JWT with expiry",
          paths: ["src/tokens.js", "src/auth.js", "test/tokens.test.js"],
        }),
        say("Added isExpired and committed."),
      ],
      reviewer: [
        callTools([
          { tool: "git_diff", input: {} },
          { tool: "read", input: { path: "src/tokens.js" } },
        ]),
        say("No defect in the code itself."),
        callTool("git_diff", {}),
        say("Tokens never expire: add a check."),
      ],
    });
    const result = await t.runtime.run({ agent: "main", task: "Add JWT authentication to the API" });
    expect(result.status).toBe("completed");
    expect(readFileSync(join(t.projectDir, "src/tokens.js"), "utf8")).toBe(TOKENS + EXPIRY);
    expect(readFileSync(join(t.projectDir, "src/auth.js"), "utf8")).toContain("Bearer");
    const spawned = t.events.flatMap((event) => (event.type === "run.started" ? [event] : []));
    const coder = spawned.find((event) => event.agent === "coder");
    expect(spawned.filter((event) => event.parentRunId === coder?.runId).map((event) => event.agent)).toEqual(
      ["reviewer"],
    );
    const [first, second] = t.results("coder");
    expect(first).toMatchObject({
      files_created: ["src/tokens.js", "test/tokens.test.js"],
      files_modified: ["src/auth.js"],
      tests_run: 2,
      tests_passed: 2,
    });
    expect(second).toMatchObject({ files_created: [], files_modified: ["src/tokens.js"], tests_run: null });
  },
);

test("parallel research: three researchers at once, findings in the order of the tasks", async () => {
  const { promise: allThere, resolve } = Promise.withResolvers<void>();
  let there = 0;
  const search = (pattern: string) => callTool("grep", { pattern });
  await using t = await builtInRuntime(API, {
    main: [
      callDelegateMany([
        { id: "a", agent: "researcher", task: "Find try/catch in src/" },
        { id: "b", agent: "researcher", task: "Find error classes in src/errors.js" },
        { id: "c", agent: "researcher", task: "Find where errors are logged" },
      ]),
      ({ last }) => say(last),
    ],
    researcher: ({ turn, task, last }) => {
      if (turn === 0) {
        if (++there === 3) resolve();
        const pattern = task.includes("try/catch")
          ? "catch"
          : task.includes("classes")
            ? "extends Error"
            : "console";
        return { kind: "wait", until: allThere, step: search(pattern) };
      }
      return say(`Found ${/src\/\S+:\d+/.exec(last)?.[0]}`);
    },
  });
  const result = await t.runtime.run({
    agent: "main",
    task: "Research error handling patterns across the codebase",
  });
  const found = [...result.details.matchAll(/Found ([\w./:]+)/g)].map((match) => match[1]);
  expect(found).toEqual(["src/server.js:6", "src/errors.js:1", "src/server.js:7"]);
});

const PRICING_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { calculateDiscount } from "../src/pricing.js";

test("no discount", () => assert.equal(calculateDiscount(100, 0), 100));
test("half", () => assert.equal(calculateDiscount(100, 50), 50));
test("everything", () => assert.equal(calculateDiscount(100, 100), 0));
test("a negative percentage is refused", () => assert.throws(() => calculateDiscount(100, -1), RangeError));
test("more than all is refused", () => assert.throws(() => calculateDiscount(100, 101), RangeError));
`;
const PRICING = `/** The price after a discount in percent. */
export function calculateDiscount(price, percent) {
  if (percent < 0 || percent > 100) throw new RangeError("percent");
  return price * (1 - percent / 100);
}
`;

test.runIf(hasSandbox)(
  "test-driven: tests first, then the function, then the tests again, each counted as it really ran",
  async () => {
    const project = { "package.json": API["package.json"] };
    await using t = await builtInRuntime(project, {
      main: [
        callDelegate("tester", "Write tests for calculateDiscount(price, percent)"),
        callDelegate("executor", "Implement calculateDiscount so that the tests pass"),
        callDelegate("tester", "Run the tests"),
        say("Done."),
      ],
      tester: [
        callTool("write", { path: "test/pricing.test.js", content: PRICING_TEST }),
        callTool("test", { path: "test/pricing.test.js" }),
        say("Five tests, all red as they must be."),
        callTool("test", {}),
        ({ last }) => say(last),
      ],
      coder: [callTool("write", { path: "src/pricing.js", content: PRICING }), say("Made src/pricing.js.")],
    });
    const result = await t.runtime.run({
      agent: "main",
      task: "Implement calculate_discount function with tests",
    });
    expect(result.status).toBe("completed");
    const [writing, running] = t.results("tester");
    expect(writing).toMatchObject({ files_created: ["test/pricing.test.js"], tests_passed: 0 });
    expect(running).toMatchObject({ tests_run: 5, tests_passed: 5, files_created: [] });
    expect(t.results("coder")[0]).toMatchObject({ files_created: ["src/pricing.js"], tests_run: null });
  },
);

test.runIf(hasSandbox)(
  "a tester that writes code, a reviewer that writes and a researcher with a shell are denied by a named rule",
  async () => {
    await using t = await builtInRuntime(API, {
      main: [
        callDelegateMany([
          { id: "t", agent: "tester", task: "x" },
          { id: "r", agent: "reviewer", task: "x" },
          { id: "s", agent: "researcher", task: "x" },
        ]),
        say("done"),
      ],
      tester: [
        callTool("write", { path: "src/evil.js", content: "evil" }),
        callTool("shell", { command: "echo evil > src/evil.js" }),
        ({ last }) => say(last),
      ],
      reviewer: [
        callTool("write", { path: "test/evil.js", content: "evil" }),
        callTool("shell", { command: "echo evil > test/evil.js" }),
        ({ last }) => say(last),
      ],
      researcher: [callTool("shell", { command: "echo evil > evil.js" }), ({ last }) => say(last)],
    });
    const result = await t.runtime.run({ agent: "main", task: "x" });
    expect(
      ["src/evil.js", "test/evil.js", "evil.js"].filter((path) => existsSync(join(t.projectDir, path))),
    ).toEqual([]);
    const denied = (await t.runtime.record.readRows({ sessionId: result.session_id }))
      .filter(
        (row) =>
          row.request_type === "tool_call" && JSON.parse(row.metadata_json ?? "{}").outcome === "denied",
      )
      .map((row) => `${row.agent_role}: ${row.response_content}`)
      .sort();
    expect(denied).toHaveLength(3);
    expect(denied[0]).toMatch(/researcher: .*tools of researcher/);
    expect(denied[1]).toMatch(/reviewer: .*tools of reviewer/);
    expect(denied[2]).toMatch(/tester: .*tools of tester/);
  },
);
