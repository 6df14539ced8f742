import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BLOCK = readFileSync(at("test/fixtures/agents/roles/appsettings.json"), "utf8");
const SETTINGS = ".retinue/settings.json";

type Listed = {
  name: string;
  displayName: string;
  icon?: string;
  model: string;
  tools?: string[];
  subagents: string[];
  limits: { turns?: number; minutes?: number };
  source: { scope: string };
};

/** The block with changes to single roles, by their ids. */
function blockWith(changes: Record<string, object>, top: object = {}): string {
  const { AgentRoles } = JSON.parse(BLOCK) as { AgentRoles: { Roles: { RoleId: string }[] } };
  const Roles = AgentRoles.Roles.map((role) => ({ ...role, ...changes[role.RoleId] }));
  return JSON.stringify({ AgentRoles: { ...AgentRoles, Roles, ...top } });
}

async function listed(world: World): Promise<Map<string, Listed>> {
  const { stdout } = await world.call(["agents", "list", "--json"]);
  const { agents } = JSON.parse(stdout) as { agents: Listed[] };
  return new Map(agents.map((agent) => [agent.name, agent]));
}

const SIX = [
  ["main", "Main Agent", "🤖", "qwen/qwen3-coder-30b", 50, 10],
  ["coder", "Coder", "👨‍💻", "qwen/qwen3-coder-30b", 30, 5],
  ["tester", "Tester", "🧪", "deepseek-chat", 20, 3],
  ["reviewer", "Code Reviewer", "👀", "anthropic/claude-opus-4.5", 10, 2],
  ["planner", "Task Planner", "📋", "deepseek-reasoner", 15, 3],
  ["debugger", "Debugger", "🔧", "qwen/qwen3-coder-30b", 25, 4],
];

/** Main delegates to coder and coder to tester; the tester writes a test, then tries more. */
function playTeam({ system, turn }: ModelRequest): ModelReply {
  const prompt = (role: string) => system.includes(firstLine(role));
  if (turn > 0) return { text: `done as ${["main", "coder", "tester"].find(prompt)}` };
  if (prompt("main")) return { calls: [delegate("coder", "Write add().")] };
  if (prompt("coder")) return { calls: [delegate("tester", "Test add().")] };
  const write = (path: string) => ({ name: "write", input: { path, content: "1" } });
  return { calls: [write("src/add.js"), write("test/add.test.js")] };
}

function delegate(role: string, task: string) {
  return { name: "delegate_to_agent", input: { role, task, success_criteria: "it says so" } };
}

function firstLine(role: string): string {
  return readFileSync(at(`prompts/roles/${role}.md`), "utf8").split("\n")[0] ?? "";
}

test.each(["project", "user"])(
  "the block pasted as it is into a %s's settings gives the six roles with models, icons and limits",
  async (scope) => {
    await using world = new World();
    world.model = await startModel(playTeam);
    if (scope === "project") world.write(SETTINGS, BLOCK);
    else world.writeAt(join(world.config, "retinue/settings.json"), BLOCK);
    const agents = await listed(world);
    expect(
      SIX.map(([name]) => {
        const agent = agents.get(String(name));
        return [
          name,
          agent?.displayName,
          agent?.icon,
          agent?.model,
          agent?.limits.turns,
          agent?.limits.minutes,
        ];
      }),
    ).toEqual(SIX);
    for (const [name] of SIX)
      expect(agents.get(String(name))?.source).toMatchObject({ scope, format: "settings" });
    expect(agents.get("coder")?.subagents).toEqual(["tester"]);
    const list = await world.call(["agents", "list"]);
    expect(list.stdout).toMatch(
      new RegExp(`^reviewer +${scope}, settings +anthropic/claude-opus-4.5 .*👀`, "m"),
    );
    expect(await world.call(["agents", "check"])).toMatchObject({ code: 0 });
    const depth = await world.call(["config", "get", "maxDepth"]);
    expect(depth.stdout.trim()).toBe("2");
  },
);

test("main delegates to coder and coder to tester, each with its own model, prompt and rights", async () => {
  await using world = new World();
  world.model = await startModel(playTeam);
  world.write(SETTINGS, BLOCK);
  const { code, stdout, stderr } = await world.call([
    "run",
    "-p",
    "Add a function.",
    "--output-format",
    "json",
  ]);
  expect(stderr).not.toContain("warning");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ result: "done as main" });
  const asked = world.model.requests.map(({ model, system }) => [
    model,
    ["main", "coder", "tester"].find((role) => system.includes(firstLine(role))),
  ]);
  expect(asked).toEqual([
    ["qwen/qwen3-coder-30b", "main"],
    ["qwen/qwen3-coder-30b", "coder"],
    ["deepseek-chat", "tester"],
    ["deepseek-chat", "tester"],
    ["qwen/qwen3-coder-30b", "coder"],
    ["qwen/qwen3-coder-30b", "main"],
  ]);
  const tester = world.model.requests[3];
  expect(tester?.toolNames).not.toContain("delegate");
  expect(tester?.all).toMatch(/denied[\s\S]*src\/add\.js|src\/add\.js[\s\S]*denied/);
  expect(world.read("test/add.test.js")).toBe("1");
  expect(world.model.requests[1]?.system).not.toContain("general-purpose");
});

test("aliases and a gateway of the user's settings serve the models of the roles", async () => {
  await using world = new World();
  world.model = await startModel(playTeam);
  world.write(SETTINGS, BLOCK);
  const baseUrl = world.model.url;
  world.writeAt(
    join(world.config, "retinue/settings.json"),
    JSON.stringify({
      providers: { house: { kind: "openai-compatible", baseUrl } },
      gateway: "house",
      aliases: { "deepseek-chat": "house/small" },
    }),
  );
  const env = {
    RETINUE_BASE_URL: "",
    RETINUE_MODEL: "",
    ANTHROPIC_API_KEY: "sk-none",
    OPENAI_API_KEY: "sk-none",
  };
  const { code, stderr } = await world.call(["run", "-p", "Add a function."], { env });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const models = new Set(world.model.requests.map(({ model }) => model));
  expect(models).toEqual(new Set(["qwen/qwen3-coder-30b", "small"]));
});

test("prompts of the project come before the built-in ones, and none from outside of it is read", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "ok" }));
  world.write("prompts/roles/main.md", "You speak for this project only.\n");
  world.writeAt(join(world.root, "secret.md"), "the canary");
  world.write(".env", "KEY=canary");
  symlinkSync(join(world.root, "secret.md"), join(world.project, "prompts/roles/link.md"));
  world.write(
    SETTINGS,
    blockWith({
      coder: { SystemPromptFile: "../secret.md" },
      tester: { SystemPromptFile: "prompts/roles/../../../secret.md" },
      reviewer: { SystemPromptFile: "prompts/roles/link.md" },
      planner: { SystemPromptFile: ".env" },
      debugger: { SystemPromptFile: join(world.root, "secret.md") },
    }),
  );
  const { code, stderr } = await world.call(["run", "-p", "Hello."]);
  expect(code).toBe(0);
  expect(world.model.requests[0]?.system).toContain("You speak for this project only.");
  expect(JSON.stringify(world.model.requests)).not.toContain("canary");
  expect(stderr.match(/role '(\w+)': .* lies outside/g)).toHaveLength(4);
  expect(stderr).toContain("role 'planner': .env is not a text");
  const agents = await listed(world);
  expect([...agents.keys()].filter((name) => SIX.some(([role]) => role === name))).toEqual(["main"]);
});

test("run says what could not be loaded, and no built-in agent takes the place of a broken role", async () => {
  await using world = new World();
  world.model = await startModel(({ turn }) =>
    turn === 0 ? { calls: ["coder", "tester"].map((role) => delegate(role, "Go.")) } : { text: "ok" },
  );
  world.write(
    SETTINGS,
    blockWith({
      main: { AllowedDelegations: ["coder", "tester", "archivist"] },
      coder: { SystemPromptFile: "prompts/roles/none.md" },
      tester: { MaxIterations: "twenty" },
      reviewer: { MaxDurationMs: -1 },
      planner: { Colour: "blue" },
      debugger: { AllowedTools: ["read", "frobnicate"] },
    }),
  );
  const { code, stderr } = await world.call(["run", "-p", "Hello."]);
  expect(code).toBe(0);
  for (const said of [
    /settings\.json:1: role 'coder': there is no file .*prompts\/roles\/none\.md/,
    /role 'tester'\.MaxIterations is "twenty", but must be a whole number/,
    /role 'reviewer'\.MaxDurationMs is -1/,
    /Roles\.4\.Colour is not a known key/,
    /role 'debugger': .*frobnicate/,
    /'main' may delegate to 'archivist', but there is no such agent/,
  ])
    expect(stderr).toMatch(said);
  expect(world.model.requests).toHaveLength(2);
  expect(world.model.requests[1]?.all).toMatch(
    /the agent 'coder' cannot be used, and no other takes its place: .*settings\.json:1: role 'coder': there is no file/,
  );
});

test("a model that no provider serves is reported before the run, and ends the run that needs it", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "ok" }));
  world.write(SETTINGS, blockWith({ main: { ModelId: "inherit" } }));
  const env = { OPENAI_API_KEY: "sk-none" };
  const { code, stderr } = await world.call(["run", "-p", "Hello."], { env });
  expect(code).toBe(0);
  expect(stderr).toMatch(/role 'coder', 'debugger' cannot run: no model 'qwen\/qwen3-coder-30b'.*gateway/);
  expect(stderr).toMatch(/role 'reviewer' cannot run: .*ANTHROPIC_API_KEY is not set/);
  const spawned = await world.call(["spawn", "-p", "coder", "Hello."], { env });
  expect(spawned).toMatchObject({ code: 52, stdout: "" });
});

test.each([
  [
    "a broken main",
    blockWith({ main: { SystemPromptFile: "prompts/main.md" } }),
    /the agent 'main' cannot be used, and no other takes its place: .*role 'main'/,
  ],
  ["a bad depth", blockWith({}, { MaxDepth: "two" }), /AgentRoles has a limit that cannot be used/],
  [
    "no list of roles",
    JSON.stringify({ AgentRoles: { Roles: {} } }),
    /AgentRoles must be an object with a list/,
  ],
  ["roles that are no object", JSON.stringify({ AgentRoles: [] }), /'AgentRoles' must be object/],
])("%s ends the run instead of running another agent", async (_, settings, said) => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "ok" }));
  world.write(SETTINGS, settings);
  const { code, stderr } = await world.call(["run", "-p", "Hello."]);
  expect(stderr).toMatch(said);
  expect(code).toBe(52);
  expect(world.model.requests).toEqual([]);
});

test("a role without AllowedTools reads only, unless a built-in agent of its name lends it tools", async () => {
  await using world = new World();
  const role = (RoleId: string, more: object = {}) => ({
    RoleId,
    SystemPromptFile: "prompts/roles/coder.md",
    ...more,
  });
  world.write(
    SETTINGS,
    JSON.stringify({
      agentRoles: {
        roles: [
          role("scribe"),
          role("executor"),
          role("lister", { allowedTools: ["Bash"] }),
          role("mute", { AllowedTools: [] }),
        ],
      },
    }),
  );
  const agents = await listed(world);
  expect(agents.get("scribe")?.tools).toEqual(["read", "ls", "glob", "grep"]);
  expect(agents.get("executor")?.tools).toContain("write");
  expect(agents.get("lister")?.tools).toEqual(["shell"]);
  expect(agents.get("mute")?.tools).toEqual([]);
});

test("a planner that only reads can have the coder it may call write, and cannot write itself", async () => {
  await using world = new World();
  const write = { name: "write", input: { path: "src/new.js", content: "1" } };
  world.model = await startModel(({ turn, model }) => {
    if (turn > 0) return { text: "ok" };
    if (model !== "deepseek-reasoner") return { calls: [write] };
    return { calls: [{ ...write, input: { path: "plan.txt", content: "1" } }, delegate("coder", "Write.")] };
  });
  world.write(SETTINGS, BLOCK);
  await world.call(["spawn", "-p", "planner", "Plan it."]);
  expect(world.read("src/new.js")).toBe("1");
  expect(() => world.read("plan.txt")).toThrow("ENOENT");
});
