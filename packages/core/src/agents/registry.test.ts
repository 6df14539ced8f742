import { describe, expect, test } from "vitest";
import type { BrokenAgent } from "../schema/agent.ts";
import { defineAgent } from "./define-agent.ts";
import { createRegistry } from "./registry.ts";

function agent(name: string, more: object = {}) {
  return defineAgent({ name, description: `Agent ${name}.`, prompt: "Text.", ...more });
}

const calls = (name: string, ...allow: string[]) => agent(name, { subagents: { allow } });

describe("looking up", () => {
  test("aliases lead to their agent, but a name beats an alias and the first alias stays", () => {
    const registry = createRegistry({
      agents: [
        agent("coder", { aliases: ["executor", "tester"] }),
        agent("runner", { aliases: ["executor"] }),
        agent("tester"),
      ],
    });
    expect(registry.get("executor")?.name).toBe("coder");
    expect(registry.get("tester")?.name).toBe("tester");
    expect(registry.problems.map((problem) => problem.code)).toEqual(["alias-taken", "alias-taken"]);
  });

  test("a disabled agent is not reachable by name, alias or a later agent of its name", () => {
    const off = agent("coder", { aliases: ["executor"], enabled: false });
    const registry = createRegistry({ agents: [off, agent("coder"), agent("other")] });
    expect([registry.get("coder"), registry.get("executor")]).toEqual([undefined, undefined]);
    expect(registry.isDisabled("executor")).toBe(true);
    expect(registry.list().map(({ name }) => name)).toEqual(["other"]);
    expect(registry.unknownAgentMessage("coder")).toBe("the agent 'coder' is disabled; available: other");
  });

  test("a change in the settings keeps the limits that it does not name, those of single tools too", () => {
    const limits = { turns: 9, toolCalls: 5, perTool: { read: 3, write: 2 } };
    const fields = { limits: { turns: 4, perTool: { write: 1 } } };
    const registry = createRegistry({
      agents: [agent("coder", { limits })],
      changes: [{ name: "coder", file: "/settings.json", fields }],
    });
    expect(registry.get("coder")?.limits).toEqual({ turns: 4, toolCalls: 5, perTool: { read: 3, write: 1 } });
  });

  test("settings disable by name, alias or display name", () => {
    for (const written of ["code-reviewer", "Code Reviewer", "critic"]) {
      const registry = createRegistry({
        agents: [agent("Code Reviewer", { aliases: ["critic"] })],
        disabledAgents: [written],
      });
      expect(registry.list()).toEqual([]);
    }
  });

  test("a broken definition keeps its name and the aliases of what it hides; one below a sound one keeps nothing", () => {
    const broken = (name: string, aliases: string[] = []): BrokenAgent => ({
      ...{ name, aliases, source: { format: "native", scope: "project", file: `/p/${name}.md` } },
      problem: {
        severity: "error",
        file: `/p/${name}.md`,
        line: 3,
        code: "bad-value",
        message: "no",
        fix: "fix",
      },
    });
    const registry = createRegistry({
      agents: [
        broken("coder", ["writer"]),
        broken("critic"),
        broken("gone"),
        agent("tester", { aliases: ["writer"] }),
        agent("coder", { aliases: ["executor"] }),
        agent("reviewer", { aliases: ["critic", "executor"] }),
        broken("tester"),
      ],
      disabledAgents: ["gone"],
    });
    const names = ["coder", "writer", "executor", "critic"];
    expect(names.map((name) => [registry.get(name), registry.getBroken(name)?.name])).toEqual([
      [undefined, "coder"],
      [undefined, "coder"],
      [undefined, "coder"],
      [undefined, "critic"],
    ]);
    expect(registry.list().map(({ name }) => name)).toEqual(["reviewer", "tester"]);
    expect([registry.isDisabled("coder"), registry.isDisabled("gone"), registry.getBroken("gone")]).toEqual([
      false,
      true,
      undefined,
    ]);
    expect(registry.unknownAgentMessage("executor")).toBe(
      "the agent 'executor' cannot be used, and no other takes its place: /p/coder.md:3: no; available: reviewer, tester",
    );
  });

  test("an unknown name is answered with the nearest and all available", () => {
    const registry = createRegistry({ agents: [agent("tester"), agent("coder")] });
    expect(registry.unknownAgentMessage("coderr")).toBe(
      "no agent 'coderr'; did you mean 'coder'? available: coder, tester",
    );
    expect(registry.unknownAgentMessage("zzz")).toBe("no agent 'zzz'; available: coder, tester");
    expect(registry.get("__proto__")).toBeUndefined();
  });
});

describe("references", () => {
  const codes = (registry: ReturnType<typeof createRegistry>) =>
    registry.problems.map((problem) => problem.code);

  test("an alias in subagents.allow becomes the name", () => {
    const registry = createRegistry({
      agents: [calls("main", "executor"), agent("coder", { aliases: ["executor"] })],
    });
    expect(registry.get("main")?.subagents?.allow).toEqual(["coder"]);
    expect(registry.problems).toEqual([]);
  });

  test("an unknown one is a warning that suggests a name", () => {
    const registry = createRegistry({
      agents: [calls("main", "coderr", "general-purpose", "team-*"), agent("coder")],
    });
    expect(codes(registry)).toEqual(["unknown-subagent"]);
    expect(registry.problems[0]?.message).toContain("did you mean 'coder'?");
  });

  test("a disabled one is said", () => {
    const registry = createRegistry({ agents: [calls("main", "coder"), agent("coder", { enabled: false })] });
    expect(codes(registry)).toEqual(["disabled-subagent"]);
  });

  test("circles are found with their path, each once", () => {
    const registry = createRegistry({
      agents: [
        calls("b", "c", "a"),
        calls("a", "b"),
        calls("c", "a"),
        calls("self", "self"),
        calls("out", "a"),
      ],
    });
    expect(registry.problems.map((problem) => problem.message.split(" delegate")[0])).toEqual([
      "a → b → c → a",
      "a → b → a",
      "self → self",
    ]);
  });

  test("a circle that is meant, denied or only possible through a star is no problem", () => {
    const recursive = agent("a", { subagents: { allow: ["b"], recursive: true } });
    const denied = agent("d", { subagents: { allow: ["d"], deny: ["d"] } });
    const registry = createRegistry({ agents: [recursive, calls("b", "a"), denied, calls("star", "*")] });
    expect(registry.problems).toEqual([]);
  });

  test("a chain of 20,000 agents that closes is found without exhausting the stack", () => {
    const agents = Array.from({ length: 20_000 }, (_, n) => calls(`n${n}`, `n${(n + 1) % 20_000}`));
    expect(codes(createRegistry({ agents }))).toEqual(["delegation-cycle"]);
  });
});
