import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./world.ts";

test("agents of Claude Code, opencode, Copilot and Gemini are all listed, with their origin", async () => {
  await using world = new World();
  world.copyFixture("project");
  const { code, stdout } = await world.call(["agents", "list"]);
  expect(code).toBe(0);
  for (const line of [
    /^docs-writer +project, claude /m,
    /^build-helper +project, opencode /m,
    /^api-architect +project, copilot /m,
    /^codebase_investigator +project, gemini /m,
    /^code-reviewer +project +smart /m,
  ]) {
    expect(stdout).toMatch(line);
  }
  expect(stdout).toMatch(/shadowed.*\n +code-reviewer +\.claude\/agents\/code-reviewer\.md/);
  expect(stdout).toMatch(/disabled:\n +old-helper/);
  expect(stdout).toContain("4 warnings, 5 notes; see: retinue agents check");
});

test("the list as JSON has what a script needs", async () => {
  await using world = new World();
  world.copyFixture("project");
  const { stdout } = await world.call(["agents", "list", "--json"]);
  const list = JSON.parse(stdout);
  expect(list.agents.map((agent: { name: string }) => agent.name)).toContain("api-architect");
  expect(list.agents.find((agent: { name: string }) => agent.name === "docs-writer").source).toEqual({
    format: "claude",
    scope: "project",
    file: join(world.project, ".claude/agents/docs-writer.md"),
  });
  expect(list.disabled[0].name).toBe("old-helper");
  expect(list.problems).toEqual({ errors: 0, warnings: 4, notes: 5 });
});

test("check explains every repair with file, line and remedy, and exits with 0 when everything loads", async () => {
  await using world = new World();
  world.copyFixture("project");
  const { code, stdout } = await world.call(["agents", "check"]);
  expect(code).toBe(0);
  expect(stdout).toContain(".claude/agents/docs-writer.md:3 warning repaired-yaml");
  expect(stdout).toContain('fix: write description: "Writes docs: guides, references and changelogs"');
  expect(stdout).toContain(".gemini/agents/investigator.md:3 warning repaired-yaml");
  expect(stdout).toMatch(/^\d+ usable agents; 4 warnings, 5 notes in 6 files$/m);
});

test("check exits with 1 on errors, and a bad file hides no good one", async () => {
  await using world = new World();
  world.copyFixture("broken", ".retinue/agents");
  const { code, stdout } = await world.call(["agents", "check"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/typo-in-deny\.md:4 error .*shel/);
  expect(stdout).toMatch(/beyond-repair\.md:\d+ error/);
  expect(stdout).toMatch(/scripted\.md:1 error/);
  const list = await world.call(["agents", "list"]);
  expect(list.stdout).toMatch(/^fine /m);
});

test("check looks only at the files it is given", async () => {
  await using world = new World();
  world.copyFixture("broken", ".retinue/agents");
  const fine = await world.call(["agents", "check", ".retinue/agents/fine.md"]);
  expect([fine.code, fine.stdout]).toEqual([0, expect.stringContaining("no problems")]);
  const bad = await world.call(["agents", "check", ".retinue/agents/unclosed.md", "--json"]);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout).problems).toHaveLength(1);
  const none = await world.call(["agents", "check", "missing.md"]);
  expect([none.code, none.stderr]).toEqual([42, expect.stringContaining("missing.md")]);
});

test("check --fix rewrites only what must change, and shows it", async () => {
  await using world = new World();
  world.copyFixture("project");
  const before = world.read(".claude/agents/docs-writer.md");
  const { code, stdout } = await world.call(["agents", "check", "--fix"]);
  expect(code).toBe(0);
  expect(stdout).toContain("fixed .claude/agents/docs-writer.md");
  expect(stdout).toContain("  - description: Writes docs: guides, references and changelogs");
  expect(stdout).toContain('  + description: "Writes docs: guides, references and changelogs"');
  expect(stdout).not.toContain("repaired-yaml");
  const line = "description: Writes docs: guides, references and changelogs";
  const quoted = 'description: "Writes docs: guides, references and changelogs"';
  expect(world.read(".claude/agents/docs-writer.md")).toBe(before.replace(line, quoted));
  expect(readdirSync(join(world.project, ".claude/agents")).filter((name) => name.startsWith("."))).toEqual(
    [],
  );
  const again = await world.call(["agents", "check", "--fix"]);
  expect(again.stdout).not.toContain("fixed");
});

test("check --fix leaves a file alone that really lies outside the agent folders", async () => {
  await using world = new World();
  const text = "---\nname: far\ndescription: a: b\n---\nText.\n";
  const outside = world.writeAt(join(world.root, "elsewhere/far.md"), text);
  world.agent("near", "");
  symlinkSync(outside, join(world.project, ".retinue/agents/far.md"));
  const { stdout } = await world.call(["agents", "check", "--fix"]);
  expect(stdout).toContain("not fixed .retinue/agents/far.md");
  const named = await world.call(["agents", "check", "--fix", outside]);
  expect(named.stdout).toContain("not fixed");
  expect(readFileSync(outside, "utf8")).toBe(text);
});

test("show has the definition and its prompt; an unknown name lists what there is", async () => {
  await using world = new World();
  world.copyFixture("project");
  const shown = await world.call(["agents", "show", "critic"]);
  expect(shown.stdout).toMatch(/^name +code-reviewer \(Code Reviewer\)$/m);
  expect(shown.stdout).toMatch(/^delegates to +test-writer$/m);
  expect(shown.stdout).toContain("Report only defects you can point to");
  const json = JSON.parse((await world.call(["agents", "show", "critic", "--json"])).stdout);
  expect(json.limits.costUsd).toBe(0.5);
  const unknown = await world.call(["agents", "show", "code-reviewr"]);
  expect(unknown.code).toBe(42);
  expect(unknown.stderr).toMatch(
    /^error: no agent 'code-reviewr'; did you mean 'code-reviewer'\? available: /,
  );
});

test("roles given as configuration are agents, and their depth holds", async () => {
  await using world = new World();
  world.copyFixture("roles", ".retinue");
  world.write(".retinue/settings.json", world.read(".retinue/appsettings.json"));
  const { code, stdout } = await world.call(["agents", "list"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^debugger +project, settings +qwen\/qwen3-coder-30b /m);
  const deep = await world.call(["agents", "explain", "coder", "--parent", "main", "--parent", "planner"]);
  expect(deep.stdout).toContain("may delegate to: nobody");
  const high = await world.call(["agents", "explain", "coder", "--parent", "main"]);
  expect(high.stdout).toContain("may delegate to: tester");
});
