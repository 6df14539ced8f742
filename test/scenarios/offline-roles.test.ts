import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { loadProject } from "@retinue/builtin/load-project";
import { codeTools } from "@retinue/code/code-tools";
import { checkJson } from "@retinue/core/schema/check-json";
import type { RetinueEvent } from "@retinue/core/schema/event";
import { PlanSchema } from "@retinue/core/schema/plan";
import type { RunResult } from "@retinue/core/schema/result";
import { expect, test } from "vitest";
import { hasSandbox } from "../fixtures/has-sandbox.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

const PRICING = `/** The price after a discount in percent. */
export function discounted(price: number, percent: number): number {
  return price - price * percent;
}

/** Rounds to cents. */
export function rounded(price: number): number {
  return Math.round(price * 100) / 100;
}
`;
const TESTS = `import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted, rounded } from "../src/pricing.ts";

test("ten percent off", () => {
  const price = discounted(100, 10);
  assert.equal(price, 90);
});

test("no discount changes nothing", () => {
  assert.equal(discounted(80, 0), 80);
});

test("cents are rounded", () => {
  assert.equal(rounded(1.005 * 2), 2.01);
});
`;
const FILES = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test" } }),
  "src/pricing.ts": PRICING,
  "test/pricing.test.ts": TESTS,
};
const SECOND = {
  "src/basket.ts": `import { discounted } from "./pricing.ts";

// TODO: taxes
export function total(prices: number[]): number {
  console.log(prices);
  try {
    return prices.reduce((sum, price) => sum + discounted(price, 0), 0);
  } catch {}
  return 0;
}
`,
};

function git(folder: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  return execFileSync("git", [...who, ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function commit(folder: string, files: Readonly<Record<string, string>>, message: string): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--no-verify", "-m", message);
}

/** The built-in agents with no model, on a repository that `prepare` leaves in an empty folder. */
async function offline(prepare: (projectDir: string) => void) {
  const root = mkdtempSync(join(tmpdir(), "retinue-offline-roles-"));
  const projectDir = join(root, "project");
  mkdirSync(projectDir);
  prepare(projectDir);
  const env = {
    HOME: root,
    RETINUE_HOME: join(root, "data"),
    RETINUE_DISCOVER: "0",
    PATH: process.env.PATH ?? "",
  };
  const { registry, settings } = await loadProject({ projectDir, env });
  const dataDir = join(root, "data");
  const runtime = createBuiltInRuntime({
    agents: registry,
    settings,
    tools: codeTools,
    projectDir,
    dataDir,
    database: ":memory:",
    env,
  });
  const events: RetinueEvent[] = [];
  runtime.events((event) => events.push(event));
  return {
    projectDir,
    ask: (task: string, agent = "main"): Promise<RunResult> => runtime.run({ agent, task }),
    /** Agents in the order their runs began. */
    started: () => events.flatMap((event) => (event.type === "run.started" ? [event.agent] : [])),
    results: () => events.flatMap((event) => (event.type === "run.ended" ? [event.result] : [])),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const shop = () =>
  offline((folder) => {
    git(folder, "init", "--quiet", "--initial-branch=main");
    commit(folder, FILES, "Prices and discounts");
    commit(folder, SECOND, "A basket");
  });
const clone = () => offline((folder) => void git(folder, "clone", "--quiet", repository, "."));

test("“Where is X and what tests cover it?” is answered with the definition and the titles of the tests", async () => {
  await using t = await shop();
  const { details, status } = await t.ask("Where is discounted and what tests cover it?");
  expect([status, ...t.started()]).toEqual(["completed", "main", "researcher"]);
  expect(details).toContain(
    "`discounted` is defined at src/pricing.ts:2: The price after a discount in percent. Tests: 2 tests name `discounted`.",
  );
  expect(details).toContain("- test/pricing.test.ts:5 “ten percent off”");
  expect(details).toContain("- test/pricing.test.ts:10 “no discount changes nothing”");
  expect(details).not.toContain("cents are rounded");
});

test("what no test names is said to be so", async () => {
  await using t = await shop();
  const { details } = await t.ask("Where is total and which tests cover it?");
  expect(details).toContain("`total` is defined at src/basket.ts:4");
  expect(details).toContain("No test names `total`.");
});

test.skipIf(!hasSandbox)(
  "“Run the tests and explain failures” runs them, follows the failure and names the line and its last change",
  async () => {
    await using t = await shop();
    const { details, status } = await t.ask("Run the tests and explain failures");
    expect([status, ...t.started()]).toEqual(["completed", "main", "tester", "debugger"]);
    expect(t.results().find(({ agent }) => agent === "tester")).toMatchObject({
      tests_run: 3,
      tests_passed: 2,
    });
    expect(details).toMatch(/3 run, 2 passed, 1 failed/);
    expect(details).toMatch(/“ten percent off” fails at test\/pricing\.test\.ts:7/);
    expect(details).toContain("→ 7 |   assert.equal(price, 90);");
    expect(details).toMatch(/Last changed there: test\/pricing\.test\.ts:7, in [0-9a-f]+ by Ann/);
    expect(git(t.projectDir, "status", "--porcelain")).toBe("");
  },
);

test.skipIf(!hasSandbox)(
  "when all tests pass there is nothing to explain, and that is the answer",
  async () => {
    await using t = await shop();
    commit(
      t.projectDir,
      { "src/pricing.ts": PRICING.replace("price * percent", "(price * percent) / 100") },
      "Percent",
    );
    const { details } = await t.ask("Run the tests and explain failures");
    expect(details).toMatch(/3 run, 3 passed, 0 failed/);
    expect(details).toContain("No test fails");
  },
);

test.skipIf(!hasSandbox)("an error that is thrown in a source leads to its line there", async () => {
  await using t = await shop();
  commit(t.projectDir, { "src/pricing.ts": PRICING.replace("return price - ", "return missing - ") }, "Slip");
  const { details } = await t.ask("Why does the test “ten percent off” fail?", "debugger");
  expect(details).toContain("src/pricing.ts:3");
  expect(details).toContain("missing is not defined");
  expect(details).toMatch(/Last changed there: src\/pricing\.ts:3, in [0-9a-f]+ by Ann/);
});

test("“Review the last commit” gives the findings of that commit, worst first, with file and line", async () => {
  await using t = await shop();
  const { details, status } = await t.ask("Review the last commit");
  expect([status, ...t.started()]).toEqual(["completed", "main", "reviewer"]);
  const places = [...details.matchAll(/^- (high|medium|low): (\S+) (.*)$/gm)].map(
    ([, severity, place]) => `${severity} ${place}`,
  );
  expect(places).toEqual([
    "medium src/basket.ts:1",
    "medium src/basket.ts:8",
    "low src/basket.ts:3",
    "low src/basket.ts:5",
  ]);
  expect(details).toContain("“A basket”");
  expect(details).toContain("This is a review by rules");
  expect(details).not.toContain("src/pricing.ts");
});

test("a secret that was committed is found, and its value is not repeated", async () => {
  await using t = await shop();
  const key = `AKIA${"Q7RZ".repeat(4)}`;
  commit(t.projectDir, { "src/config.ts": `const region = "eu";\nconst key = "${key}";\n` }, "Access");
  const { details } = await t.ask("Review the last commit");
  expect(details).toMatch(/^- high: src\/config\.ts:2 this looks like a secret/m);
  expect(details).not.toContain(key);
});

test("changes that are not committed are reviewed if nothing else is named, new files included", async () => {
  await using t = await shop();
  writeFileSync(join(t.projectDir, "src/new.ts"), "/** New. */\nexport const fresh = 1;\ndebugger;\n");
  const { details } = await t.ask("Review these changes for bugs", "reviewer");
  expect(details).toContain("medium: src/new.ts:3 a breakpoint was left in");
});

test("a plan by template fits the schema of plans and names the files of the goal", async () => {
  await using t = await shop();
  const { details } = await t.ask("Add a second discount to discounted in src/pricing.ts", "planner");
  const plan: unknown = JSON.parse(/```json\n([\s\S]*?)\n```/.exec(details)?.[1] ?? "null");
  expect(await checkJson(PlanSchema, plan)).toEqual([]);
  expect(plan).toMatchObject({
    steps: [
      { role: "researcher", files: expect.arrayContaining(["src/pricing.ts"]) },
      { role: "coder", files: expect.arrayContaining(["src/pricing.ts"]) },
      { role: "tester" },
      { role: "reviewer" },
    ],
  });
});

test.each([
  ["coder", "Implement taxes"],
  ["tester", "Write tests for total"],
])("the %s asked to “%s” says that it needs a model and how to add one", async (agent, task) => {
  await using t = await shop();
  const result = await t.ask(task, agent);
  expect(result.status).toBe("failed");
  expect(result.error?.message).toMatch(/it cannot write .*To add a model, set ANTHROPIC_API_KEY/);
});

test("tests that cannot run are an error, never a count", async () => {
  await using t = await offline((folder) => {
    git(folder, "init", "--quiet", "--initial-branch=main");
    commit(folder, { "README.md": "# Nothing to test\n" }, "Begin");
  });
  const result = await t.ask("Run the tests", "tester");
  expect(result.status).toBe("failed");
  expect(result.error?.message).toContain("the tests did not run");
  expect(result.tests_run).toBeNull();
});

test("on a clone of this repository a question is answered with the line of the definition and real tests", async () => {
  await using t = await clone();
  const { details } = await t.ask("Where is splitSentences and what tests cover it?");
  const source = readFileSync(join(t.projectDir, "packages/core/src/text/split-sentences.ts"), "utf8").split(
    "\n",
  );
  const at = source.findIndex((line) => line.startsWith("export function splitSentences")) + 1;
  expect(details).toContain(
    `\`splitSentences\` is defined at packages/core/src/text/split-sentences.ts:${at}`,
  );
  for (const [, path = "", line, title = ""] of details.matchAll(/^- (\S+):(\d+) “(.*)”$/gm))
    expect(readFileSync(join(t.projectDir, path), "utf8").split("\n")[Number(line) - 1]).toContain(
      title.split(": ").at(-1),
    );
  expect(details).toMatch(/^- packages\/core\/src\/text\/text\.test\.ts:\d+ “/m);
});

test("of a commit without text the reviewer says which it is and which files nobody has looked at", async () => {
  await using t = await offline((folder) => {
    git(folder, "init", "--quiet", "--initial-branch=main");
    commit(folder, { "a.png": "\0one", "b.png": "\0two" }, "Begin");
    commit(folder, { "a.png": "\0three", "b.png": "\0four" }, "New pictures");
  });
  const { details } = await t.ask("Review the last commit");
  const id = git(t.projectDir, "log", "-1", "--format=%h").trim();
  expect(details).toContain(`the last commit, ${id} “New pictures” (2 files): no file of it holds text.`);
  expect(details).toContain("Not looked at: a.png, b.png.");
});

test("on a clone of this repository the last commit is reviewed, and each finding quotes its line", async () => {
  await using t = await clone();
  const { details, status } = await t.ask("Review the last commit");
  expect([status, ...t.started()]).toEqual(["completed", "main", "reviewer"]);
  expect(details).toContain(git(t.projectDir, "log", "-1", "--format=%h").trim());
  for (const [, path = "", line, quote = ""] of details.matchAll(/^- \w+: (\S+):(\d+) .*\n {4}\| (.*)$/gm))
    if (!quote.includes("[redacted:"))
      expect(readFileSync(join(t.projectDir, path), "utf8").split("\n")[Number(line) - 1]).toContain(
        quote.replace(/…$/, ""),
      );
});
