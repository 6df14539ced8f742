import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./world.ts";

const CLAUDE =
  "---\nname: scout\ndescription: Looks: around\ntools: Read, Grep, Bash(npm test *)\nmodel: sonnet\ncolor: red\nodd: {deep: [1]}\n---\nLook around.\n";

test("a new agent is written, loads without a problem, and is never written twice", async () => {
  await using world = new World();
  const args = [
    "agents",
    "new",
    "helper",
    "--description",
    "Helps: a lot",
    "--tools",
    "read, write(test/**)",
  ];
  const made = await world.call(args);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(world.read(".retinue/agents/helper.md")).toMatch(
    /^---\nname: helper\ndescription: "Helps: a lot"\ntools: \[read, write\(test\/\*\*\)\]\n---\n/,
  );
  expect((await world.call(["agents", "check"])).stdout).toContain("no problems");
  const twice = await world.call(args);
  expect([twice.code, twice.stderr]).toEqual([42, expect.stringContaining("is there already")]);
});

test("without a person, missing values are named and wrong ones refused", async () => {
  await using world = new World();
  const cases: [string[], number, string][] = [
    [["helper"], 2, "--description"],
    [["Big Helper", "--description", "x"], 2, "call it big-helper"],
    [["../../x", "--description", "x"], 2, "cannot be an agent's name"],
    [["helper", "--description", "x", "--tools", "reed"], 42, "did you mean 'read'?"],
    [["helper", "--description", "x", "--model", "a b"], 42, "model"],
  ];
  for (const [args, code, message] of cases) {
    const ended = await world.call(["agents", "new", ...args]);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
  }
  expect(existsSync(join(world.project, ".retinue"))).toBe(false);
});

test("an import shows the difference first, needs approval, and keeps rights and unknown keys", async () => {
  await using world = new World();
  world.write(".claude/agents/scout.md", CLAUDE);
  const asked = await world.call(["agents", "import", "--from", "claude"]);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("needs your approval")]);
  expect(asked.stdout).toContain("-tools: Read, Grep, Bash(npm test *)\n");
  expect(asked.stdout).toContain("+tools: [read, grep, shell(npm test *)]\n");
  const before = JSON.parse((await world.call(["agents", "show", "scout", "--json"])).stdout);
  const done = await world.call(["agents", "import", "--from", "claude", "--yes"]);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("imported 1 agent: scout")]);
  const after = JSON.parse((await world.call(["agents", "show", "scout", "--json"])).stdout);
  expect(after.source.format).toBe("native");
  const meaning = ({ source: _, problems: __, ...agent }: Record<string, unknown>) => agent;
  expect(meaning(after)).toEqual(meaning(before));
  expect(world.read(".claude/agents/scout.md")).toBe(CLAUDE);
  const again = await world.call(["agents", "import", ".claude/agents/scout.md", "--yes"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("is there already")]);
});

test("a folder is imported file by file; a bad file hides no good one", async () => {
  await using world = new World();
  world.writeAt(join(world.home, "team/one.md"), CLAUDE.replaceAll("scout", "one"));
  world.writeAt(
    join(world.home, "team/bad.md"),
    "---\nname: bad\ndescription: x\ndisallowedTools: [nonsense]\n---\nx\n",
  );
  world.writeAt(join(world.home, "team/two.agent.md"), "---\nname: two\ndescription: Two\n---\nTwo.\n");
  const { code, stdout, stderr } = await world.call([
    "agents",
    "import",
    join(world.home, "team"),
    "--yes",
    "--json",
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    imported: [{ name: "one" }, { name: "two" }],
    refused: [{ why: expect.stringContaining("nonsense") }],
  });
  expect(stderr).toContain("not imported");
  const nothing = await world.call(["agents", "import", "--from", "gemini"]);
  expect([nothing.code, nothing.stderr]).toEqual([42, expect.stringContaining("no agent file to import")]);
});
