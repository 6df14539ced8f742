import { expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import { createRegistry } from "../agents/registry.ts";
import { findAgent, GENERAL_PURPOSE, isAgent } from "./find-agent.ts";

const lead = defineAgent({
  ...{ name: "lead", description: "Leads.", prompt: "You lead.", model: "large", aliases: ["boss"] },
  ...{ subagents: { allow: ["*"] }, deliverables: [{ file: "a.md" }], tools: ["read"] },
  delegation: { mandatory: true, triggers: ["lead"] },
});
const scout = defineAgent({ name: "scout", description: "x", prompt: "x" });
const registry = (disabledAgents: string[] = []) => createRegistry({ agents: [lead, scout], disabledAgents });

test("general-purpose is its parent in a clean context: its prompt and tools, no children, no contract, no triggers", () => {
  const found = findAgent(registry(), GENERAL_PURPOSE, lead);
  if (!isAgent(found)) throw new Error(found.message);
  expect(found).toMatchObject({
    ...{ name: GENERAL_PURPOSE, prompt: "You lead.", tools: lead.tools, model: "inherit" },
    ...{ aliases: [], deliverables: [] },
  });
  expect([found.subagents, found.delegation]).toEqual([undefined, undefined]);
});

test("an agent that was switched off is not found, general-purpose neither, and an unknown one is told of those there are", () => {
  expect(findAgent(registry(), "scout", lead)).toMatchObject({ name: "scout" });
  for (const name of ["scout", GENERAL_PURPOSE])
    expect(findAgent(registry([name]), name, lead)).toMatchObject({ type: "disabled", recoverable: false });
  const unknown = findAgent(registry(), "nobody", lead, [scout]);
  expect(unknown).toMatchObject({ type: "unknown_agent", message: expect.stringContaining("scout") });
  expect(unknown).not.toMatchObject({ message: expect.stringContaining("lead,") });
});
