import { knownNames } from "@retinue/builtin/built-in-agents";
import { defineAgent } from "@retinue/core/agents/define-agent";
import { createRegistry } from "@retinue/core/agents/registry";
import { expect, test } from "vitest";
import { parseToolRules, pickAgent } from "./run-options.ts";

const makeRegistry = (...names: string[]) =>
  createRegistry({ agents: names.map((name) => defineAgent({ name, description: "d", prompt: "p" })) });

test("the named agent, else main, else the only one gets the task", () => {
  expect(pickAgent(makeRegistry("a", "main"), "a")).toBe("a");
  expect(pickAgent(makeRegistry("a", "main"), undefined)).toBe("main");
  expect(pickAgent(makeRegistry("a"), undefined)).toBe("a");
});

test("several agents without a main one are listed, and no agent at all is a configuration error", () => {
  expect(() => pickAgent(makeRegistry("a", "b"), undefined)).toThrow("say which one to run: a, b");
  expect(() => pickAgent(makeRegistry(), undefined)).toThrow(expect.objectContaining({ code: "config" }));
  expect(() => pickAgent(makeRegistry("a"), "c")).toThrow(expect.objectContaining({ code: "input" }));
});

test("rules of a flag are split outside of brackets and take vendors' names", () => {
  const known = knownNames(["neo4j"]);
  const values = ["Bash(npm test *), Read Edit", "neo4j", "Task(coder)", "Skill"];
  expect(parseToolRules(values, "--allowed-tools", known)).toEqual([
    "shell(npm test *)",
    "read",
    "edit",
    "neo4j",
    "delegate(coder)",
  ]);
  expect(() => parseToolRules(["raed"], "--disallowed-tools", known)).toThrow(
    "--disallowed-tools: 'raed' names no tool",
  );
});
