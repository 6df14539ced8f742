import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { AgentList } from "@retinue/core/schema/api/agent";
import { findRunningServer } from "@retinue/server/running-server";
import { describe, expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** A definition with few rights and this problem in it. */
const narrow = (name: string, problem: string) =>
  `---\nname: ${name}\ndescription: Only reads.\ntools: [read]\n${problem}\n---\nYou are narrow.\n`;

async function answeringWorld(): Promise<World & { model: NonNullable<World["model"]> }> {
  const world = new World();
  const model = await startModel(({ system }) => ({
    text: /You are (\w+)\./.exec(system)?.[1] ?? "built in",
  }));
  return Object.assign(world, { model });
}

describe("a file that has the name of another agent and cannot be used keeps that agent from running", () => {
  test.each([
    ['limits: {toolCalls: "5"}', /toolCalls/],
    ["limits: {toolCalls: .nan}", /toolCalls/],
    ["limits: {toolCalls: -1}", /toolCalls/],
    ["limits: {toolCalls: 1.5}", /toolCalls/],
    ["limits: {turns: .inf}", /turns/],
    ["limits: {tooCalls: 5}", /tooCalls/],
    ["limits: {perTool: {nosuch: 2}}", /nosuch/],
    ["maxTurns: -1", /maxTurns/],
    ["disallowedTools: [shel]", /shel/],
    ["tools: [write]", /tools is there twice/],
    ["hooks: !!js/function run\nlimits: {turns: 5", /not valid YAML/],
    ["kind: remote", /only local agents/],
  ])("%s", async (problem, cause) => {
    await using world = await answeringWorld();
    const file = world.write(".retinue/agents/main.md", narrow("main", problem));
    for (const more of [[], ["--agent", "main"]]) {
      const { code, stdout, stderr } = await world.call(["run", "-p", ...more, "Hello."]);
      expect([code, stdout]).toEqual([52, ""]);
      expect(stderr).toContain(`the agent 'main' cannot be used, and no other takes its place: ${file}`);
      expect(stderr).toMatch(cause);
      expect(stderr).toMatch(/or remove it; see all of it with: retinue agents check/);
    }
    expect(world.model.requests).toEqual([]);
  });

  test.each([
    ["an empty file", ""],
    ["a table", "| a | b |\n|---|---|"],
    ["no end of the frontmatter", "---\nname: main\ntools: [read]\n"],
    ["another language", '---json\n{"name": "main", "tools": ["read"]}\n---\nText.'],
    ["bytes that are no text", "---\nname: main\n---\n\0"],
  ])("%s", async (_, text) => {
    await using world = await answeringWorld();
    world.write(".claude/agents/main.md", text);
    expect(await world.call(["run", "-p", "Hello."])).toMatchObject({ code: 52, stdout: "" });
    expect((await world.call(["agents", "check"])).code).toBe(1);
    expect(world.model.requests).toEqual([]);
  });

  test("a link that leads nowhere, and a name in a file of another name whose YAML is broken", async () => {
    await using world = await answeringWorld();
    world.write(".retinue/agents/a.md", narrow("Coder", "hooks: !!js/function run\nlimits: {turns: 5"));
    symlinkSync(join(world.root, "none.md"), join(world.project, ".retinue/agents/main.md"));
    for (const name of ["main", "coder", "a"])
      expect(await world.call(["run", "-p", "--agent", name, "Hello."])).toMatchObject({ code: 52 });
    expect(world.model.requests).toEqual([]);
  });

  test("a definition or a change in your settings", async () => {
    await using world = await answeringWorld();
    const settings = join(world.config, "retinue/settings.json");
    const limits = { toolCalls: "5" };
    for (const main of [{ description: "d", prompt: "p", limits }, { limits }, null]) {
      world.writeAt(settings, JSON.stringify({ agents: { main } }));
      const { code, stderr } = await world.call(["run", "-p", "Hello."]);
      expect([code, stderr]).toEqual([52, expect.stringContaining("the agent 'main' cannot be used")]);
    }
    world.agent("mine", "aliases: [me]");
    world.writeAt(settings, JSON.stringify({ agents: { me: { limits } } }));
    expect(await world.call(["run", "-p", "--agent", "mine", "Hello."])).toMatchObject({ code: 52 });
    expect(world.model.requests).toEqual([]);
  });
});

test("a name that no other agent has is refused with its file and what is wrong there", async () => {
  await using world = await answeringWorld();
  const file = world.agent("k", 'limits: {toolCalls: "5"}');
  for (const command of [
    ["run", "--agent", "k"],
    ["spawn", "k"],
    ["plan", "--agent", "k"],
  ]) {
    const { code, stderr } = await world.call([...command, "Say hello."]);
    expect([code, stderr]).toEqual([52, expect.stringMatching(new RegExp(`${file}:4: .*toolCalls`))]);
  }
  expect(await world.call(["run", "-p", "Hello."])).toMatchObject({ code: 0, stderr: "" });
});

test("a broken sub-agent is not offered, and a delegation to it is answered with what is wrong", async () => {
  await using world = new World();
  world.model = await startModel(({ turn }) =>
    turn === 0
      ? {
          calls: ["reviewer", "general-purpose"].map((agent) => ({
            name: "delegate",
            input: { agent, task: "Go." },
          })),
        }
      : { text: "ok" },
  );
  world.agent("lead", "subagents: ['*']");
  world.write(".claude/agents/reviewer.md", narrow("reviewer", "maxTurns: -1"));
  world.write(".claude/agents/general-purpose.md", narrow("general-purpose", "maxTurns: -1"));
  const { stderr } = await world.call(["run", "-p", "--agent", "lead", "Hello."]);
  expect(stderr).toMatch(/warning: \.claude\/agents\/reviewer\.md:5: nobody answers to 'reviewer'/);
  const [first, second, ...others] = world.model.requests;
  expect(others).toEqual([]);
  expect(first?.system).not.toContain("reviewer");
  for (const name of ["reviewer", "general-purpose"])
    expect(second?.all).toMatch(new RegExp(`the agent '${name}' cannot be used.*${name}\\.md:5: .*maxTurns`));
});

test("agents list and show name what cannot be used, and a file that comes after a sound one hides nothing", async () => {
  await using world = await answeringWorld();
  world.write(".retinue/agents/main.md", narrow("main", "maxTurns: -1"));
  world.agent("coder", "");
  world.write(".claude/agents/coder.md", narrow("coder", "maxTurns: -1"));
  const list = await world.call(["agents", "list"]);
  expect(list.stdout).toMatch(/cannot be used.*:\n {2}main +\.retinue\/agents\/main\.md +.*maxTurns/);
  expect(list.stdout).not.toMatch(/^main /m);
  const { broken, shadowed } = JSON.parse((await world.call(["agents", "list", "--json"])).stdout);
  expect(broken).toMatchObject([{ name: "main", problem: { message: expect.stringContaining("maxTurns") } }]);
  expect(shadowed.map(({ name }: { name: string }) => name).sort()).toEqual(["coder", "coder", "main"]);
  expect(await world.call(["agents", "show", "main"])).toMatchObject({ code: 52 });
  expect(await world.call(["run", "-p", "--agent", "coder", "Hello."])).toMatchObject({
    code: 0,
    stdout: "coder\n",
  });
});

test("a conversation whose agent broke goes on with no other agent", async () => {
  await using world = await answeringWorld();
  world.agent("k", "tools: [read]");
  expect(await world.call(["run", "-p", "--agent", "k", "Hello."])).toMatchObject({ stdout: "k\n" });
  world.agent("k", "tools: [read]\nmaxTurns: -1");
  const next = await world.call(["run", "-p", "--continue", "And now?"]);
  expect(next).toMatchObject({ code: 52, stdout: "", stderr: expect.stringContaining("maxTurns") });
  expect(world.model.requests).toHaveLength(1);
});

test("an interrupted run goes on as it began, though its file broke meanwhile", async () => {
  await using world = new World();
  let stuck = true;
  world.model = await startModel(() => (stuck ? { hang: true } : { text: "done" }));
  world.agent("main", "tools: [read]");
  const first = world.start(["run", "Hello."]);
  const { requests } = world.model;
  while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  first.child.kill("SIGKILL");
  await first.ended;
  stuck = false;
  world.agent("main", "tools: [read]\nmaxTurns: -1");
  expect(await world.call(["resume"])).toMatchObject({ code: 0, stdout: "done\n" });
  expect(requests.at(-1)?.toolNames).toEqual(requests[0]?.toolNames);
});

test("a server starts with a broken main, shows it, and refuses tasks for it and for conversations with it", async () => {
  await using world = await answeringWorld();
  world.agent("k", "tools: [read]");
  await world.call(["run", "-p", "--agent", "k", "Hello."]);
  world.write(".retinue/agents/main.md", narrow("main", "maxTurns: -1"));
  world.agent("k", "tools: [read]\nmaxTurns: -1");
  const call = world.start(["serve", "--json", "--no-open", "--port", "0"]);
  await new Promise((resolve) => call.child.stdout?.once("data", resolve));
  const running = await findRunningServer({ dataDir: world.data, projectDir: world.project });
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${running?.bearer}`, "content-type": "application/json" };
    const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(`${running?.origin}${path}`, init);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const { agents }: AgentList = (await ask("/api/agents")).body;
  expect(agents.filter(({ name }) => name === "main")).toMatchObject([
    { state: "shadowed", scope: "builtin", shadowedBy: ".retinue/agents/main.md" },
    { state: "broken", scope: "project", health: { errors: 2 } },
  ]);
  expect((await ask("/api/agents/main")).body.card).toMatchObject({ state: "broken" });
  const [{ session_id: sessionId }] = (await ask("/api/sessions")).body.sessions;
  for (const body of [{ task: "a" }, { task: "b", agent: "main" }, { task: "c", sessionId }])
    expect(await ask("/api/sessions", body)).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining("maxTurns") } },
    });
  call.child.kill("SIGTERM");
  await call.ended;
  expect(world.model.requests).toHaveLength(1);
});
