import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRule } from "../../rights/rule.ts";
import type { AgentFormat } from "../../schema/agent.ts";
import { parseAgentFile } from "../parse-agent-file.ts";
import { resolveRule } from "./resolve-rule.ts";

const known = {
  tools: new Set(
    "read write edit shell grep glob ls web_search web_fetch todo delegate gmail_send_email".split(" "),
  ),
  groups: new Set(["web", "filesystem"]),
  servers: new Set(["jira", "my_srv"]),
};

async function rights(format: AgentFormat, yaml: string) {
  const text = `---\nname: x\ndescription: d\n${yaml}\n---\nText.`;
  const { agent, problems } = await parseAgentFile(text, { file: "/x.md", format, scope: "project", known });
  if (agent === undefined) throw new Error(JSON.stringify(problems));
  for (const rule of [...(agent.tools ?? []), ...agent.askTools, ...agent.disallowedTools]) {
    expect(parseRule(rule)).not.toHaveProperty("error");
  }
  const serious = problems.filter((problem) => problem.severity !== "info").map((problem) => problem.code);
  const { tools, askTools: ask, disallowedTools: deny, subagents } = agent;
  return { tools, ask, deny, allow: subagents?.allow, serious };
}

describe("tool names", () => {
  test.each<[string, string[]]>([
    ["Read read_file NotebookRead", ["read"]],
    ["Write write_file", ["write"]],
    ["Edit MultiEdit patch", ["edit"]],
    ["Bash run_shell_command runCommands", ["shell"]],
    ["Grep grep_search search codebase", ["grep"]],
    ["Glob find", ["glob"]],
    ["LS list_directory", ["ls"]],
    ["WebSearch google_web_search", ["web_search"]],
    ["WebFetch fetch", ["web_fetch"]],
    ["TodoWrite", ["todo"]],
    ["mcp__github__get_issue", ["mcp__github__get_issue"]],
    ["mcp__github", ["mcp__github__*"]],
    ["jira_get_issue jira/get_issue", ["mcp__jira__get_issue"]],
    ["my_srv_run", ["mcp__my_srv__run"]],
    ["web", ["web"]],
    ["gmail_*", ["gmail_*"]],
  ])("%s is %j in every Markdown format of words", (names, rules) => {
    for (const name of names.split(" ")) {
      expect(resolveRule(name, "claude", known)).toEqual({ kind: "rules", rules });
    }
  });

  test("delegation by any name carries the agents", () => {
    for (const name of ["Task", "Agent", "task", "invoke_agent", "delegate_to_agent", "delegate"]) {
      expect(resolveRule(`${name}(a, b)`, "claude", known)).toEqual({ kind: "delegate", agents: ["a", "b"] });
    }
  });

  test.each([
    "BASH",
    " shell",
    "shell ",
    "sh\u200bell",
    "\u0455hell",
    "Вash",
    "shell\u0000",
    "ｓｈｅｌｌ",
    "sh\u00a0ell",
    "shell\u00a0",
    "shell(rm\u00a0-rf *)",
    "shell(rm\u200b -rf *)",
    "shell(\u202erm -rf *)",
    "read(.env\ufe0f)",
    "read(\u3164.env)",
    "shell(",
    "shell)",
    "shell()",
    "sentry_get",
    "other/tool",
    "",
    "constructor",
    "toString",
    "__proto__",
  ])("%j is unknown, never a real tool", (name) => {
    expect(resolveRule(name, "native", known).kind).toBe("unknown");
  });

  test("a changed spelling of a tool is never resolved to it", () => {
    const changed = fc
      .tuple(
        fc.constantFrom(...known.tools),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 2, unit: "binary" }),
      )
      .map(([tool, at, more]) => [
        tool,
        tool.slice(0, at % (tool.length + 1)) + more + tool.slice(at % (tool.length + 1)),
      ]);
    fc.assert(
      fc.property(changed, ([tool = "", name = ""]) => {
        const resolved = resolveRule(name, "native", known);
        if (resolved.kind === "rules") expect(resolved.rules).not.toContain(tool);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("Claude", () => {
  test("Agent(a, b) is whom it may delegate to, patterns stay, commas in brackets do not split", async () => {
    expect(await rights("claude", "tools: Agent(a, b), Bash(git log:*), Read, Bash(echo a, b)")).toEqual({
      tools: ["shell(git log:*)", "read", "shell(echo a, b)"],
      ask: [],
      deny: [],
      allow: ["a", "b"],
      serious: [],
    });
  });

  test("a YAML list that was split inside brackets is put together again", async () => {
    expect(await rights("claude", "tools: [Agent(a, b), Read]")).toMatchObject({
      tools: ["read"],
      allow: ["a", "b"],
    });
    expect((await rights("claude", "tools: [Read, Bash(a, b]")).serious).toEqual([
      "unknown-tool",
      "unknown-tool",
    ]);
  });

  test("a bare Task opens every agent unless a list says otherwise", async () => {
    expect((await rights("claude", "tools: Read, Task")).allow).toEqual(["*"]);
    expect((await rights("native", "tools: [read, delegate]\nsubagents: {allow: [a]}")).allow).toEqual(["a"]);
    expect((await rights("claude", "tools: Read")).allow).toBeUndefined();
  });

  test("denied patterns are written so that they still match", async () => {
    const yaml =
      "disallowedTools: WebFetch(domain:evil.com), Read(./.env), Edit(/docs/**), Read(//etc/passwd), Read(secrets/), Task(Explore)";
    expect((await rights("claude", yaml)).deny).toEqual([
      "web_fetch(evil.com)",
      "read(**/.env)",
      "edit(project:docs/**)",
      "write(project:docs/**)",
      "read(/etc/passwd)",
      "read(**/secrets/**)",
      "delegate(explore)",
    ]);
  });

  test("denying a tool that only Claude has costs nothing", async () => {
    expect(await rights("claude", "disallowedTools: ExitPlanMode, Bash")).toMatchObject({
      deny: ["shell"],
      serious: [],
    });
  });

  test("permissionMode plan takes writing away, and no mode gives anything", async () => {
    expect(await rights("claude", "permissionMode: plan")).toMatchObject({
      ask: [],
      deny: ["write", "edit", "git_commit", "shell", "test"],
    });
    expect(await rights("claude", "tools: Read\npermissionMode: bypassPermissions")).toMatchObject({
      tools: ["read"],
      deny: [],
    });
  });
});

describe("unknown names", () => {
  test("in tools they are warnings while another is known", async () => {
    expect(await rights("native", "tools: [read, reed]")).toMatchObject({
      tools: ["read"],
      serious: ["unknown-tool"],
    });
  });

  test("if none is known the agent has no tools, and that is said", async () => {
    expect(await rights("native", "tools: [reed, Skill]")).toMatchObject({
      tools: [],
      serious: ["unknown-tool", "no-known-tools"],
    });
  });

  test.each(["tools: '*'", "tools: all", "tools: ['*']"])(
    "%s means everything the parent grants",
    async (yaml) => {
      expect((await rights("native", yaml)).tools).toBeUndefined();
    },
  );

  test("a star among the grants passes on everything, not only what the agent itself uses", async () => {
    const text = "---\nname: x\ndescription: d\ntools: [read]\ngrants: ['*']\n---\nText.";
    const { agent } = await parseAgentFile(text, {
      file: "/x.md",
      format: "native",
      scope: "project",
      known,
    });
    expect(agent?.grants).toEqual(["*"]);
  });

  test("an empty list means no tools", async () => {
    expect(await rights("native", "tools: []")).toMatchObject({ tools: [], serious: [] });
  });
});

/** opencode asks for these unless a file says otherwise. */
const SECRETS = ["read(**/*.env)", "read(**/*.env.*/**)"];

describe("opencode", () => {
  test("false switches deny, and one right covers every file change", async () => {
    expect(await rights("opencode", "tools: {write: false, bash: true, sentry_*: false}")).toEqual({
      tools: undefined,
      ask: SECRETS,
      deny: ["write", "edit", "mcp__sentry__*"],
      allow: undefined,
      serious: [],
    });
  });

  test("a false star makes the true ones a whitelist", async () => {
    expect((await rights("opencode", "tools: {'*': false, read: true, bash: true}")).tools).toEqual([
      "read",
      "shell",
    ]);
  });

  test("words for tools deny and ask", async () => {
    expect(
      await rights("opencode", "permission: {edit: ask, webfetch: deny, bash: allow, doom_loop: deny}"),
    ).toEqual({
      tools: undefined,
      ask: [...SECRETS, "write", "edit"],
      deny: ["web_fetch"],
      allow: undefined,
      serious: [],
    });
  });

  test("a general deny with exceptions leaves only the exceptions", async () => {
    const read = await rights(
      "opencode",
      "permission: {bash: {'*': deny, 'git *': allow, 'git push *': ask}}",
    );
    expect(read.tools).toContain("shell(git *)");
    expect(read.tools).toContain("read");
    expect(read.tools).not.toContain("shell");
    expect(read.ask).toEqual([...SECRETS, "shell(git push *)"]);
  });

  test("a general ask asks for its exceptions too, since asking beats allowing", async () => {
    const read = await rights("opencode", "permission: {bash: {'*': ask, 'git *': allow, 'rm *': deny}}");
    expect(read).toMatchObject({
      tools: undefined,
      ask: [...SECRETS, "shell"],
      deny: ["shell(rm *)"],
    });
  });

  test("a general deny over all tools is a whitelist", async () => {
    expect((await rights("opencode", "permission: {'*': deny, read: allow}")).tools).toEqual(["read"]);
  });

  test("a general ask over all tools spares what is allowed", async () => {
    const read = await rights("opencode", "permission: {'*': ask, read: allow}");
    expect(read.ask).toContain("shell");
    expect(read.ask).toContain("mcp__*");
    expect(read.ask).not.toContain("read");
    expect((await rights("opencode", "permission: deny")).tools).toEqual([]);
  });

  test("task permissions say whom it may delegate to", async () => {
    expect((await rights("opencode", "permission: {task: {'*': deny, reviewer: allow}}")).allow).toEqual([
      "reviewer",
    ]);
    expect(await rights("opencode", "permission: {task: deny}")).toMatchObject({
      allow: undefined,
      deny: ["delegate"],
    });
    expect(await rights("opencode", "permission: {task: ask}")).toMatchObject({
      allow: ["*"],
      ask: [...SECRETS, "delegate", "delegate(general-purpose)"],
    });
  });
});

describe("Copilot and Gemini", () => {
  test("Copilot's sets, servers and agents are understood", async () => {
    const yaml =
      "tools: ['search', 'edit', 'runCommands', 'github/*', 'search/codebase', 'execute/runInTerminal', 'usages']\nagents: [Reviewer]";
    expect(await rights("copilot", yaml)).toEqual({
      tools: ["grep", "glob", "edit", "write", "shell", "mcp__github__*"],
      ask: [],
      deny: [],
      allow: ["reviewer"],
      serious: [],
    });
  });

  test("Gemini's server tools are understood, elsewhere only those of known servers", async () => {
    expect((await rights("gemini", "tools: [read_file, mcp_docs_find_page, mcp_*]")).tools).toEqual([
      "read",
      "mcp__docs__find_page",
      "mcp__*",
    ]);
    expect((await rights("native", "tools: [read, mcp_docs_find]")).serious).toEqual(["unknown-tool"]);
    expect((await rights("native", "mcpServers: {docs: {}}\ntools: [read, docs_find]")).tools).toEqual([
      "read",
      "mcp__docs__find",
    ]);
  });
});
