import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./world.ts";

type Row = { tool: string; verdict: string; layer: string; rule?: string };

/** Seed 002's three layers. */
function seed002(world: World): void {
  const permissions = { allow: ["neo4j", "web", "filesystem"] };
  world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ permissions }));
  world.agent(
    "research-coordinator",
    "tools: [neo4j, web]\ndisallowedTools: [filesystem]\nsubagents: [data-analyst]",
  );
  world.agent("data-analyst", "tools: [neo4j]\ndisallowedTools: [web]");
}

test("global, parent and child together leave exactly neo4j", async () => {
  await using world = new World();
  seed002(world);
  const args = ["agents", "explain", "data-analyst", "--parent", "research-coordinator"];
  const json = JSON.parse((await world.call([...args, "--json"])).stdout);
  expect(json.allowed).toEqual(["neo4j"]);
  expect(json.chain).toEqual(["research-coordinator", "data-analyst"]);
  const row = (tool: string) => json.tools.find((each: Row) => each.tool === tool);
  expect(row("web")).toMatchObject({ verdict: "deny", layer: "tools of data-analyst", rule: "web" });
  expect(row("filesystem")).toMatchObject({ verdict: "deny", layer: "grants of research-coordinator" });
  expect(row("web_fetch")).toMatchObject({ verdict: "deny", layer: "tools of data-analyst", rule: "web" });
  expect(row("shell")).toMatchObject({ verdict: "deny", layer: "settings" });
  const { code, stdout } = await world.call(args);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^neo4j +allow +settings +neo4j$/m);
  expect(stdout).toContain("allowed: neo4j\nmay delegate to: nobody");
});

test("without a parent the child's own tools and the settings decide, and its sub-agents are named", async () => {
  await using world = new World();
  seed002(world);
  const json = JSON.parse((await world.call(["agents", "explain", "research-coordinator", "--json"])).stdout);
  expect(json.allowed).toEqual(
    expect.arrayContaining(["neo4j", "web", "web_search", "web_fetch", "delegate"]),
  );
  expect(json.allowed).not.toContain("read");
  expect(json.delegatesTo).toEqual(["data-analyst"]);
});

test("patterns make a verdict depend on the call", async () => {
  await using world = new World();
  world.agent("tester", 'tools: [read, "write(test/**)"]\naskTools: [ls]');
  const { stdout } = await world.call(["agents", "explain", "tester"]);
  expect(stdout).toMatch(/^write +depends +tools of tester +write\(test\/\*\*\)/m);
  expect(stdout).toMatch(/^ls +ask +tools of tester +ls$/m);
});

test("a project's settings narrow and cannot widen", async () => {
  await using world = new World();
  world.writeAt(
    join(world.config, "retinue/settings.json"),
    JSON.stringify({ permissions: { allow: ["read", "write"] }, maxDepth: 2 }),
  );
  const project = {
    permissions: { allow: ["shell"], deny: ["write"] },
    maxDepth: 9,
    model: "x/y",
    providers: {},
  };
  world.write(".retinue/settings.json", JSON.stringify(project, null, 2));
  world.agent("coder", "");
  const json = JSON.parse((await world.call(["agents", "explain", "coder", "--json"])).stdout);
  expect(json.allowed).toEqual(["read"]);
  const check = await world.call(["agents", "check"]);
  expect(check.code).toBe(0);
  expect(check.stdout).toMatch(/settings\.json:3 warning ignored-in-project 'permissions\.allow' is ignored/);
  expect(check.stdout).toMatch(/ignored-in-project 'model' is ignored/);
});

test("an unknown agent is refused with the names there are", async () => {
  await using world = new World();
  seed002(world);
  const child = await world.call(["agents", "explain", "nobody"]);
  expect([child.code, child.stderr]).toEqual([42, expect.stringMatching(/available: .*data-analyst/)]);
  const parent = await world.call(["agents", "explain", "data-analyst", "--parent", "nobody"]);
  expect(parent.code).toBe(42);
});
