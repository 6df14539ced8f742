import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findPlaces } from "@retinue/core/settings/places";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadProject, refuseBrokenSettings } from "./load-project.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-project-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, value: unknown): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
}
function load(agentsJson?: string) {
  const env = { HOME: join(root, "home"), XDG_CONFIG_HOME: join(root, "config") };
  return loadProject({
    projectDir: join(root, "project"),
    env,
    builtinDir: join(root, "builtin"),
    agentsJson,
  });
}
const coder = (prompt: string) => ({ coder: { description: "Writes code.", prompt } });

test("an empty project has the defaults and no agents", async () => {
  const { settings, registry, problems } = await load();
  expect(settings).toMatchObject({ maxDepth: 3, maxAgents: 1000, limits: { turns: 20, minutes: 5 } });
  expect([registry.list(), problems]).toEqual([[], []]);
});

test("agents of the command line come before the settings' and these before files", async () => {
  write("config/retinue/settings.json", { agents: coder("from settings") });
  write("project/.retinue/agents/coder.md", "---\nname: coder\ndescription: d\n---\nfrom a file\n");
  expect((await load()).registry.get("coder")?.prompt).toBe("from settings");
  const { registry } = await load(JSON.stringify(coder("from the flag")));
  expect(registry.get("coder")?.prompt).toBe("from the flag");
  expect(registry.shadowed).toHaveLength(2);
});

test("a project cannot raise what holds without any settings of the user", async () => {
  const AgentRoles = { MaxDepth: 8, DefaultMaxIterations: 500, Roles: [] };
  write("project/.retinue/settings.json", {
    limits: { turns: 900 },
    maxAgents: 9_999_999,
    maxDepth: 50,
    AgentRoles,
  });
  const { settings } = await load();
  expect(settings).toMatchObject({ maxDepth: 3, maxAgents: 1000, limits: { turns: 20 } });
});

test("a user's roles may raise the depth, a project's lower it again", async () => {
  write("config/retinue/settings.json", { AgentRoles: { MaxDepth: 5, Roles: [] } });
  expect((await load()).settings.maxDepth).toBe(5);
  write("project/.retinue/settings.json", {
    AgentRoles: { MaxDepth: 2, DefaultMaxIterations: 7, Roles: [] },
  });
  expect((await load()).settings).toMatchObject({ maxDepth: 2, limits: { turns: 7 } });
});

test("a name that the settings' rules use is known to agents, any other is not", async () => {
  write("config/retinue/settings.json", { permissions: { allow: ["neo4j"] } });
  write("project/.retinue/agents/a.md", "---\nname: a\ndescription: d\ntools: [neo4j, neo5j]\n---\np\n");
  const { registry, problems } = await load();
  expect(registry.get("a")?.tools).toEqual(["neo4j"]);
  expect(problems).toMatchObject([{ severity: "warning", message: expect.stringContaining("neo5j") }]);
});

test("only errors of the settings are refused, not those of an agent file", async () => {
  write("project/.retinue/agents/a.md", "---\nname: a\ndescription: [\n---\np\n");
  refuseBrokenSettings(await load());
  write("project/.retinue/settings.json", { permissions: { deny: ["write("] } });
  const project = await load();
  expect(() => refuseBrokenSettings(project)).toThrow(
    /settings\.json:1: 'permissions\.deny\.0' is no rule: "write\("/,
  );
});

test("places follow the XDG rules, by which an empty or relative path counts as none", () => {
  const dataDir = "/h/.local/share/retinue";
  expect(findPlaces({ HOME: "/h" })).toEqual({
    homeDir: "/h",
    configHome: "/h/.config",
    configDir: "/h/.config/retinue",
    dataDir,
  });
  expect(findPlaces({ HOME: "/h", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "x" }).dataDir).toBe(dataDir);
  expect(findPlaces({ HOME: "/h", XDG_CONFIG_HOME: "/c", RETINUE_HOME: "/d" })).toMatchObject({
    configDir: "/c/retinue",
    dataDir: "/d",
  });
});

test.each([
  [
    { limits: { perTool: { gerp: 2 } } },
    "'limits.perTool.gerp' is for no tool, so it would not hold; did you mean 'grep'?",
  ],
  [{ limits: { max_turns: 5 } }, "there is no setting 'limits.max_turns'"],
  [{ shell: { seconds: 0 } }, "'shell.seconds' is wrong: 0 is not above 0"],
])("the settings %j keep everything from running", async (settings, message) => {
  for (const file of ["config/retinue/settings.json", "project/.retinue/settings.json"]) {
    write(file, settings);
    const project = await load();
    expect(() => refuseBrokenSettings(project)).toThrow(message);
    write(file, {});
  }
});

test("a vendor's name among the settings' limits by tool is no problem", async () => {
  write("config/retinue/settings.json", { limits: { perTool: { Grep: 2, search: 1 } } });
  expect((await load()).problems).toEqual([]);
});

test("a name among disabledAgents that is nobody's is a warning with the nearest, at its line", async () => {
  write(
    "project/.retinue/agents/coder.md",
    "---\nname: coder\ndescription: d\naliases: [dev]\n---\nWrite.\n",
  );
  const file = join(root, "config/retinue/settings.json");
  write(
    "config/retinue/settings.json",
    '{\n  "disabledAgents": [\n    "codr",\n    "Dev",\n    "general-purpose"\n  ]\n}',
  );
  const { problems } = await load();
  expect(problems).toMatchObject([{ severity: "warning", file, line: 3 }]);
  expect(problems[0]?.message).toContain("disabledAgents names 'codr', but no agent is called so");
  expect(problems[0]?.message).toContain("did you mean 'coder'?");
});
