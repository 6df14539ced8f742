import { expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import { DELEGATION_TOOLS, deniedAgents, ownDelegation, withDelegationOpen } from "./delegation-rules.ts";

const agent = (subagents?: object) =>
  defineAgent({ name: "lead", description: "Leads.", prompt: "You lead.", ...(subagents && { subagents }) });
const opened = (...tools: string[]) =>
  withDelegationOpen(tools.map((tool) => ({ text: tool, tool })))
    .map(({ tool }) => tool)
    .filter((tool) => DELEGATION_TOOLS.includes(tool));

test("an agent that lists nobody may not delegate; one that lists somebody may use general-purpose as well", () => {
  for (const nobody of [agent(), agent({ allow: [] }), agent({ allow: [], deny: ["x"] })])
    expect(ownDelegation(nobody)).toMatchObject({
      allow: [],
      deny: [{ tool: "delegate" }, { tool: "collect_results" }],
    });
  const { deny } = ownDelegation(agent({ allow: ["scout"], deny: ["spy"] }));
  expect(deny).toMatchObject([
    { tool: "delegate", pattern: "spy" },
    { tool: "delegate", except: ["scout", "general-purpose"] },
  ]);
});

test("everybody denied is a rule on every call of the tool", () => {
  expect(deniedAgents(agent({ allow: ["*"], deny: ["*"] }))).toEqual([
    { text: "delegate(*)", tool: "delegate" },
  ]);
});

test("a list of tools leaves delegation open unless it names it; results may always be collected", () => {
  expect(opened("read")).toEqual(["delegate", "collect_results"]);
  expect(opened("delegate")).toEqual(["delegate", "collect_results"]);
  expect(opened("delegate_many")).toEqual(["delegate_many", "collect_results"]);
});
