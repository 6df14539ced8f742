import { expect, test } from "vitest";
import { defineAgent } from "../../agents/define-agent.ts";
import { createRegistry } from "../../agents/registry.ts";
import { knownNames } from "../../runtime/project/known-tools.ts";
import { pickAgent } from "./read-task.ts";
import { rulesOf } from "./run-options.ts";

const registryOf = (...names: string[]) =>
  createRegistry({ agents: names.map((name) => defineAgent({ name, description: "d", prompt: "p" })) });

test("the named agent, else main, else the only one gets the task", () => {
  expect(pickAgent(registryOf("a", "main"), "a")).toBe("a");
  expect(pickAgent(registryOf("a", "main"), undefined)).toBe("main");
  expect(pickAgent(registryOf("a"), undefined)).toBe("a");
});

test("several agents without a main one are listed, none at all is a configuration error", () => {
  expect(() => pickAgent(registryOf("a", "b"), undefined)).toThrow("say which one to run: a, b");
  expect(() => pickAgent(registryOf(), undefined)).toThrow(expect.objectContaining({ code: "config" }));
  expect(() => pickAgent(registryOf("a"), "c")).toThrow(expect.objectContaining({ code: "input" }));
});

test("rules of a flag are split outside of brackets and take vendors' names", () => {
  const known = knownNames(["neo4j"]);
  const values = ["Bash(npm test *), Read Edit", "neo4j", "Task(coder)", "Skill"];
  expect(rulesOf(values, "--allowed-tools", known)).toEqual([
    "shell(npm test *)",
    "read",
    "edit",
    "neo4j",
    "delegate(coder)",
  ]);
  expect(() => rulesOf(["raed"], "--disallowed-tools", known)).toThrow(
    "--disallowed-tools: 'raed' names no tool",
  );
});
