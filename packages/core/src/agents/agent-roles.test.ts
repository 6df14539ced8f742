import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAgentRoles } from "./agent-roles.ts";
import { createRegistry } from "./registry.ts";

const folder = join(import.meta.dirname, "../../../../test/fixtures/agents/roles");
const folders = [folder];
const preset = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, "appsettings.json"), "utf8"));
const one = (role: object) => ({ DefaultMaxIterations: 20, DefaultMaxDurationMs: 300_000, Roles: [role] });

test("the six roles load with their models, limits and delegation rights", async () => {
  const { agents, settings, problems } = await parseAgentRoles(await preset(), { folders });
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
  const { agents } = await parseAgentRoles(one(role), { folders });
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
  const { agents } = await parseAgentRoles(one(role), { folders });
  expect(agents[0]?.subagents).toBeUndefined();
});

test.each([
  ["prompts/roles/none.md", "missing-prompt-file"],
  ["../../../../package.json", "prompt-file-outside"],
  ["/etc/hostname", "prompt-file-outside"],
  ["prompts/roles/../../../x.md", "prompt-file-outside"],
  ["..\\..\\x.md", "prompt-file-outside"],
  ["appsettings.json", "prompt-file-kind"],
  [undefined, "missing-prompt-file"],
])("the prompt file %s is a problem and the other roles still load", async (file, code) => {
  const roles = {
    Roles: [
      { RoleId: "bad", SystemPromptFile: file },
      { RoleId: "ok", SystemPromptFile: "prompts/roles/main.md" },
    ],
  };
  const { agents, problems } = await parseAgentRoles(roles, { folders });
  expect(agents.map((agent) => agent.name)).toEqual(["ok"]);
  expect(problems.map((problem) => problem.code)).toEqual([code]);
});

test("a value of another shape is an error, never a throw", async () => {
  for (const value of [null, 5, [], {}, { AgentRoles: { Roles: 3 } }]) {
    const { agents, problems } = await parseAgentRoles(value, { folders });
    expect(agents).toEqual([]);
    expect(problems.at(-1)?.severity).toBe("error");
  }
});

test("a file that is nowhere is the built-in one of its name, and only below prompts/roles", async () => {
  const builtinDir = join(import.meta.dirname, "../../../..");
  const role = (RoleId: string, SystemPromptFile: string) => ({ RoleId, SystemPromptFile });
  const { agents, unusable } = await parseAgentRoles(
    {
      Roles: [
        role("coder", "prompts\\roles\\coder.md"),
        role("a", "agents/coder.md"),
        role("b", "README.md"),
      ],
    },
    { folders: [join(folder, "none")], builtinDir },
  );
  expect(agents.map(({ name, source }) => [name, source.promptFile])).toEqual([["coder", undefined]]);
  expect(agents[0]?.prompt).toContain("You write and change code");
  expect(unusable.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("what a role may pass on is what it and those it may call hold, and general-purpose must be listed", async () => {
  const file = { SystemPromptFile: "prompts/roles/main.md" };
  const { agents } = await parseAgentRoles(
    {
      Roles: [
        { ...file, RoleId: "lead", AllowedDelegations: ["maker", "general-purpose"] },
        { ...file, RoleId: "maker", AllowedTools: ["write"], AllowedDelegations: ["runner"] },
        { ...file, RoleId: "runner", AllowedTools: ["shell"] },
      ],
    },
    { folders },
  );
  expect(agents.map(({ grants, subagents }) => [grants, subagents?.deny])).toEqual([
    [["read", "ls", "glob", "grep", "write", "shell"], []],
    [["write", "shell"], ["general-purpose"]],
    [undefined, undefined],
  ]);
});

test.each([
  ["MaxIterations", [0, -1, 1.5, "30", Number.NaN, 1e308, [], true, null]],
  ["MaxDurationMs", [0, -1, "1", Number.POSITIVE_INFINITY, 1e308, {}, null]],
])("a role with a %s that is no limit cannot be used", async (key, values) => {
  for (const value of values) {
    const role = { RoleId: "coder", SystemPromptFile: "prompts/roles/coder.md", [key]: value };
    const { agents, unusable, problems } = await parseAgentRoles(one(role), { folders });
    expect([agents, unusable]).toMatchObject([[], [{ name: "coder" }]]);
    const told = expect.stringMatching(new RegExp(`${key} is .*; the role cannot be used$`));
    expect(problems).toMatchObject([{ severity: "error", message: told }]);
    const top = await parseAgentRoles({ [`Default${key}`]: value, Roles: [] }, { folders });
    expect(top.problems[0]?.message).toMatch(/; nothing runs until then$/);
    expect(top.problems.at(-1)).toMatchObject({ severity: "error", code: "bad-setting" });
  }
});

test.each([null, -1, 1.5, "3"])("a MaxDepth of %j is an error, and nothing runs", async (MaxDepth) => {
  const { problems } = await parseAgentRoles({ MaxDepth, Roles: [] }, { folders });
  expect(problems[0]?.message).toMatch(/^MaxDepth is .*; nothing runs until then$/);
  expect(problems.at(-1)).toMatchObject({ severity: "error", code: "bad-setting" });
});

test("of two roles with one id the first is used, and the second is told of", async () => {
  const role = { RoleId: "coder", SystemPromptFile: "prompts/roles/coder.md" };
  const { agents, problems } = await parseAgentRoles(
    { Roles: [role, { ...role, RoleId: "Coder", DisplayName: "Other" }] },
    { folders },
  );
  expect(agents.map(({ displayName }) => displayName)).toEqual(["coder"]);
  expect(problems).toMatchObject([{ code: "duplicate-role" }]);
});
