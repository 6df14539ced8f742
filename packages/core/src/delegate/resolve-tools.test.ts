import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { countedTool } from "../../../../test/fixtures/lives.ts";
import { defineAgent } from "../agents/define-agent.ts";
import type { Limits } from "../schema/agent.ts";
import { resolveLimits, resolveTools } from "./resolve-tools.ts";

const named = (name: string) => countedTool(name).tool;
const { host } = makeRun({ tools: [named("read"), named("grep"), named("write")] }).run;
/** What a list means for an agent that holds `read` and `grep`. */
const resolveFor = (written: string[], subagents?: { allow: string[] }) => {
  const agent = defineAgent({
    ...{ name: "reader", description: "x", prompt: "x" },
    ...(subagents && { subagents }),
  });
  const guards = { ...host.guards, visibleTools: () => ["read", "grep"] };
  return resolveTools({ tools: host.tools, guards }, { agent, chain: [] }, written);
};

test("a task's tools are those of its agent that it names, as written or all", () => {
  expect(resolveFor(["read", "grep(src/**)"])).toEqual(["read", "grep(src/**)"]);
  expect(resolveFor(["*"])).toEqual(["*"]);
});

test("a tool that the agent does not hold is refused, with those that it does", () => {
  expect(() => resolveFor(["read", "write"])).toThrow(
    `the tool "write" is not among its tools; the agent 'reader' has: read, grep`,
  );
  expect(() => resolveFor(["raed"])).toThrow('there is no tool "raed"');
});

test("to delegate can be given to an agent that leads others only, to any of them or to those that are named", () => {
  expect(resolveFor(["delegate"], { allow: ["*"] })).toEqual(["delegate"]);
  expect(resolveFor(["delegate(a, b)"], { allow: ["*"] })).toEqual(["delegate(a)", "delegate(b)"]);
  expect(() => resolveFor(["delegate"])).toThrow('the tool "delegate" is not among its tools');
});

test("limits by tool hold for the tools they name, besides the others", () => {
  const resolve = (limits: Limits) => resolveLimits({ tools: host.tools, knownTools: [] }, "limits", limits);
  const limits = { turns: 3, perTool: { read: 2, delegate: 1 } };
  expect(resolve(limits)).toEqual(limits);
  expect(resolve({ turns: 3 })).toEqual({ turns: 3 });
  expect(() => resolve({ perTool: { raed: 2 } })).toThrow('limits.perTool names the unknown tool "raed"');
});
