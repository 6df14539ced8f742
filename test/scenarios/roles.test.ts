import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadProject } from "@retinue/builtin/load-project";
import { decide } from "@retinue/core/rights/decide";
import { childChain, toolsLayer } from "@retinue/core/rights/layers";
import { protectedLayer } from "@retinue/core/rights/protected-layer";
import type { Agent } from "@retinue/core/schema/agent";
import type { Layer } from "@retinue/core/schema/rights";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { registry, problems } = await loadProject({
  projectDir: fileURLToPath(new URL("../fixtures", import.meta.url)),
  env: { HOME: "/nonexistent", RETINUE_HOME: "/nonexistent/data" },
});
const named = (name: string): Agent => {
  const agent = registry.get(name);
  if (!agent) throw new Error(registry.unknownAgentMessage(name));
  return agent;
};
const folders = { dataDir: "/data", configDir: "/config", homeDir: "/home/me" };

/** The rights of a run whose ancestors are these agents, root first. */
function chainOf(...names: readonly string[]): readonly Layer[] {
  const [first = "", ...rest] = names.map(named);
  if (typeof first === "string") return [];
  let chain: readonly Layer[] = [protectedLayer(folders), toolsLayer(first)];
  let parent = first;
  for (const child of rest) {
    chain = childChain(chain, { parent, child, narrowing: undefined, home: folders.homeDir });
    parent = child;
  }
  return chain;
}

function mayWrite(chain: readonly Layer[], path: string, tool = "write"): string {
  const target = {
    kind: "path",
    path: `/project/${path}`,
    root: "project",
    relative: path,
    mode: "write",
  } as const;
  return decide(chain, { tool, groups: ["filesystem"], targets: [target] }).verdict;
}

const mayUse = (chain: readonly Layer[], tool: string) =>
  decide(chain, { tool, groups: [], targets: [] }).verdict;
const mayDelegate = (chain: readonly Layer[], agent: string) =>
  decide(chain, { tool: "delegate", groups: ["delegation"], targets: [{ kind: "agent", agent }] }).verdict;

test("the built-in agents load without a problem", () => {
  expect(problems).toEqual([]);
  expect(registry.list().every(({ model }) => model === "inherit")).toBe(true);
});

test.each([
  ["main", 50, undefined, undefined, 10],
  ["researcher", 20, 15, 50_000, 5],
  ["planner", 15, 10, 30_000, 3],
  ["coder", 30, 30, 80_000, 5],
  ["tester", 20, 20, 50_000, 3],
  ["reviewer", 10, 15, 50_000, 2],
  ["debugger", 25, 25, 50_000, 4],
  ["assistant", 10, undefined, undefined, 10],
  ["email", 6, 12, 400_000, 3],
  ["calendar", 6, 12, 400_000, 3],
  ["contacts", 6, 12, 400_000, 3],
  ["slack", 6, 12, 400_000, 3],
])(
  "%s has %s turns, %s tool calls, %s characters and %s minutes",
  (name, turns, toolCalls, contextChars, minutes) => {
    const { limits } = named(name);
    expect([limits.turns, limits.toolCalls, limits.contextChars, limits.minutes]).toEqual([
      turns,
      toolCalls,
      contextChars,
      minutes,
    ]);
  },
);

test("executor is the coder", () => {
  expect(named("executor").name).toBe("coder");
});

test.each([
  [
    "main",
    [
      "assistant",
      "calendar",
      "coder",
      "contacts",
      "debugger",
      "email",
      "general-purpose",
      "planner",
      "report-creation-expert",
      "researcher",
      "reviewer",
      "slack",
      "tester",
    ],
  ],
  ["assistant", ["calendar", "contacts", "email", "slack"]],
  ["email", []],
  ["calendar", []],
  ["contacts", []],
  ["slack", []],
  ["coder", ["reviewer", "tester"]],
  ["tester", ["reviewer"]],
  ["planner", []],
  ["researcher", []],
  ["reviewer", []],
  ["debugger", []],
])("%s may delegate to %j and to nobody else", (name, allowed) => {
  const all = [...registry.list().map((agent) => agent.name), "general-purpose"].filter(
    (each) => each !== name,
  );
  const chain = chainOf(name);
  expect(all.filter((each) => mayDelegate(chain, each) === "allow").sort()).toEqual(allowed);
});

const WHERE_TESTS_LIVE = [
  "test/sum.test.js",
  "tests/unit/deep/sum.py",
  "test_sum.py",
  "pkg/sum_test.go",
  "src/sum.test.ts",
  "src/ui/button.spec.tsx",
  "src/ui/__tests__/button.tsx",
  "packages/a/test/helper.ts",
  "spec/models/user_spec.rb",
  "src/test/java/SumTest.java",
];
const ELSEWHERE = [
  "src/sum.js",
  "src/testing/index.ts",
  "src/latest.ts",
  "contest.py",
  "package.json",
  "node_modules/left-pad/test/index.js",
  ".git/refs/heads/test/x",
  ".retinue/agents/test/evil.md",
  ".claude/agents/evil.test.md",
];

test.each(["write", "edit"])(
  "the tester may %s where tests live and nowhere else, also below the coder",
  (tool) => {
    for (const chain of [chainOf("tester"), chainOf("main", "tester"), chainOf("main", "coder", "tester")]) {
      expect(WHERE_TESTS_LIVE.filter((path) => mayWrite(chain, path, tool) !== "allow")).toEqual([]);
      expect(ELSEWHERE.filter((path) => mayWrite(chain, path, tool) !== "deny")).toEqual([]);
    }
  },
);

test.each(["researcher", "planner", "reviewer", "debugger"])("the %s can write nothing", (name) => {
  for (const chain of [chainOf(name), chainOf("main", name)])
    for (const path of [...WHERE_TESTS_LIVE, ...ELSEWHERE]) expect(mayWrite(chain, path)).toBe("deny");
  for (const tool of ["edit", "git_commit"]) expect(mayUse(chainOf(name), tool)).toBe("deny");
});

test.each(["researcher", "planner"])("the %s has no shell", (name) => {
  expect(mayUse(chainOf("main", name), "shell")).toBe("deny");
});

test("a reviewer has all of its tools no matter who called it", () => {
  const own = named("reviewer").tools ?? [];
  for (const chain of [
    chainOf("main", "reviewer"),
    chainOf("main", "coder", "reviewer"),
    chainOf("main", "coder", "tester", "reviewer"),
  ])
    expect(own.filter((tool) => mayUse(chain, tool) !== "allow")).toEqual([]);
});

test("the prompts say what a sub-agent must know: how to work and what to report", () => {
  for (const agent of registry.list().filter(({ name }) => name !== "main")) {
    expect(agent.prompt.length, agent.name).toBeGreaterThan(600);
    expect(agent.prompt, agent.name).toMatch(/report|answer in exactly that\s+form/i);
  }
  const { prompt } = named("main");
  for (const words of ["When to delegate", "Do it yourself if"]) expect(prompt).toContain(words);
});

test("the table in docs/roles.md is that of the files", () => {
  const written = readFileSync(`${root}docs/roles.md`, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `") && line.split(" | ").length === 8);
  expect(written).toEqual(registry.list().map(rowOf));
});

function rowOf({ name, aliases, tools = [], limits, subagents }: Agent): string {
  const number = (value: number | undefined) => (value === undefined ? "–" : String(value));
  const patterned = [
    ...new Set(tools.map((tool) => (tool.includes("(") ? `${tool.split("(")[0]} (tests only)` : tool))),
  ];
  const delegates = subagents ? subagents.allow.join(", ").replace("*", "all") : "nobody";
  const cells = [
    `\`${name}\``,
    aliases.join(", ") || "–",
    patterned.join(", "),
    number(limits.turns),
    number(limits.toolCalls),
    number(limits.contextChars),
    number(limits.minutes),
    delegates,
  ];
  return `| ${cells.join(" | ")} |`;
}
