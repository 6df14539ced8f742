import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findAgentFiles, listPlaces } from "./find-agent-files.ts";
import { loadAgents } from "./load-agents.ts";

const FIXTURES = join(import.meta.dirname, "../../../../test/fixtures/agents");
const known = {
  tools: new Set("read write edit shell grep glob ls web_search web_fetch todo delegate".split(" ")),
};
const places = {
  projectDir: join(FIXTURES, "project"),
  homeDir: join(FIXTURES, "home"),
  configHome: join(FIXTURES, "config"),
  builtinDir: join(FIXTURES, "builtin"),
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "retinue-agents-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const agentText = (name: string) => `---\nname: ${name}\ndescription: d\n---\nText.\n`;

describe("a project with every vendor's files", () => {
  test("all of them load, each with its format and scope", async () => {
    const registry = await loadAgents({ ...places, known });
    const loaded = registry.list().map(({ name, source }) => `${name} ${source.format} ${source.scope}`);
    expect(loaded).toEqual([
      "api-architect copilot project",
      "build-helper opencode project",
      "code-reviewer native project",
      "codebase_investigator gemini project",
      "coder native builtin",
      "docs-writer claude project",
      "personal claude user",
      "planner claude project",
      "scribe opencode user",
      "security-auditor claude project",
      "test-writer native project",
      "translator claude project",
    ]);
    expect(registry.problems.filter((problem) => problem.severity === "error")).toEqual([]);
    expect(registry.disabled.map((agent) => agent.name)).toEqual(["old-helper"]);
  });

  test("first of a name wins and the others are listed as shadowed", async () => {
    const { shadowed } = await loadAgents({ ...places, known });
    expect(
      shadowed.map(({ agent, by }) => `${agent.name}: ${by.source.format} over ${agent.source.scope}`),
    ).toEqual([
      "code-reviewer: native over project",
      "translator: claude over user",
      "code-reviewer: native over builtin",
    ]);
  });

  test("repaired files say so with line and remedy", async () => {
    const { problems } = await loadAgents({ ...places, known });
    const repaired = problems.filter((problem) => problem.code === "repaired-yaml");
    expect(repaired.map(({ file, line }) => `${file.split("/").at(-1)}:${line}`)).toEqual([
      "docs-writer.md:3",
      "security-auditor.md:3",
      "investigator.md:3",
      "personal.md:3",
      "personal.md:4",
    ]);
    expect(repaired[0]?.fix).toBe('write description: "Writes docs: guides, references and changelogs"');
  });

  test("vendors' limits, models and displays arrive in our fields", async () => {
    const registry = await loadAgents({ ...places, known });
    expect(registry.get("codebase_investigator")).toMatchObject({
      limits: { turns: 10, minutes: 5 },
      temperature: 0.3,
    });
    expect(registry.get("build-helper")).toMatchObject({
      limits: { turns: 15 },
      subagents: { allow: ["code-reviewer"] },
    });
    expect(registry.get("security-auditor")).toMatchObject({
      model: "sonnet",
      display: { color: "red" },
      limits: { turns: 12 },
    });
    expect(registry.get("api-architect")).toMatchObject({ model: "gpt-5", displayName: "API Architect" });
  });

  test("a project that is not named is not read", async () => {
    const { projectDir: _, ...others } = places;
    const registry = await loadAgents({ ...others, known });
    expect(registry.get("security-auditor")).toBeUndefined();
    expect(registry.get("code-reviewer")?.source.scope).toBe("builtin");
  });
});

test("one bad file never hides another", async () => {
  const registry = await loadAgents({ builtinDir: join(FIXTURES, "broken"), known });
  expect(registry.list().map((agent) => agent.name)).toEqual(["fine"]);
  expect(
    registry.problems.map(({ file, code, line }) => `${file.split("/").at(-1)}:${line} ${code}`),
  ).toEqual([
    "beyond-repair.md:6 bad-yaml",
    "scripted.md:1 foreign-frontmatter",
    "typo-in-deny.md:4 unknown-denied-tool",
    "unclosed.md:1 unclosed-frontmatter",
  ]);
  expect("__retinueExecuted" in globalThis).toBe(false);
});

test("an unusable file keeps its name from every other agent, and says so", async () => {
  await mkdir(join(folder, ".retinue/agents"), { recursive: true });
  await writeFile(
    join(folder, ".retinue/agents/coder.md"),
    "---\nname: coder\ndescription: d\ndisallowedTools: [shel]\n---\nText.",
  );
  const registry = await loadAgents({ projectDir: folder, builtinDir: places.builtinDir, known });
  expect(registry.get("coder")).toBeUndefined();
  expect(registry.shadowed).toMatchObject([
    { agent: { source: { scope: "builtin" } }, by: { source: { scope: "project" } } },
  ]);
  expect(registry.problems.map((problem) => problem.code)).toContain("blocked-agent");
});

test("a document and a note beside agents claim no name, unless an agent has the note's", async () => {
  const agents = join(folder, ".retinue/agents");
  await mkdir(agents, { recursive: true });
  await writeFile(join(agents, "README.md"), "");
  await writeFile(join(agents, "checklist.md"), "- one\n- two\n");
  await writeFile(join(agents, "coder.md"), "- one\n- two\n");
  const registry = await loadAgents({ projectDir: folder, builtinDir: places.builtinDir, known });
  expect(registry.broken.map(({ name }) => name)).toEqual(["coder"]);
  expect(registry.unknownAgentMessage("checklist")).toMatch(/^no agent 'checklist'/);
});

describe("what cannot be read is a problem, never a throw", () => {
  test("a loop of links ends and every file is found once", async () => {
    const agents = join(folder, ".retinue/agents");
    await mkdir(join(agents, "sub"), { recursive: true });
    await writeFile(join(agents, "sub/a.md"), agentText("a"));
    await symlink(agents, join(agents, "sub/loop"));
    await symlink(join(agents, "sub/a.md"), join(agents, "b.md"));
    await symlink(join(agents, "nowhere.md"), join(agents, "dangling.md"));
    const { files, problems } = await findAgentFiles({ projectDir: folder });
    expect(files.map(({ path }) => path.slice(agents.length + 1))).toEqual([
      "b.md",
      "dangling.md",
      "sub/a.md",
    ]);
    expect(problems).toEqual([]);
    const registry = await loadAgents({ projectDir: folder });
    expect(registry.getBroken("dangling")?.problem.code).toBe("unreadable-file");
  });

  test("pipes, large files, NUL bytes and other encodings are refused", async () => {
    const agents = join(folder, ".retinue/agents");
    await mkdir(agents, { recursive: true });
    execFileSync("mkfifo", [join(agents, "pipe.md")]);
    await writeFile(join(agents, "big.md"), `${agentText("big")}${"x".repeat(1_100_000)}`);
    await writeFile(join(agents, "nul.md"), `${agentText("nul")}\0`);
    await writeFile(join(agents, "latin.md"), Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xe9, 0x0a]));
    await writeFile(join(agents, "ok.md"), agentText("ok"));
    const registry = await loadAgents({ projectDir: folder });
    expect(registry.list().map((agent) => agent.name)).toEqual(["ok"]);
    expect(registry.problems.map(({ code }) => code)).toEqual([
      "too-large",
      "bad-encoding",
      "binary-file",
      "not-a-file",
    ]);
  });

  test("a file in place of a folder and a missing folder are nothing to report", async () => {
    await writeFile(join(folder, ".retinue"), "");
    expect(await findAgentFiles({ projectDir: folder, homeDir: join(folder, "none") })).toEqual({
      files: [],
      problems: [],
    });
  });
});

test("the places are searched in the documented order", () => {
  const dirs = listPlaces({ projectDir: "/p", homeDir: "/h", configHome: "/c", builtinDir: "/b" }).map(
    ({ dir }) => dir,
  );
  expect(dirs).toEqual([
    "/p/.retinue/agents",
    "/p/.claude/agents",
    "/p/.opencode/agent",
    "/p/.opencode/agents",
    "/p/.github/agents",
    "/p/.gemini/agents",
    "/c/retinue/agents",
    "/h/.claude/agents",
    "/c/opencode/agent",
    "/c/opencode/agents",
    "/h/.copilot/agents",
    "/h/.github/agents",
    "/h/.gemini/agents",
    "/b",
  ]);
});
