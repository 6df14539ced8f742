import { callDelegate, callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { builtInRuntime } from "../fixtures/built-in-runtime.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { toolResults } from "../fixtures/tool-results.ts";

const suite = (...names: string[]) =>
  `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/total.js";\n${names.map((name) => `test("${name}", () => assert.equal(total([1, 2]), 3));\n`).join("")}`;
const SHOP = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test" } }),
  "src/total.js":
    "export function total(prices) {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
  "test/total.test.js": suite("adds"),
};

test.runIf(hasSandbox)(
  "in one turn a coder edits, looks at the change and searches, and each call sees the one before",
  async () => {
    await using t = await builtInRuntime(SHOP, {
      main: [callDelegate("coder", "rename the parameter"), say("done")],
      coder: [
        callTool("read", { path: "src/total.js" }),
        callTools([
          { tool: "edit", input: { path: "src/total.js", edits: [{ old: "(prices)", new: "(amounts)" }] } },
          { tool: "git_diff", input: {} },
          { tool: "grep", input: { pattern: "amounts" } },
          { tool: "shell", input: { command: "sed -i s/prices.reduce/amounts.reduce/ src/total.js" } },
          { tool: "read", input: { path: "src/total.js" } },
        ]),
        say("renamed"),
      ],
    });
    await t.runtime.run({ agent: "main", task: "go" });
    const [edited, diff, found, , read] = toolResults(t.models.coder, 2);
    expect(edited).toContain("src/total.js");
    expect(diff).toContain("+export function total(amounts)");
    expect(found).toContain("src/total.js:1");
    expect(read).toContain("amounts.reduce");
  },
);

test.runIf(hasSandbox)(
  "in one turn a coder writes a test file and runs it, adds tests and runs them, and commits: the counts are the new ones",
  async () => {
    await using t = await builtInRuntime(SHOP, {
      main: [callDelegate("coder", "test it"), say("done")],
      coder: [
        callTools([
          { tool: "write", input: { path: "test/more.test.js", content: suite("more") } },
          { tool: "test", input: { path: "test/more.test.js" } },
          { tool: "read", input: { path: "test/total.test.js" } },
        ]),
        callTools([
          {
            tool: "edit",
            input: {
              path: "test/total.test.js",
              edits: [{ old: suite("adds"), new: suite("adds", "b", "c", "d") }],
            },
          },
          { tool: "test", input: {} },
          {
            tool: "git_commit",
            input: { message: "More tests", paths: ["test/total.test.js", "test/more.test.js"] },
          },
          { tool: "git", input: { command: "status" } },
        ]),
        say("tested"),
      ],
    });
    await t.runtime.run({ agent: "main", task: "go" });
    expect(toolResults(t.models.coder, 1)[1]).toMatch(/1 (run|passed)/);
    const [, tested, , status] = toolResults(t.models.coder, 2);
    expect(tested).toMatch(/5 (run|passed)/);
    expect(status).not.toContain("total.test.js");
  },
);

/** Tools that note when they begin and end; the run's own tools of the same kinds are judged by the same words. */
function notingTools() {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const noting = (name: string, risk: "low" | "medium") =>
    defineTool<{ id: string }>({
      name,
      description: name,
      risk,
      replay: "safe",
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      async execute({ id }) {
        log.push(`${id} begins`);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        log.push(`${id} ends`);
        return id;
      },
    });
  return { tools: [noting("look", "low"), noting("change", "medium")], log, most: () => most };
}

test("neighbouring reads run together, and a call that may change something runs alone, in the order of the calls", async () => {
  const { tools, log, most } = notingTools();
  const call = (tool: string, id: string) => ({ tool, input: { id } });
  const { runtime, close } = testRuntime(
    {
      lead: [
        callTools([
          call("look", "a"),
          call("look", "b"),
          call("change", "c"),
          call("change", "d"),
          call("nosuch", "x"),
          call("look", "e"),
          call("look", "f"),
        ]),
        say("done"),
      ],
    },
    { tools },
  );
  await runtime.run({ agent: "lead", task: "go" });
  expect(log).toEqual([
    "a begins",
    "b begins",
    "a ends",
    "b ends",
    "c begins",
    "c ends",
    "d begins",
    "d ends",
    "e begins",
    "f begins",
    "e ends",
    "f ends",
  ]);
  expect(most()).toBe(2);
  await close();
});

test("delegations of one turn run at once, after a change before them and before a change behind them", async () => {
  const { tools, log } = notingTools();
  const task = (id: string) => ({ tool: "delegate", input: { agent: "kid", task: id } });
  const { runtime, close } = testRuntime(
    {
      lead: [
        callTools([
          { tool: "change", input: { id: "before" } },
          task("one"),
          task("two"),
          { tool: "change", input: { id: "after" } },
        ]),
        say("done"),
      ],
      kid: (request) => (request.turn === 0 ? callTool("look", { id: request.task.slice(0, 3) }) : say("ok")),
    },
    { tools },
  );
  await runtime.run({ agent: "lead", task: "go" });
  expect(log.slice(0, 2)).toEqual(["before begins", "before ends"]);
  expect(log.slice(2, 6).toSorted()).toEqual(["one begins", "one ends", "two begins", "two ends"]);
  expect(log.slice(6)).toEqual(["after begins", "after ends"]);
  await close();
});

test("a run that is stopped in the middle of a turn begins none of the calls behind", async () => {
  const { tools, log } = notingTools();
  const stop = defineTool({
    name: "stop",
    description: "stops",
    risk: "medium",
    input: { type: "object" },
    execute: async (_, { sessionId }) => {
      t.runtime.cancel(sessionId);
      return "stopped";
    },
  });
  const t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "stop", input: {} },
          { tool: "change", input: { id: "never" } },
        ]),
      ],
    },
    { tools: [...tools, stop] },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("cancelled");
  expect(log).toEqual([]);
  await t.close();
});

test.runIf(hasSandbox)(
  "a commit behind an edit that failed is not made and says so; what only looks goes on",
  async () => {
    await using t = await builtInRuntime(SHOP, {
      main: [callDelegate("coder", "rename"), say("done")],
      coder: [
        callTool("read", { path: "src/total.js" }),
        callTools([
          { tool: "write", input: { path: "src/new.js", content: "export {};\n" } },
          { tool: "shell", input: { command: "false" } },
          { tool: "git_commit", input: { message: "New", paths: ["src/new.js"] } },
          { tool: "edit", input: { path: "src/total.js", edits: [{ old: "no such text", new: "x" }] } },
          { tool: "read", input: { path: "src/new.js" } },
          { tool: "edit", input: { path: "src/total.js", edits: [{ old: "(prices)", new: "(list)" }] } },
          { tool: "git_commit", input: { message: "Rename", paths: ["src/total.js"] } },
          { tool: "git", input: { command: "log", args: ["--format=%s"] } },
        ]),
        callTool("git_commit", { message: "Rename", paths: ["src/total.js"] }),
        say("renamed"),
      ],
    });
    await t.runtime.run({ agent: "main", task: "go" });
    const [, , made, failed, read, edited, held, log] = toolResults(t.models.coder, 2);
    expect(made).toContain("committed");
    expect(failed).toContain("src/total.js was not changed");
    expect(read).toContain("export {}");
    expect(edited).toContain("modified src/total.js");
    expect(held).toContain(
      "'git_commit' was not called: before it in the same reply 'edit' failed (src/total.js was not changed: the text to replace",
    );
    expect(held).toContain("call it again if that is still meant");
    expect(log).toBe("New\nBegin\n");
    expect(toolResults(t.models.coder, 3)[0]).toContain("committed");
  },
);

test.each([
  ["an edit with a wrong input", { tool: "change", input: {} }],
  ["an edit that a rule denies", { tool: "change", input: { id: "denied" } }],
  ["an edit that fails", { tool: "change", input: { id: "fails" } }],
])("behind %s nothing is sent, and a draft that reaches nobody is made", async (_, first) => {
  const sent: string[] = [];
  const shared = {
    description: "x",
    risk: "medium",
    input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  } as const;
  const tools = [
    defineTool<{ id: string }>({
      ...shared,
      name: "change",
      access: ({ id }) => [{ kind: "path", path: `/${id}`, root: "project", relative: id, mode: "write" }],
      execute: async ({ id }) => ({ text: id, isError: id === "fails" }),
    }),
    defineTool<{ id: string }>({
      ...shared,
      name: "send",
      outbound: ({ id }) => id !== "draft",
      execute: async ({ id }) => {
        sent.push(id);
        return "sent";
      },
    }),
  ];
  const { runtime, models, close } = testRuntime(
    {
      lead: [
        callTools([
          { tool: "send", input: { id: "before" } },
          first,
          { tool: "send", input: { id: "draft" } },
          { tool: "send", input: { id: "behind" } },
        ]),
        callTool("send", { id: "again" }),
        say("done"),
      ],
    },
    {
      tools,
      agents: { lead: { tools: ["send", "change"], disallowedTools: ["change(denied)"] } },
      settings: { trustedProjects: ["/"] },
    },
  );
  await runtime.run({ agent: "lead", task: "go" });
  expect(sent).toEqual(["before", "draft", "again"]);
  expect(toolResults(models.lead, 1)[3]).toMatch(/^'send' was not called: .* 'change' failed \(/);
  await close();
});
