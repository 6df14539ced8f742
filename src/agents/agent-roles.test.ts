import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAgentRoles } from "./agent-roles.ts";
import { createRegistry } from "./registry.ts";

const baseDir = join(import.meta.dirname, "../../test/fixtures/agents/roles");
const preset = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(baseDir, "appsettings.json"), "utf8"));
const one = (role: object) => ({ DefaultMaxIterations: 20, DefaultMaxDurationMs: 300_000, Roles: [role] });

test("the six roles load with their models, limits and delegation rights", async () => {
  const { agents, settings, problems } = await parseAgentRoles(await preset(), { baseDir });
  expect(problems).toEqual([]);
  expect(settings).toEqual({ maxDepth: 2, defaultLimits: { turns: 20, minutes: 5 } });
  const rows = agents.map(({ name, model, limits, subagents }) => [
    name,
    model,
    limits.turns,
    limits.minutes,
    subagents?.allow,
  ]);
  expect(rows).toEqual([
    ["main", "qwen/qwen3-coder-30b", 50, 10, ["planner", "coder", "tester", "reviewer", "debugger"]],
    ["coder", "qwen/qwen3-coder-30b", 30, 5, ["tester"]],
    ["tester", "deepseek-chat", 20, 3, undefined],
    ["reviewer", "anthropic/claude-opus-4.5", 10, 2, undefined],
    ["planner", "deepseek-reasoner", 15, 3, ["coder", "tester", "reviewer"]],
    ["debugger", "qwen/qwen3-coder-30b", 25, 4, undefined],
  ]);
  expect(agents[3]).toMatchObject({
    displayName: "Code Reviewer",
    prompt: "# reviewer\n\nYou are the reviewer of a team.",
  });
  expect(createRegistry({ agents }).problems).toEqual([]);
});

test("what a role leaves out comes from the defaults", async () => {
  const role = {
    RoleId: "coder",
    SystemPromptFile: "prompts/roles/coder.md",
    AllowedTools: ["Read", "Bash"],
  };
  const { agents } = await parseAgentRoles(one(role), { baseDir });
  expect(agents[0]).toMatchObject({
    limits: { turns: 20, minutes: 5 },
    tools: ["read", "shell"],
    model: "inherit",
  });
});

test("CanDelegate false wins over a list of roles", async () => {
  const role = {
    RoleId: "coder",
    SystemPromptFile: "prompts/roles/coder.md",
    CanDelegate: false,
    AllowedDelegations: ["main"],
  };
  const { agents } = await parseAgentRoles(one(role), { baseDir });
  expect(agents[0]?.subagents).toBeUndefined();
});

test.each([
  ["prompts/roles/none.md", "missing-prompt-file"],
  ["../../../../package.json", "prompt-file-outside"],
  ["/etc/hostname", "prompt-file-outside"],
  [undefined, "missing-prompt-file"],
])("the prompt file %s is a problem and the other roles still load", async (file, code) => {
  const roles = {
    Roles: [
      { RoleId: "bad", SystemPromptFile: file },
      { RoleId: "ok", SystemPromptFile: "prompts/roles/main.md" },
    ],
  };
  const { agents, problems } = await parseAgentRoles(roles, { baseDir });
  expect(agents.map((agent) => agent.name)).toEqual(["ok"]);
  expect(problems.map((problem) => problem.code)).toEqual([code]);
});

test("a value of another shape is an error, never a throw", async () => {
  for (const value of [null, 5, [], {}, { AgentRoles: { Roles: 3 } }]) {
    const { agents, problems } = await parseAgentRoles(value, { baseDir });
    expect(agents).toEqual([]);
    expect(problems.at(-1)?.severity).toBe("error");
  }
});
