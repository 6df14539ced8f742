import { callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { toolResults } from "../fixtures/tool-results.ts";

const SHOP = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test" } }),
  "src/total.js": "export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n",
  "test/total.test.js": `import { test } from "node:test";\nimport { total } from "../src/total.js";\ntest("adds", () => total([1]));\n`,
};

const WORDS: readonly [tool: string, input: object, answer: RegExp][] = [
  ["Read", { file_path: "src/total.js", limit: "1" }, /: 1\texport const total/],
  [
    "Grep",
    { pattern: "TOTAL", "-i": true, "-n": true, output_mode: "content", "-A": 2 },
    /src\/total\.js:1:/,
  ],
  ["Grep", { pattern: "total", "-C": 1, multiline: false, path: "test" }, /total\.test\.js-1-import/],
  ["Grep", { pattern: "total", output_mode: "files_with_matches", type: "js" }, /src\/total\.js/],
  ["Glob", { pattern: "**/*.js" }, /src\/total\.js/],
  ["LS", { path: ".", ignore: ["node_modules"] }, /src\//],
  ["list_directory", { dir_path: "src" }, /total\.js/],
  [
    "Edit",
    {
      file_path: "src/total.js",
      old_string: "prices.reduce",
      new_string: "prices.reduce",
      replace_all: false,
    },
    /./,
  ],
  [
    "MultiEdit",
    { file_path: "src/total.js", edits: [{ old_string: "(prices)", new_string: "(list)" }] },
    /total\.js/,
  ],
  [
    "apply_patch",
    {
      input:
        "*** Begin Patch\n*** Update File: src/total.js\n@@\n-export const total = (list) => prices.reduce((sum, price) => sum + price, 0);\n+export const total = (list) => list.reduce((sum, price) => sum + price, 0);\n*** End Patch",
    },
    /modified src\/total\.js: 1 hunk at line 1/,
  ],
  ["git", { command: "git diff --stat" }, /total\.js \| \+1 -1/],
  ["git", { command: "diff", args: "HEAD -- src" }, /\+export const total = \(list\) => list/],
  ["git", { command: "show" }, /\+export const total = \(prices\)/],
  ["Read", { file_path: "src" }, /src is a folder:\ntotal\.js/],
  ["Read", { file_path: "total.js" }, /did you mean src\/total\.js/],
  ["Write", { file_path: "src/new.js", content: "export {};\n" }, /created src\/new\.js/],
  ["Bash", { command: "echo hello", description: "Says hello", timeout: 120000 }, /hello/],
  ["git", { command: "log", args: "--oneline -3" }, /Begin/],
  ["git", { command: "git status --short" }, /new\.js/],
  [
    "TodoWrite",
    { todos: [{ content: "Fix it", status: "completed", activeForm: "Fixing it", id: 1 }] },
    /\[x\] Fix it/,
  ],
  ["WebSearch", { query: "total", num_results: "3" }, /./],
  ["todo", { items: "[]" }, /./],
  ["Read", { file_path: "src/total.js", offset: 0 }, /1\texport/],
  ["Bash", { command: ["bash", "-lc", "echo listed"], run_in_background: false, timeout: "5000" }, /listed/],
  ["git", { args: "--oneline -3" }, /Begin/],
  ["git", { args: "status --short" }, /new\.js/],
  ["test", { command: "npm test", timeout: 60000 }, /1 passed|passed/],
  [
    "TodoWrite",
    {
      todos: [
        { content: "Left out", status: "cancelled" },
        { content: "Kept", status: "pending" },
      ],
    },
    /^TodoWrite: (?!.*Left out)[\s\S]*Kept/,
  ],
];

test.runIf(hasSandbox)(
  "the words that models know from elsewhere are understood, none is refused",
  async () => {
    await using t = await builtInRuntime(SHOP, {
      main: [callTools(WORDS.map(([tool, input]) => ({ tool, input }))), say("done")],
    });
    await t.runtime.run({ agent: "main", task: "go" });
    const answers = toolResults(t.models.main, 1);
    const refused = answers.filter((text) => /invalid input|there is no tool|permission denied/.test(text));
    expect(refused).toEqual([]);
    for (const [index, [tool, , answer]] of WORDS.entries())
      expect(`${tool}: ${answers[index]}`).toMatch(answer);
    // What was called is recorded, counted and judged under our own names.
    const calls = t.events.flatMap((event) => (event.type === "call.started" ? [event.tool] : []));
    expect(new Set(calls)).toEqual(
      new Set(["read", "grep", "glob", "ls", "edit", "write", "shell", "git", "todo", "test", "web_search"]),
    );
  },
);

test("a delegation in the words of Claude Code, of roles, and of batches without ids reaches the agent", async () => {
  const { runtime, models, close } = testRuntime({
    lead: [
      callTool("Task", { description: "short", subagent_type: "kid", prompt: "one", model: "sonnet" }),
      callTool("delegate_to_agent", { role: "kid", task: "two", success_criteria: "it is said" }),
      callTool("delegate_many", {
        tasks: [
          { agent: "kid", prompt: "three" },
          { subagent_type: "kid", task: "four" },
        ],
      }),
      say("done"),
    ],
    kid: { eachRun: [say("ok")] },
  });
  const result = await runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  const tasks = models.kid?.requests.map(({ prompt }) => JSON.stringify(prompt[1]));
  expect(tasks).toHaveLength(4);
  for (const [index, word] of ["one", "two", "three", "four"].entries())
    expect(tasks?.[index]).toContain(word);
  expect(toolResults(models.lead, 1)[0]).toContain("not known here, and ignored: model");
  expect(toolResults(models.lead, 3)[0]).toContain("task-2");
  await close();
});

test("a task without an agent goes to general-purpose, and where that is not allowed the agents are named", async () => {
  const calls = [
    { tool: "Task", input: { description: "short", prompt: "one" } },
    { tool: "delegate_many", input: { tasks: [{ prompt: "two" }] } },
  ];
  const rights = { allow: ["kid"], deny: ["general-purpose"] };
  const open = testRuntime(
    {
      lead: ({ task, turn }) => (task.includes("go") && turn === 0 ? callTools(calls) : say("done")),
      kid: [],
    },
    { agents: { lead: { subagents: { allow: ["kid"] } } } },
  );
  await open.runtime.run({ agent: "lead", task: "go" });
  const begun = open.events.flatMap((event) => (event.type === "run.started" ? [event.agent] : []));
  expect(begun).toEqual(["lead", "general-purpose", "general-purpose"]);
  await open.close();
  const narrow = testRuntime(
    { lead: [callTools(calls), say("done")], kid: [] },
    { agents: { lead: { subagents: rights } } },
  );
  await narrow.runtime.run({ agent: "lead", task: "go" });
  for (const text of toolResults(narrow.models.lead, 1))
    expect(text).toContain('"message":"agent is missing; available: kid"');
  await narrow.close();
});

const seen: unknown[] = [];
const odd = defineTool<Record<string, unknown>>({
  name: "odd",
  description: "odd",
  risk: "medium",
  input: {
    type: "object",
    properties: {
      count: { type: "integer" },
      isOn: { type: "boolean" },
      names: { type: "array", items: { type: "string" } },
      label: { type: "string" },
      mode: { type: "string", enum: ["fast", "slow"] },
      inner: { type: "object", properties: { maxSize: { type: "number" } }, additionalProperties: false },
    },
    required: ["count"],
    additionalProperties: false,
  },
  execute: async (input) => {
    seen.push(input);
    return "ok";
  },
});

test.each([
  [{ count: "5" }, { count: 5 }],
  [
    { count: 5, is_on: "true", names: "a" },
    { count: 5, isOn: true, names: ["a"] },
  ],
  [
    { count: 5, names: '["a", "b"]', label: ["x"] },
    { count: 5, names: ["a", "b"], label: "x" },
  ],
  [
    { count: 5, label: null, mode: "FAST" },
    { count: 5, mode: "fast" },
  ],
  [
    { count: 5, inner: '{"max_size": "7"}', reason: "because" },
    { count: 5, inner: { maxSize: 7 } },
  ],
  [
    { count: 5, label: 7, names: [] },
    { count: 5, label: "7", names: [] },
  ],
])("%j is taken for %j", async (written, taken) => {
  seen.length = 0;
  const { runtime, close } = testRuntime({ lead: [callTool("odd", written), say("done")] }, { tools: [odd] });
  await runtime.run({ agent: "lead", task: "go" });
  expect(seen).toEqual([taken]);
  await close();
});

test.each([
  [{ count: "five" }, "count"],
  [{ count: 5, dry_run: true }, "dry_run is not known here"],
  [{ count: 5, mode: "medium" }, "mode"],
])("%j is refused, with the shape that is expected, once", async (written, why) => {
  seen.length = 0;
  const { runtime, models, close } = testRuntime(
    { lead: [callTool("odd", written), say("done")] },
    { tools: [odd] },
  );
  await runtime.run({ agent: "lead", task: "go" });
  expect(seen).toEqual([]);
  const [text = ""] = toolResults(models.lead, 1);
  expect(text).toContain(why);
  expect(text).toContain(
    'it takes {count: whole number, isOn?: true|false, names?: [text], label?: text, mode?: "fast"|"slow"',
  );
  expect(text.split("it takes")).toHaveLength(2);
  await close();
});

test.runIf(hasSandbox)("a fault is told in the words that the caller used", async () => {
  const calls: readonly [tool: string, input: object, fault: string][] = [
    [
      "Edit",
      { file_path: "src/total.js", old_string: "x" },
      "new_string is missing; it takes {file_path: text, edits: [{old_string: text, new_string: text, all?: true|false}]}",
    ],
    ["str_replace", { path: "a", old_str: "x" }, "there is no tool"],
    ["edit", { path: "src/total.js", new_str: "x" }, "old_str is missing; it takes {path: text, edits"],
    [
      "edit",
      { path: "src/total.js", old: "x" },
      "new is missing; it takes {path: text, edits: [{old: text, new",
    ],
    [
      "MultiEdit",
      { file_path: "a", edits: [{ old_string: "x" }] },
      "edits.0.new_string is missing; it takes {file_path: text",
    ],
    ["Write", { file_path: "a" }, "content is missing; it takes {file_path: text, content: text}"],
    [
      "NotebookEdit",
      { notebook_path: "a.ipynb", new_source: "x" },
      "new_source is not known here; it takes {notebook_path: text, edits: [{",
    ],
    [
      "Read",
      { file_paths: ["a", "b"] },
      "file_paths: it takes one, not a list; make one call for each, all in one reply; it takes {file_paths: text",
    ],
    ["git", { command: "push" }, 'command: it is none of its values; it takes {command: "status"|'],
    [
      "Grep",
      { pattern: "x", output_mode: "everything" },
      'output_mode: it is none of its values; it takes {pattern: text, path?: text, glob?: text, output_mode?: "lines"|"files"|"count"',
    ],
    [
      "Edit",
      { file_path: "src/total.js", old_string: "no such text", new_string: "x" },
      "src/total.js was not changed: the text to replace does not occur in the file;",
    ],
  ];
  await using t = await builtInRuntime(SHOP, {
    main: [
      callTool("Read", { file_path: "src/total.js" }),
      callTools(calls.map(([tool, input]) => ({ tool, input }))),
      say("done"),
    ],
  });
  await t.runtime.run({ agent: "main", task: "go" });
  for (const [index, text] of toolResults(t.models.main, 2).entries()) {
    expect(text).toContain(calls[index]?.[2]);
    expect(text.split('"status"|').length).toBeLessThan(3);
  }
});

test("eight tasks with the same fault are one sentence, and an unknown name gets the nearest of those the run has", async () => {
  const { runtime, models, close } = testRuntime(
    {
      lead: [
        callTool("delegate_many", { tasks: Array.from({ length: 8 }, () => ({ agent: "kid" })) }),
        callTools([
          { tool: "lok", input: {} },
          { tool: "Bash", input: { command: "ls" } },
          { tool: "BASH", input: { command: "ls" } },
          { tool: "look\u200b", input: {} },
        ]),
        say("done"),
      ],
      kid: [],
    },
    { tools: [defineTool({ ...odd, name: "look" } as never)] },
  );
  await runtime.run({ agent: "lead", task: "go" });
  const [batch = ""] = toolResults(models.lead, 1);
  expect(batch).toContain("(and in 7 more)");
  expect(batch.match(/is missing/g)).toHaveLength(1);
  expect(batch.length).toBeLessThan(900);
  const [near = "", shell = "", loud = "", hidden = ""] = toolResults(models.lead, 2);
  expect(near).toBe("there is no tool 'lok'; did you mean 'look'? available: look, delegate, delegate_many");
  for (const text of [shell, loud, hidden]) expect(text).toContain("there is no tool");
  await close();
});
