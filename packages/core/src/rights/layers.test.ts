import { describe, expect, test } from "vitest";
import type { Agent, SubagentPolicy } from "../schema/agent.ts";
import type { Access, Layer, Target } from "../schema/rights.ts";
import { decide } from "./decide.ts";
import { visibleTools } from "./explain.ts";
import {
  childChain,
  delegationLayer,
  grantsLayer,
  sessionLayer,
  settingsLayer,
  toolsLayer,
} from "./layers.ts";
import { protectedLayer } from "./protected-layer.ts";

type Rights = Partial<Pick<Agent, "tools" | "askTools" | "disallowedTools" | "grants">> & {
  subagents?: Partial<SubagentPolicy>;
};

function agent(name: string, { subagents, ...rights }: Rights = {}): Agent {
  const policy = { allow: [], deny: [], execution: "parallel", maxConcurrent: 5, recursive: false } as const;
  return {
    name,
    displayName: name,
    aliases: [],
    description: "",
    prompt: "",
    model: "inherit",
    askTools: [],
    disallowedTools: [],
    context: "task_only",
    limits: {},
    retry: { attempts: 1, on: [], backoffMs: 0 },
    deliverables: [],
    workspace: "shared",
    flow: "loop",
    display: {},
    enabled: true,
    source: { format: "code", scope: "code" },
    extra: {},
    ...rights,
    ...(subagents && { subagents: { ...policy, ...subagents } }),
  };
}

const call = (tool: string, ...targets: Target[]): Access => ({ tool, groups: [], targets });
const to = (...names: string[]) =>
  call("delegate", ...names.map((name) => ({ kind: "agent" as const, agent: name })));
const says = (chain: readonly Layer[], access: Access) => decide(chain, access).verdict;

test("global ∩ parent ∩ child leaves exactly neo4j", () => {
  const parent = agent("research-coordinator", { tools: ["neo4j", "web"], disallowedTools: ["filesystem"] });
  const child = agent("data-analyst", { tools: ["neo4j"], disallowedTools: ["web"] });
  const root = [settingsLayer({ allow: ["neo4j", "web", "filesystem"] }), toolsLayer(parent)];
  const tools = ["neo4j", "web", "filesystem"].map((group) => ({ name: `${group}_tool`, groups: [group] }));
  const open = agent("open");
  expect(visibleTools(childChain(root, { parent, child }), tools)).toEqual(["neo4j_tool"]);
  expect(visibleTools(childChain(root, { parent, child: open }), tools)).toEqual(["neo4j_tool", "web_tool"]);
  expect(visibleTools(root, tools)).toEqual(["neo4j_tool", "web_tool"]);
});

test("a read-only coordinator can give shell to a tester but cannot use it itself", () => {
  const lead = agent("lead", {
    tools: ["read"],
    grants: ["read", "shell"],
    subagents: { allow: ["tester"] },
  });
  const tester = agent("tester", { tools: ["read", "shell"] });
  const root = [settingsLayer({}), toolsLayer(lead)];
  expect(says(root, call("shell"))).toBe("deny");
  const child = childChain(root, { parent: lead, child: tester });
  expect(says(child, call("shell"))).toBe("allow");
  expect(child.map((layer) => layer.name)).toEqual(["settings", "grants of lead", "tools of tester"]);
  const denied = [settingsLayer({ deny: ["shell"] }), toolsLayer(lead)];
  expect(says(childChain(denied, { parent: lead, child: tester }), call("shell"))).toBe("deny");
});

test("what an agent is denied it cannot pass on, whatever it grants", () => {
  const parent = agent("p", { grants: ["shell"], disallowedTools: ["shell"] });
  expect(says(childChain([toolsLayer(parent)], { parent, child: agent("c") }), call("shell"))).toBe("deny");
});

test("an ask binds what is passed on, unless grants say otherwise", () => {
  const asking = agent("p", { tools: ["read"], askTools: ["shell"] });
  expect(says(childChain([toolsLayer(asking)], { parent: asking, child: agent("c") }), call("shell"))).toBe(
    "ask",
  );
  const granting = agent("p", { tools: ["read"], askTools: ["shell"], grants: ["shell"] });
  expect(
    says(childChain([toolsLayer(granting)], { parent: granting, child: agent("c") }), call("shell")),
  ).toBe("allow");
});

test("whom a project's agent names, nobody has agreed to; whom the person's own agent names, the person has", () => {
  const own = agent("a", { tools: ["mail(*@evil.example)"] });
  const theirs: Agent = { ...own, source: { format: "native", scope: "project" } };
  const access = call("mail", { kind: "recipient", address: "x@evil.example" });
  for (const layer of [toolsLayer, grantsLayer]) {
    expect(decide([layer(own)], access)).toMatchObject({ verdict: "allow", consented: true });
    expect(decide([layer(theirs)], access)).toMatchObject({ verdict: "allow", consented: false });
  }
});

test("a delegation's narrowing holds for the whole subtree", () => {
  const parent = agent("p");
  const child = agent("c", { subagents: { allow: ["*"] } });
  const chain = childChain([toolsLayer(parent)], { parent, child, narrowing: ["read", "delegate"] });
  const grandchild = childChain(chain, { parent: child, child: agent("g") });
  for (const each of [chain, grandchild]) {
    expect(says(each, call("read"))).toBe("allow");
    expect(says(each, call("shell"))).toBe("deny");
  }
  expect(decide(grandchild, call("shell")).layer).toBe("delegation to c");
  expect(says([delegationLayer(["read"]), toolsLayer(child)], to("x"))).toBe("deny");
});

describe("delegating", () => {
  test("takes a list of sub-agents, whatever the tools say", () => {
    for (const tools of [undefined, ["*"], ["delegate"], ["delegate(a)"], ["read"]]) {
      const rights = tools ? { tools } : {};
      for (const subagents of [undefined, { allow: [] }]) {
        const chain = [toolsLayer(agent("p", { ...rights, ...(subagents && { subagents }) }))];
        for (const tool of ["delegate", "delegate_many", "collect_results"]) {
          expect(says(chain, { ...to("a"), tool })).toBe("deny");
          expect(visibleTools(chain, [{ name: tool, groups: ["delegation"] }])).toEqual([]);
        }
      }
      const chain = [toolsLayer(agent("p", { ...rights, subagents: { allow: ["a", "b*"] } }))];
      for (const name of ["a", "b", "bob", "general-purpose"]) expect(says(chain, to(name))).toBe("allow");
      for (const name of ["c", "A", "а", ""]) expect(says(chain, to(name))).toBe("deny");
      expect(says(chain, { ...to("a", "c"), tool: "delegate_many" })).toBe("deny");
      expect(says(chain, { ...to("a", "b"), tool: "delegate_many" })).toBe("allow");
      expect(says(chain, call("collect_results"))).toBe("allow");
      expect(says(chain, call("delegate"))).toBe("deny");
    }
  });

  test("to whom it is denied is denied to every descendant too", () => {
    const parent = agent("p", {
      tools: ["read"],
      subagents: { allow: ["*"], deny: ["x", "general-purpose"] },
    });
    const child = agent("c", { tools: ["read"], subagents: { allow: ["x", "y"] } });
    const root = [settingsLayer({ allow: ["read"] }), toolsLayer(parent)];
    expect(says(root, to("x"))).toBe("deny");
    expect(says(root, to("general-purpose"))).toBe("deny");
    expect(says(root, to("y"))).toBe("allow");
    const chain = childChain(root, { parent, child });
    expect(says(chain, to("x"))).toBe("deny");
    expect(says(chain, to("y"))).toBe("allow");
    expect(says(chain, to("z"))).toBe("deny");
  });

  test("is not blocked by an ancestor whose lists do not speak of it, but by one that denies it", () => {
    const child = agent("c", { tools: ["read"], subagents: { allow: ["y"] } });
    const silent = agent("p", { tools: ["read"], grants: ["read"], subagents: { allow: ["c"] } });
    expect(says(childChain([toolsLayer(silent)], { parent: silent, child }), to("y"))).toBe("allow");
    const denying = agent("p", { disallowedTools: ["delegate"] });
    expect(says(childChain([toolsLayer(denying)], { parent: denying, child }), to("y"))).toBe("deny");
    const naming = agent("p", { grants: ["read", "delegate(z)"] });
    expect(says(childChain([toolsLayer(naming)], { parent: naming, child }), to("y"))).toBe("deny");
  });

  test("to everyone denied takes the tools away", () => {
    const chain = [toolsLayer(agent("p", { subagents: { allow: ["a"], deny: ["*"] } }))];
    expect(visibleTools(chain, [{ name: "delegate", groups: [] }])).toEqual([]);
  });
});

test("a bad rule is reported with the agent and the list it stands in", () => {
  expect(() => toolsLayer(agent("coder", { tools: ["shell("] }))).toThrow(/agent coder, tools/);
  expect(() => grantsLayer(agent("coder", { grants: [""] }))).toThrow(/agent coder, grants/);
  expect(() => settingsLayer({ deny: ["a b"] })).toThrow(/settings, permissions\.deny/);
});

test("a read-only session denies writes by any tool, and commands", () => {
  const chain = [sessionLayer({ readOnly: true })];
  const path = { kind: "path", path: "/p/a", root: "project", relative: "a" } as const;
  expect(says(chain, call("anything", { ...path, mode: "write" }))).toBe("deny");
  expect(says(chain, call("anything", { ...path, mode: "read" }))).toBe("allow");
  expect(says(chain, call("shell", { kind: "command", command: "ls" }))).toBe("deny");
});

describe("protected files", () => {
  const chain = [
    protectedLayer({
      dataDir: "/home/me/.local/share/retinue",
      configDir: "/home/me/.config/retinue",
      homeDir: "/home/me",
    }),
  ];
  const touch = (root: "project" | "workspace" | "outside", path: string, mode: "read" | "write") => {
    const base =
      root === "project" ? "/code/" : root === "workspace" ? "/home/me/.local/share/retinue/sessions/s/" : "";
    return says(chain, call("any", { kind: "path", path: base + path, root, relative: path, mode }));
  };

  test.each([
    ".retinue/settings.json",
    ".retinue",
    ".Claude/agents/x.md",
    "deep/.claude/settings.json",
    ".opencode/agent/x.md",
    "opencode.json",
    ".github/agents/x.agent.md",
    ".gemini/settings.json",
    ".mcp.json",
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".GIT./hooks/x",
    ".g\u200cit/config",
    ".git",
  ])("%j cannot be written in project or workspace, but read", (path) => {
    expect(touch("project", path, "write")).toBe("deny");
    expect(touch("workspace", path, "write")).toBe("deny");
    expect(touch("project", path, "read")).toBe("allow");
  });

  test.each([".github/workflows/ci.yml", "src/git/config", "retinue/x", ".gitignore"])(
    "%s can be written",
    (path) => {
      expect(touch("project", path, "write")).toBe("allow");
    },
  );

  test("the database and other sessions are neither read nor written; the own workspace is open", () => {
    for (const mode of ["read", "write"] as const) {
      expect(touch("outside", "/home/me/.local/share/retinue/retinue.db", mode)).toBe("deny");
      expect(touch("outside", "/home/me/.local/share/retinue/sessions/other/x", mode)).toBe("deny");
      expect(touch("workspace", "work_products/report.html", mode)).toBe("allow");
    }
    expect(touch("outside", "/home/me/.config/retinue/settings.json", "write")).toBe("deny");
    expect(touch("outside", "/home/me/.gitconfig", "write")).toBe("deny");
  });

  test("a worktree in the data folder can be opened by name", () => {
    const open = [
      protectedLayer({ dataDir: "/d", configDir: "/c", homeDir: "/h", open: ["/d/worktrees/run_1"] }),
    ];
    const write = (path: string) =>
      says(open, call("write", { kind: "path", path, root: "project", relative: "a", mode: "write" }));
    expect(write("/d/worktrees/run_1/a")).toBe("allow");
    expect(write("/d/worktrees/run_2/a")).toBe("deny");
  });
});

test("whom a delegation's list of tools names, only a model has named", () => {
  const access = call("mail", { kind: "recipient", address: "x@evil.example" });
  expect(decide([delegationLayer(["mail(*@evil.example)"])], access)).toMatchObject({
    verdict: "allow",
    consented: false,
  });
});

test("a session's flags allow, ask and deny; a list that does not speak of delegation leaves it open", () => {
  const chain = [
    sessionLayer({ tools: ["read", "shell"], askTools: ["shell"], disallowedTools: ["read(a)"] }),
  ];
  const a = call("read", { kind: "path", path: "/p/a", root: "project", relative: "a", mode: "read" });
  expect([
    says(chain, call("read")),
    says(chain, a),
    says(chain, call("shell")),
    says(chain, call("write")),
  ]).toEqual(["allow", "deny", "ask", "deny"]);
  expect([says(chain, to("x")), says(chain, call("collect_results"))]).toEqual(["allow", "allow"]);
  expect(says([sessionLayer({ tools: ["delegate(x)"] })], to("y"))).toBe("deny");
});
