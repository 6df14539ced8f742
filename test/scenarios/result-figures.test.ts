import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { codeTools } from "@retinue/code/code-tools";
import { replaySession } from "@retinue/core/replay/replay-session";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  type Script,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, onTestFinished, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";

/** A tool that writes a file, and one that says that tests ran. */
const tools = [
  defineTool<{ file: string; kind?: "created" | "modified" }>({
    name: "put",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async ({ file, kind = "created" }, { projectDir, changed }) => {
      const path = join(projectDir, file);
      writeFileSync(path, "x");
      changed(path, kind);
      return "put";
    },
  }),
  defineTool<{ suite: string; run: number; passed: number }>({
    name: "check",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async ({ suite, run, passed }, { tested }) => {
      tested(suite, { run, passed });
      return "checked";
    },
  }),
];

const put = (file: string, kind?: "created" | "modified") => ({ tool: "put", input: { file, kind } });
const check = (suite: string, run: number, passed: number) => ({
  tool: "check",
  input: { suite, run, passed },
});
const requestOf = (t: TestRuntime, agent: string, turn: number) =>
  JSON.stringify(t.models[agent]?.requests[turn]?.prompt.at(-1));

test("a root's result has its own figures and those of everything below, each file once", async () => {
  await using t = testRuntime(
    {
      lead: [
        callTool("put", { file: "own.md" }),
        callDelegateMany([
          { id: "a", agent: "coder", task: "code" },
          { id: "b", agent: "coder", task: "code" },
        ]),
        say("done"),
      ],
      coder: {
        eachRun: [
          callTools([put("one.ts"), put("own.md", "modified")]),
          callDelegate("tester", "test"),
          say("coded"),
        ],
      },
      tester: { eachRun: [callTools([check("unit", 3, 3)]), say("tested")] },
    },
    { tools, agents: { coder: { subagents: { allow: ["tester"] } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({
    files_created: ["own.md"],
    files_modified: [],
    files_deleted: [],
    tests_run: null,
    tests_passed: null,
    tools_used: ["put", "delegate_many"],
    tool_calls_used: 2,
    subtree: {
      runs: 5,
      files_created: ["one.ts", "own.md"],
      files_modified: [],
      tests: [{ suite: "unit", run: 3, passed: 3, runs: 2 }],
      tests_run: 3,
      tests_passed: 3,
      tool_calls_used: 10,
      tools_used: ["put", "delegate_many", "delegate", "check"],
    },
  });
  const told = JSON.parse(requestOf(t, "lead", 2)).content[0].output.value as string;
  expect(told).toContain(
    "completed · 3 turns · 3 calls · 2 files changed · last test run 3/3\n\ncoded\n\n[measured]\nfiles created: one.ts\nfiles modified: own.md\nsub_runs:\n- tester completed: tested\n",
  );
  const coded = t.events.flatMap((event) =>
    event.type === "run.ended" && event.agent === "coder" ? [event.result] : [],
  );
  expect(coded.map(({ tokens }) => tokens.subtree > tokens.self && tokens.self > 0)).toEqual([true, true]);
  const replayed = await replaySession(
    { agents: t.runtime.agents, tools, env: {} },
    t.runtime.record,
    result.session_id,
  );
  expect(replayed).toMatchObject({ identical: true });
});

test("a suite counts by its last run, and tests that fail stand first in the summary and in the warnings", async () => {
  await using t = testRuntime(
    {
      solo: [
        callTools([check("unit", 4, 1), check("web", 2, 2)]),
        callTools([check("unit", 4, 3)]),
        say("I ran the tests."),
      ],
    },
    { tools },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({
    success: true,
    tests_run: 6,
    tests_passed: 5,
    tests: [
      { suite: "unit", run: 4, passed: 3, runs: 2 },
      { suite: "web", run: 2, passed: 2, runs: 1 },
    ],
    summary: "Tests failed: 1 of 4 in unit. I ran the tests.",
    details: "I ran the tests.",
    warnings: ["Tests failed: 1 of 4 in unit"],
  });
});

test("tests of an isolated run are of its own copy: they are its figures and nobody's above it", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "work"), say("done")],
      worker: [callTools([put("a.ts"), check("unit", 3, 1)]), say("Worked.")],
    },
    { tools, agents: { worker: { workspace: "isolated" } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(requestOf(t, "lead", 1)).toContain("1 file changed · last test run 1/3");
  expect(result.subtree).toMatchObject({ files_created: [], tests: [], tests_run: null });
});

const suites = (ok: boolean) =>
  `import test from "node:test"; test("a", () => {}); test("b", () => { ${ok ? "" : "throw new Error('no');"} });`;
const write = (path: string, content: string) => ({ tool: "write", input: { path, content } });
const shell = (command: string, cwd?: string) => ({ tool: "shell", input: { command, ...(cwd && { cwd }) } });

test.skipIf(!hasSandbox)(
  "of the built-in agents a tester's summary begins with what fails; a reviewer's and a debugger's are their own",
  async () => {
    const sees: Script = [callTools([shell("node --test")]), say("Seen.")];
    const names = ["tester", "reviewer", "debugger"];
    await using t = await builtInRuntime(
      { "x.test.mjs": suites(false) },
      {
        main: [...names.map((name) => callDelegate(name, "look")), say("ok")],
        tester: sees,
        reviewer: sees,
        debugger: sees,
      },
      { permissionMode: "bypassPermissions" },
    );
    await t.runtime.run({ agent: "main", task: "go" });
    expect(
      names.map((name) => t.results(name).map(({ summary, tests_passed }) => [summary, tests_passed])),
    ).toEqual([[["Tests failed: 1 of 2 in node. Seen.", 1]], [["Seen.", 1]], [["Seen.", 1]]]);
  },
);

test.skipIf(!hasSandbox)("tests of two folders are two suites, however the folder is named", async () => {
  const worked = [
    callTools([shell("node --test", "pa")]),
    callTools([shell("cd pb && node --test")]),
    say("Tested."),
  ];
  await using t = testRuntime(
    {
      solo: [
        callTools([write("pa/x.test.mjs", suites(false)), write("pb/x.test.mjs", suites(true))]),
        ...worked,
      ],
    },
    { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
  );
  const result = await t.runtime.run({ agent: "solo", task: "go" });
  expect(result).toMatchObject({
    tests_run: 4,
    tests_passed: 3,
    tests: [
      { suite: "node in pa", run: 2, passed: 1 },
      { suite: "node in pb", run: 2, passed: 2 },
    ],
    warnings: ["Tests failed: 1 of 2 in node in pa"],
  });
});

test.skipIf(!hasSandbox)("tests of a run with a folder of its own are a suite of that folder", async () => {
  await using t = testRuntime(
    {
      tester: {
        eachRun: [
          callTools([shell("node --test")]),
          callTools([shell("node --test", "sub")]),
          say("Tested."),
        ],
      },
    },
    { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
  );
  mkdirSync(join(t.projectDir, "pa/sub"), { recursive: true });
  writeFileSync(join(t.projectDir, "pa/sub/x.test.mjs"), suites(true));
  await using session = await t.runtime.openSession();
  const { tests } = await session.spawn("tester", "test", { cwd: "pa" }).result;
  expect(tests.map(({ suite }) => suite)).toEqual(["node in pa", "node in pa/sub"]);
});

test.skipIf(!hasSandbox)("a whole run takes the place of an earlier run of a part of it", async () => {
  await using t = testRuntime(
    {
      solo: [
        callTools([write("x.test.mjs", suites(false))]),
        callTools([shell("node --test x.test.mjs")]),
        callTools([write("x.test.mjs", suites(true))]),
        callTools([shell("node --test")]),
        say("Fixed."),
      ],
    },
    { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    tests_run: 2,
    tests_passed: 2,
    tests: [{ suite: "node", run: 2, passed: 2, runs: 1 }],
    summary: "Fixed.",
    warnings: [],
  });
});

test.skipIf(!hasSandbox)("tests in a copy outside the project are not the project's", async () => {
  const breaks = `echo "${suites(false).replaceAll('"', '\\"')}" > x.test.mjs`;
  await using t = testRuntime(
    {
      solo: [
        callTools([write("x.test.mjs", suites(true))]),
        callTools([shell("node --test")]),
        callTools([shell(`D=$(mktemp -d) && cp x.test.mjs $D && cd $D && ${breaks} && node --test`)]),
        say("The tests notice the fault."),
      ],
    },
    { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    tests: [{ suite: "node", run: 2, passed: 2, runs: 1 }],
    summary: "The tests notice the fault.",
    warnings: [],
  });
  expect(requestOf(t, "solo", 3)).toContain("fail 1");
});

test.skipIf(!hasSandbox)(
  "tests that end with an exit code which nothing explains are a warning",
  async () => {
    await using t = testRuntime(
      {
        solo: [
          callTools([write("package.json", JSON.stringify({ scripts: { test: "node --test; exit 3" } }))]),
          callTools([write("x.test.mjs", suites(true))]),
          callTools([shell("npm test")]),
          callTools([shell("cd gone && pytest")]),
          say("All pass."),
        ],
      },
      { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
    );
    expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
      tests_run: 2,
      tests_passed: 2,
      warnings: [
        "Tests of node: no test failed, but the command ended with exit code 3",
        expect.stringMatching(
          /^Tests of pytest in gone: nothing was reported, and the command ended with exit code \d+$/,
        ),
      ],
    });
  },
);

const inGit = (t: TestRuntime, ...files: string[]) => {
  execFileSync("git", ["init", "-q", t.projectDir]);
  for (const file of files) writeFileSync(join(t.projectDir, file), "old\n");
};

test.skipIf(!hasSandbox)(
  "what a run deletes is deleted; what it made itself and deleted is in no list",
  async () => {
    await using t = testRuntime(
      {
        solo: [
          callTools([
            write("tmp.txt", "x"),
            shell("rm tmp.txt gone.txt; mv old.txt renamed.txt; echo x > made.txt"),
          ]),
          callTools([shell("rm again.txt"), write("again.txt", "new")]),
          say("Done."),
        ],
      },
      { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
    );
    inGit(t, "old.txt", "gone.txt", "again.txt");
    const files = {
      files_created: ["made.txt", "renamed.txt"],
      files_modified: ["again.txt"],
      files_deleted: ["gone.txt", "old.txt"],
    };
    const result = await t.runtime.run({ agent: "solo", task: "go" });
    expect(result).toMatchObject({ ...files, subtree: files });
    const { total } = await t.runtime.record.readStats();
    expect(total.work).toMatchObject({ files: 5, testsRun: null, testsPassed: null });
  },
);

test.skipIf(!hasSandbox)(
  "of a file that several runs touched, what they came to counts, in the order they did it",
  async () => {
    const once = (...calls: { tool: string; input: object }[]) => [callTools(calls), say("ok")];
    await using t = testRuntime(
      {
        lead: [
          callDelegate("maker", "make"),
          callDelegate("remover", "remove"),
          callDelegate("again", "make again"),
          callTools([shell("rm own.txt")]),
          say("done"),
        ],
        maker: once(write("made.txt", "x"), write("own.txt", "x"), write("kept.txt", "x")),
        remover: once(shell("rm made.txt first.txt old.txt")),
        again: once(write("first.txt", "new")),
      },
      { lenient: true, tools: codeTools, permissionMode: "bypassPermissions" },
    );
    inGit(t, "first.txt", "old.txt");
    expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
      files_deleted: ["own.txt"],
      subtree: { files_created: ["kept.txt"], files_modified: ["first.txt"], files_deleted: ["old.txt"] },
    });
    expect(JSON.parse(requestOf(t, "lead", 2)).content[0].output.value).toContain(
      "\nfiles deleted: first.txt, made.txt, old.txt\n",
    );
    expect(requestOf(t, "lead", 2)).not.toContain("test run");
  },
);

test("a run that a limit cut short is no success, and nothing that depends on it begins", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([
          { id: "first", agent: "worker", task: "work" },
          { id: "next", agent: "worker", task: "go on", dependsOn: ["first"] },
        ]),
        say("done"),
      ],
      worker: [callTool("put", { file: "x" }), say("half of it")],
    },
    { tools, agents: { worker: { limits: { turns: 1 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const told = requestOf(t, "lead", 1);
  expect(told).toContain('status=\\"completed\\" partial=\\"true\\">\\ncut short at 1 turn · ');
  expect(told).toContain("not started: it needs 'first'");
  expect(readFileSync(join(t.projectDir, "x"), "utf8")).toBe("x");
});

test("a sum over run_usage is what the session used; a sum over messages would be twice that", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-usage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database = join(folder, "usage.db");
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "work"), say("done")],
      worker: [callTools([put("a"), put("b")]), say("worked")],
    },
    { tools, database },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const figures = await t.runtime.record.readFigures(result.session_id);
  const db = new DatabaseSync(database, { readOnly: true });
  const sumOf = (table: string) =>
    db.prepare(`SELECT sum(total_tokens) AS tokens FROM ${table} WHERE session_id = ?`).get(result.session_id)
      ?.tokens;
  const rows = db
    .prepare("SELECT * FROM run_usage WHERE session_id = ? ORDER BY agent_depth")
    .all(result.session_id);
  const naive = sumOf("messages");
  const total = sumOf("run_usage");
  db.close();
  expect(total).toBe(result.tokens.subtree);
  expect(total).toBe(figures.tokens);
  expect(naive).toBe(2 * result.tokens.subtree);
  expect(rows).toMatchObject([
    {
      agent_role: "lead",
      parent_run_id: null,
      model_calls: 2,
      tool_calls: 0,
      total_tokens: result.tokens.self,
    },
    { agent_role: "worker", parent_run_id: result.run_id, model_calls: 2, tool_calls: 2 },
  ]);
});

test("run_usage counts no delegation as a tool call, by whichever tool it was made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-usage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database = join(folder, "usage.db");
  const worker = { eachRun: [callTools([put("a")]), say("ok")] };
  const tasks = [{ id: "a", agent: "worker", task: "1" }];
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), callDelegateMany(tasks), callDelegate("nobody", "x"), say("done")],
      worker,
    },
    { lenient: true, tools, database },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const session = await t.runtime.openSession();
  await session.spawn("worker", "x").result;
  await session.close();
  await t.runtime.record.committed();
  const db = new DatabaseSync(database, { readOnly: true });
  const rows = db
    .prepare("SELECT session_id, agent_role, tool_calls FROM run_usage ORDER BY agent_depth")
    .all();
  db.close();
  const counts = (of: boolean) =>
    rows
      .filter((row) => (row.session_id === session_id) === of)
      .map(({ agent_role, tool_calls }) => [agent_role, tool_calls]);
  expect(counts(true)).toEqual([
    ["lead", 0],
    ["worker", 1],
    ["worker", 1],
  ]);
  expect(counts(false)).toEqual([
    ["calling-program", 0],
    ["worker", 1],
  ]);
});

test("what one call of unknown price cost is not known, for its run and for all above it", async () => {
  const prices = {
    "scripted/lead": { input: 10, output: 100 },
    "scripted/priced": { input: 10, output: 100 },
  };
  await using t = testRuntime(
    {
      lead: [callDelegate("priced", "x"), callDelegate("free", "x"), say("ok")],
      priced: [say("ok")],
      free: [say("ok")],
    },
    { settings: { prices } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const costs = t.events.flatMap((event) =>
    event.type === "run.ended" ? [[event.agent, event.result.cost_usd] as const] : [],
  );
  expect(Object.fromEntries(costs)).toEqual({
    priced: { self: expect.any(Number), subtree: expect.any(Number) },
    free: { self: null, subtree: null },
    lead: { self: expect.any(Number), subtree: null },
  });
  expect(result.cost_usd.self).toBeGreaterThan(0);
});
