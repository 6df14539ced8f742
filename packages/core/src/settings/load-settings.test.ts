import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Settings, ShellSettings } from "../schema/settings.ts";
import { type LoadedSettings, loadSettings } from "./load-settings.ts";
import { narrowSettings } from "./narrow-settings.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-settings-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, value: unknown): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value, null, 2));
}
const writeUser = (value: unknown) => write("config/settings.json", value);
const writeProject = (value: unknown) => write("project/.retinue/settings.json", value);
const load = (defaults = {}): Promise<LoadedSettings> =>
  loadSettings({ projectDir: join(root, "project"), configDir: join(root, "config"), defaults });

test("without files the defaults hold", async () => {
  expect(await load({ maxDepth: 3 })).toEqual({
    settings: { maxDepth: 3 },
    agentRoles: [],
    agents: [],
    switchedOff: [],
    problems: [],
  });
});

test("the user's file may set everything, each section key by key", async () => {
  writeUser({
    model: "local/m",
    providers: { local: { kind: "openai-compatible", baseUrl: "http://localhost:1", apiKey: "k" } },
    permissions: { deny: ["shell"] },
    limits: { turns: 50 },
    watchdog: { idleMs: 5 },
    maxDepth: 9,
  });
  const defaults = {
    permissions: { ask: ["write"], deny: [] },
    limits: { turns: 20, minutes: 5 },
    watchdog: { firstTokenMs: 1, idleMs: 2 },
    maxDepth: 3,
  };
  const { settings, problems } = await load(defaults);
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    model: "local/m",
    permissions: { ask: ["write"], deny: ["shell"] },
    limits: { turns: 50, minutes: 5 },
    watchdog: { firstTokenMs: 1, idleMs: 5 },
    maxDepth: 9,
  });
});

test("a project adds denials and asks, switches agents off and lowers limits", async () => {
  writeUser({
    permissions: { allow: ["read"], ask: ["a"], deny: ["b"] },
    disabledAgents: ["x"],
    maxDepth: 2,
  });
  writeProject({
    permissions: { ask: ["c"], deny: ["d"] },
    disabledAgents: ["x", "y"],
    limits: { turns: 5, minutes: 60, costUsd: 1, perTool: { grep: 3 } },
    maxDepth: 7,
    maxAgents: 4,
  });
  const { settings, problems } = await load({ limits: { turns: 20, minutes: 5 }, maxAgents: 1000 });
  expect(problems).toEqual([]);
  expect(settings).toEqual({
    permissions: { allow: ["read"], ask: ["a", "c"], deny: ["b", "d"] },
    disabledAgents: ["x", "y"],
    limits: { turns: 5, minutes: 5, costUsd: 1, perTool: { grep: 3 } },
    maxDepth: 2,
    maxAgents: 4,
  });
});

test("of limits by tool a project may lower each and add some, and raises none", async () => {
  writeUser({ limits: { perTool: { grep: 2, read: 9, ls: 7 } } });
  writeProject({ limits: { perTool: { grep: 3, read: 4, glob: 1 } } });
  const { settings, problems } = await load({});
  expect(problems).toEqual([]);
  expect(settings.limits).toEqual({ perTool: { grep: 2, read: 4, ls: 7, glob: 1 } });
});

test("whatever else a project says is ignored, and a secret in it is named but never shown", async () => {
  const secret = "sk-canary-0123456789";
  writeProject({
    model: "evil/model",
    aliases: { smart: "evil/model" },
    providers: {
      p: { kind: "anthropic", apiKey: secret, apiKeyEnv: "NAME", headers: { Authorization: secret } },
    },
    permissions: { allow: ["*"] },
    store: { synchronous: "FULL" },
    watchdog: { idleMs: 1 },
    workbench: { url: "https://evil.example", keyEnv: "HOME" },
  });
  const { settings, problems } = await load();
  expect(settings).toEqual({ permissions: { ask: [], deny: [] }, disabledAgents: [], limits: {} });
  const ignored = problems.filter((problem) => problem.code === "ignored-in-project");
  expect(ignored.map((problem) => problem.message.split("'")[1])).toEqual([
    "model",
    "aliases",
    "providers",
    "permissions.allow",
    "store",
    "watchdog",
    "workbench",
  ]);
  const secrets = problems.filter((problem) => problem.code === "secret-in-project");
  expect(secrets.map((problem) => problem.message.split("'")[1])).toEqual([
    "providers.p.apiKey",
    "providers.p.headers.Authorization",
  ]);
  expect(problems.every((problem) => problem.severity === "warning")).toBe(true);
  expect(JSON.stringify({ settings, problems })).not.toContain(secret);
});

const SHELL: ShellSettings = {
  sandbox: "required",
  network: false,
  seconds: 120,
  testSeconds: 600,
  memoryMb: 2048,
  pids: 256,
  diskMb: 4096,
  env: [],
};

test("only the user may take the sandbox away, open the network or name variables for commands", async () => {
  writeProject({ shell: { sandbox: "off", network: true, env: ["TOKEN"], seconds: 900, pids: 8 } });
  const strict = await load({ shell: SHELL });
  expect(strict.settings.shell).toEqual({ ...SHELL, pids: 8 });
  expect(strict.problems.map(({ code, message }) => [code, message.split("'")[1]])).toEqual([
    ["ignored-in-project", "shell.sandbox"],
    ["ignored-in-project", "shell.network"],
    ["ignored-in-project", "shell.env"],
  ]);
  writeUser({ shell: { sandbox: "off", network: true, env: ["A", "B"] } });
  expect((await load({ shell: SHELL })).settings.shell).toEqual({
    ...SHELL,
    sandbox: "off",
    network: true,
    env: ["A", "B"],
    pids: 8,
  });
  for (const sandbox of ["required", "auto"]) {
    writeProject({ shell: { sandbox, network: false, env: [] } });
    expect((await load({ shell: SHELL })).settings.shell).toEqual(SHELL);
  }
});

test("a project's word on the shell never widens it", () => {
  const some = fc.record({
    sandbox: fc.constantFrom("auto", "required", "off"),
    network: fc.boolean(),
    seconds: fc.nat(),
    testSeconds: fc.nat(),
    memoryMb: fc.nat(),
    pids: fc.nat(),
    diskMb: fc.nat(),
    env: fc.subarray(["A", "B", "C"]),
  });
  fc.assert(
    fc.property(some, some, (user, project) => {
      const { shell } = narrowSettings({ shell: user }, { shell: project });
      if (!shell) return expect.fail("the section is lost");
      if (user.sandbox !== "off") expect(shell.sandbox).not.toBe("off");
      expect(shell.network && !user.network).toBe(false);
      for (const key of ["seconds", "testSeconds", "memoryMb", "pids", "diskMb"] as const)
        expect(shell[key]).toBeLessThanOrEqual(user[key]);
      expect(user.env).toEqual(expect.arrayContaining([...shell.env]));
    }),
  );
});

test("a wrong value is an error on its line and is left out", async () => {
  writeUser('{\n  "maxDepth": -1,\n  "maxAgents": 3,\n  "limits": {\n    "turns": "x"\n  }\n}');
  const { settings, problems } = await load();
  expect(settings).toEqual({ maxAgents: 3 });
  expect(problems.map(({ severity, line, code }) => ({ severity, line, code }))).toEqual([
    { severity: "error", line: 2, code: "bad-setting" },
    { severity: "error", line: 5, code: "bad-setting" },
  ]);
});

test("a file that is no JSON, no object, or no file is an error and stops nothing else", async () => {
  writeProject({ maxDepth: 1 });
  for (const text of ["{", "[]", "", "\u0000"]) {
    writeUser(text);
    const { settings, problems } = await load();
    expect(problems).toMatchObject([{ severity: "error", code: "bad-settings-file" }]);
    expect(settings.maxDepth).toBe(1);
  }
  rmSync(join(root, "config"), { recursive: true });
  mkdirSync(join(root, "config/settings.json"), { recursive: true });
  expect((await load()).problems).toMatchObject([
    { severity: "error", message: expect.stringContaining("not a regular file") },
  ]);
});

test("roles of both files come back for the reader of agents, the project's first", async () => {
  writeUser({ AgentRoles: { MaxDepth: 5, Roles: [] }, agents: { a: {} } });
  writeProject({ AgentRoles: { MaxDepth: 2, Roles: [] } });
  const { agentRoles, agents, settings } = await load({ maxDepth: 3 });
  expect(agentRoles.map(({ scope, folders }) => [scope, ...folders])).toEqual([
    ["project", join(root, "project"), join(root, "project/.retinue")],
    ["user", join(root, "config")],
  ]);
  expect(agents).toHaveLength(1);
  expect(settings.maxDepth).toBe(5);
});

test.each(["agentRoles", "agent_roles", "agent-roles", "AGENTROLES"])(
  "roles under the key %s are read with the lines they stand in",
  async (key) => {
    writeUser(`{\n  "${key}": {\n    "maxDepth": 4,\n    "roles": [\n      {}\n    ]\n  }\n}`);
    const { agentRoles, settings, problems } = await load({ maxDepth: 3 });
    expect(problems).toEqual([]);
    expect(settings.maxDepth).toBe(4);
    expect(agentRoles[0]?.value).toEqual({ maxDepth: 4, roles: [{}] });
    expect(agentRoles[0]?.findLine("/roles/0")).toBe(5);
  },
);

test("no project can raise a limit or take a rule away, and what it lowers is lower", () => {
  const limit = fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined });
  const rules = fc.array(fc.constantFrom("a", "b", "c"));
  const limits = "turns toolCalls contextChars minutes tokens costUsd spawns depth scale".split(" ");
  const others = "maxDepth maxAgents maxConcurrent maxOutputTokens".split(" ");
  const numbers = (names: readonly string[]) =>
    fc
      .record(Object.fromEntries(names.map((name) => [name, limit])))
      .map(
        (all): Record<string, number> =>
          Object.fromEntries(
            Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
          ),
      );
  const some = fc
    .record({
      limits: numbers(limits),
      perTool: numbers(["read", "write"]),
      others: numbers(others),
      ask: rules,
      deny: rules,
    })
    .map(({ perTool, ask, deny, ...each }) => ({
      permissions: { ask, deny },
      disabledAgents: [],
      limits: { ...each.limits, perTool },
      ...each.others,
    }));
  const numbersIn = (settings: Partial<Settings>): Map<string, number> => {
    const { perTool, ...rest } = settings.limits ?? {};
    const all = Object.entries({ ...settings, ...rest, ...perTool });
    return new Map(all.flatMap(([name, value]) => (typeof value === "number" ? [[name, value]] : [])));
  };
  fc.assert(
    fc.property(some, some, (user, project) => {
      const narrowed = narrowSettings(user, project);
      const [before, lower, after] = [numbersIn(user), numbersIn(project), numbersIn(narrowed)];
      for (const name of new Set([...before.keys(), ...lower.keys()])) {
        const unset = name === "scale" ? 1 : Number.POSITIVE_INFINITY;
        const set = lower.get(name);
        const expected = set === undefined ? before.get(name) : Math.min(before.get(name) ?? unset, set);
        expect(after.get(name), name).toBe(expected);
      }
      expect(narrowed.permissions?.ask).toEqual([...user.permissions.ask, ...project.permissions.ask]);
      expect(narrowed.permissions?.deny).toEqual([...user.permissions.deny, ...project.permissions.deny]);
    }),
  );
});
