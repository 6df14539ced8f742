import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { loadAgents } from "@retinue/core/agents/load-agents";
import { assembleRuntime } from "@retinue/core/runtime/create-runtime";
import { callDelegate, callTool, callTools, say } from "@retinue/core/testing";
import { expect } from "vitest";
import { type Attack, offered, resultsSeen, type World } from "./attack.ts";

const done = say("done");
/** Everything a folder holds, by path. */
function contentsOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

const PROTECTED = [
  ".retinue/settings.json",
  ".retinue/agents/evil.md",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".claude/hooks/pre.sh",
  ".claude/agents/evil.md",
  ".opencode/agent/evil.md",
  "opencode.json",
  ".github/agents/evil.agent.md",
  ".gemini/settings.json",
  ".mcp.json",
  ".vscode/mcp.json",
  "prompts/roles/coder.md",
  "packages/app/prompts/roles/evil.md",
  ".git/hooks/pre-commit",
  ".git/config",
  "packages/app/.claude/agents/evil.md",
  "packages/app/.git/hooks/pre-commit",
  "./x/../.claude/agents/evil.md",
  "link/agents/evil.md",
  "dangling",
];

/** A project with a link into a protected folder and one to a protected file that is not there yet. */
function projectWithLinks({ projectDir }: World): void {
  mkdirSync(join(projectDir, ".claude"));
  symlinkSync(".claude", join(projectDir, "link"));
  symlinkSync(".mcp.json", join(projectDir, "dangling"));
}

const writeAll = callTools(PROTECTED.map((path) => ({ tool: "write", input: { path, content: "evil" } })));

/** An agent file in Claude Code's format. */
function agentFile(name: string, model: string, line: string): string {
  return `---\nname: ${name}\ndescription: Plays ${name}.\nmodel: ${model}\n${line}\n---\nWork.\n`;
}

/** Maps of opencode's permissions, of which the last match decides, and what they let an agent write unasked. */
const FOREIGN_MAPS: Readonly<Record<string, string[]>> = {
  '{"*": ask, edit: {"*": deny, "docs/**": allow}}': ["docs/a/x", "docs/x"],
  '{edit: {"docs/**": allow, "*": deny}}': [],
  '{edit: allow, "*": deny}': [],
  '{"*": deny, write: allow}': [],
  '{edit: {"*": deny, "docs": allow}}': [],
  '{edit: {"*": deny, "docs/?": allow}}': ["docs/x"],
  '{edit: {"*": allow, "d?cs/*": deny}}': ["src/x"],
};

/** Delegation never widens rights. */
export const P_CASES: readonly Attack[] = [
  {
    id: "P1",
    title: "a tool that the parent cannot grant is not offered to a child that lists it",
    guards: ["visibleTools"],
    setup: (world) => ({
      tools: [world.tool("look"), world.tool("deploy")],
      agents: { lead: { tools: ["look"] }, child: { tools: ["look", "deploy"] } },
    }),
    turns: () => ({ lead: [callDelegate("child", "x"), done], child: [callTool("deploy", {}), done] }),
    oracle: ({ world, t }) => {
      expect(offered(t, "child")).toEqual(["look"]);
      expect(world.count("deploy")).toBe(0);
    },
  },
  {
    id: "P1b",
    title: "and calling it by name does nothing",
    guards: ["visibleTools", "decide"],
    setup: (world) => ({
      tools: [world.tool("look"), world.tool("deploy")],
      agents: { lead: { tools: ["look"] }, child: { tools: ["look", "deploy"] } },
    }),
    turns: () => ({ lead: [callDelegate("child", "x"), done], child: [callTool("deploy", {}), done] }),
    oracle: ({ world }) => expect(world.count("deploy")).toBe(0),
  },
  ...(["omitted", "*"] as const).map(
    (tools): Attack => ({
      id: `P2 ${tools}`,
      title: "a child without a list of its own, or with a star, gets only what its parent grants",
      guards: ["visibleTools", "decide"],
      setup: (world) => ({
        tools: [world.tool("look"), world.tool("deploy"), world.tool("mail")],
        agents: {
          lead: { tools: ["look", "deploy"], grants: ["look"] },
          child: tools === "*" ? { tools: ["*"] } : {},
        },
      }),
      turns: () => ({
        lead: [callDelegate("child", "x"), done],
        child: [
          callTools([
            { tool: "deploy", input: {} },
            { tool: "mail", input: {} },
          ]),
          done,
        ],
      }),
      oracle: ({ world, t }) => {
        expect(offered(t, "child")).toEqual(["look"]);
        expect(world.count("deploy") + world.count("mail")).toBe(0);
      },
    }),
  ),
  {
    id: "P3",
    title: "look-alike names of a tool are unknown tools",
    noGuard: "a name that no tool has is no tool; no guard is asked about it",
    setup: (world) => ({ tools: [world.tool("bash")], agents: { lead: { limits: { toolCalls: 50 } } } }),
    turns: (world) => ({
      lead: [
        callTools(
          [
            "BASH",
            "Bash",
            " bash",
            "bash ",
            "bash\n",
            "b\u0430sh",
            "ba\u200bsh",
            "\ufeffbash",
            "bash\0",
            "./bash",
            "bash()",
            "__proto__",
            "constructor",
            "toString",
          ]
            .concat(world.broken ? "bash" : [])
            .map((tool) => ({ tool, input: {} })),
        ),
        done,
      ],
    }),
    oracle: ({ world, t }) => {
      expect(world.count("bash")).toBe(0);
      for (const { text, isError } of resultsSeen(t, "lead")) {
        expect(isError).toBe(true);
        expect(text).toMatch(/^there is no tool '.*'; (?:did you mean 'bash'\? )?available: bash$/s);
      }
    },
  },
  {
    id: "P4",
    title: "a tool that the agent does not list is denied when called by name",
    guards: ["decide", "visibleTools"],
    setup: (world) => ({
      tools: [world.tool("look"), world.tool("deploy")],
      agents: { lead: { tools: ["look"] } },
    }),
    turns: () => ({ lead: [callTool("deploy", {}), done] }),
    oracle: ({ world }) => expect(world.count("deploy")).toBe(0),
  },
  {
    id: "P7",
    title: "an agent cannot edit agent files, and an edit from outside changes nothing for those at work",
    guards: ["decide"],
    setup: (world) => {
      const folder = join(world.projectDir, ".claude/agents");
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, "chief.md"),
        agentFile("chief", "lead", "tools: Read, Write, outside_edit, deploy, Agent(child)"),
      );
      writeFileSync(join(folder, "child.md"), agentFile("child", "child", "tools: Read"));
      return {};
    },
    turns: () => ({
      lead: [
        callTool("write", { path: ".claude/agents/child.md", content: agentFile("child", "child", "") }),
        callTool("outside_edit", {}),
        callDelegate("child", "x"),
        done,
      ],
      child: [callTool("deploy", {}), done],
    }),
    act: async (t, world) => {
      const file = join(world.projectDir, ".claude/agents/child.md");
      const edit = world.tool("outside_edit", {
        execute: async () => {
          world.seen.push(readFileSync(file, "utf8"));
          writeFileSync(file, agentFile("child", "child", ""));
          return "edited";
        },
      });
      const tools = [...codeTools, edit, world.tool("deploy")];
      const { projectDir, dataDir, outsideDir } = world;
      const agents = await loadAgents({ projectDir, homeDir: outsideDir });
      const options = { agents, tools, models: t.models, projectDir, dataDir, database: ":memory:", env: {} };
      const runtime = assembleRuntime(options, world.off);
      return runtime.run({ agent: "chief", task: "go" }).finally(() => runtime.close());
    },
    oracle: ({ world, t, result }) => {
      expect(result.status).toBe("completed");
      expect(world.seen).toEqual([agentFile("child", "child", "tools: Read")]);
      expect(offered(t, "child")).toEqual(["read"]);
      expect(world.count("deploy")).toBe(0);
    },
  },
  {
    id: "P7b",
    title: "definitions cannot be changed in memory while they are in use",
    noGuard: "definitions are frozen objects; no guard looks after them",
    setup: (world) => ({
      tools: [
        world.tool("deploy"),
        world.tool("look"),
        world.tool("tamper", { execute: async () => String(world.seen.map((act) => (act as () => void)())) }),
      ],
      agents: { child: { tools: ["look"] } },
    }),
    turns: (world) => ({
      lead: [callTool("tamper", {}), callDelegate("child", "x"), done],
      child: [callTool(world.broken ? "look" : "deploy", {}), done],
    }),
    act: (t, world) => {
      const child = t.runtime.agents.get("child");
      world.seen.push(() => Reflect.apply(Array.prototype.push, child?.tools, ["deploy"]));
      world.seen.push(() => Object.assign(child ?? {}, { tools: ["deploy"] }));
      return t.runtime.run({ agent: "lead", task: "go" });
    },
    oracle: ({ world, t }) => {
      expect(offered(t, "child")).toEqual(["look"]);
      expect(world.count("deploy") + world.count("look")).toBe(0);
    },
  },
  {
    id: "P8",
    title:
      "settings, hooks, servers and agent files that are not there cannot be created, by any path to them",
    guards: ["decide"],
    setup: (world) => {
      projectWithLinks(world);
      world.seen.push(contentsOf(world.projectDir));
      return { tools: codeTools };
    },
    turns: () => ({ lead: [writeAll, done] }),
    oracle: ({ world, t }) => {
      expect(contentsOf(world.projectDir)).toEqual(world.seen[0]);
      expect(resultsSeen(t, "lead").filter((result) => !result.isError)).toEqual([]);
    },
  },
  {
    id: "P8b",
    title: "nor by a child with every right of its parent, in its workspace",
    guards: ["decide"],
    setup: () => ({ tools: codeTools, permissionMode: "bypassPermissions" }),
    turns: () => ({
      lead: [callDelegate("child", "x"), done],
      child: [
        callTools(
          PROTECTED.slice(0, 15).map((path) => ({
            tool: "write",
            input: { path: `workspace:${path}`, content: "evil" },
          })),
        ),
        done,
      ],
    }),
    oracle: ({ t }) => {
      const results = resultsSeen(t, "child");
      expect(results).toHaveLength(15);
      expect(results.filter((result) => !result.isError)).toEqual([]);
    },
  },
  {
    id: "P9",
    title: "what a read-only parent spawns cannot write",
    guards: ["decide", "visibleTools"],
    setup: () => ({
      tools: codeTools,
      agents: { reader: { tools: ["read", "ls"] }, writer: { tools: ["read", "write"] } },
    }),
    turns: () => ({
      reader: [callDelegate("writer", "x"), done],
      writer: [
        callTool("write", { path: "a.txt", content: "a" }),
        callTool("write", { path: "workspace:a.txt", content: "a" }),
        done,
      ],
    }),
    oracle: ({ world, result }) => {
      expect(contentsOf(world.projectDir)).toEqual([]);
      expect(result.files_modified).toEqual([]);
    },
  },
  {
    id: "P9b",
    title: "a tester writes only where its pattern says, and what it spawns no further",
    guards: ["decide"],
    setup: () => ({
      tools: codeTools,
      agents: { tester: { tools: ["read", "write(test/**)"] }, helper: { tools: ["write"] } },
    }),
    turns: () => ({
      tester: [callTool("write", { path: "src/a.ts", content: "a" }), callDelegate("helper", "x"), done],
      helper: [
        callTool("write", { path: "test/../src/b.ts", content: "b" }),
        callTool("write", { path: "test/c.ts", content: "c" }),
        done,
      ],
    }),
    oracle: ({ world }) => expect(contentsOf(world.projectDir)).toEqual(["test", "test/c.ts"]),
  },
  ...Object.entries(FOREIGN_MAPS).map(
    ([permission, left], index): Attack => ({
      id: `P18-${index + 1}`,
      title: `an imported agent with opencode's permission ${permission} writes only what opencode lets it write unasked`,
      guards: ["visibleTools", "decide"],
      setup: (world) => {
        mkdirSync(join(world.projectDir, ".opencode/agent"), { recursive: true });
        writeFileSync(
          join(world.projectDir, ".opencode/agent/chief.md"),
          agentFile("chief", "lead", `permission: ${permission}`),
        );
        return { agents: { lead: {} } };
      },
      turns: () => ({
        lead: [
          callTools(
            ["src/x", "docs/x", "docs/a/x"].map((path) => ({ tool: "write", input: { path, content: "x" } })),
          ),
          done,
        ],
      }),
      act: async (t, world) => {
        const { projectDir, dataDir, outsideDir } = world;
        const agents = await loadAgents({ projectDir, homeDir: outsideDir });
        const options = { agents, tools: codeTools, models: t.models, projectDir, dataDir };
        const runtime = assembleRuntime(
          { ...options, permissionMode: "acceptEdits", database: ":memory:", env: {} },
          world.off,
        );
        return runtime.run({ agent: "chief", task: "go" }).finally(() => runtime.close());
      },
      oracle: ({ world }) =>
        expect(contentsOf(world.projectDir).filter((path) => path.endsWith("x"))).toEqual(left),
    }),
  ),
];
