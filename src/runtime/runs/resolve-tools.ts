import { resolveRule } from "../../agents/fields/resolve-rule.ts";
import { DELEGATION_TOOLS } from "../../permissions/delegation-rules.ts";
import { gives } from "../../permissions/match.ts";
import type { ToolName } from "../../permissions/outlook.ts";
import { parseRule } from "../../permissions/rule.ts";
import type { Agent } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Layer } from "../../schema/rights.ts";
import type { Host } from "../host.ts";

/** Tools that a run has only if it may delegate. */
const OF_DELEGATION: readonly ToolName[] = [...DELEGATION_TOOLS, "merge_changes"].map((name) => ({
  name,
  groups: ["delegation"],
}));

/**
 * The list of tools that a task was given, as rules in our own names: it is read like the list of an agent file. A name
 * that is unknown, or that the agent does not hold under `chain`, is an error that lists what it holds.
 */
export function resolveTools(
  { tools, guards }: Pick<Host, "tools" | "guards">,
  { agent, chain }: { agent: Agent; chain: readonly Layer[] },
  written: readonly string[],
): string[] {
  const all: ToolName[] = [...tools.values(), ...OF_DELEGATION];
  const visible = new Set(guards.visibleTools(chain, [...tools.values()]));
  const held = all.filter(({ name }) => visible.has(name) || isDelegation(agent, name));
  const known = {
    tools: new Set(all.map(({ name }) => name)),
    groups: new Set(all.flatMap(({ groups }) => groups)),
  };
  const refuse = (why: string): never => {
    const names = held.map(({ name }) => name).join(", ") || "none";
    throw new RetinueError("input", `${why}; the agent '${agent.name}' has: ${names}`, "name some of these");
  };
  return written.flatMap((text) => {
    const resolved = resolveRule(String(text), "native", known);
    if (resolved.kind === "everything") return ["*"];
    if (resolved.kind === "unknown") return refuse(`there is no tool ${JSON.stringify(text)}`);
    if (resolved.kind === "elsewhere") return refuse(`${JSON.stringify(text)} is a tool of another program`);
    const rules =
      resolved.kind === "rules"
        ? resolved.rules
        : resolved.agents.map((name) => (name === "*" ? "delegate" : `delegate(${name})`));
    const unheld = rules.find((rule) => !held.some((tool) => givesTool(rule, tool)));
    return unheld === undefined ? rules : refuse(`the tool ${JSON.stringify(text)} is not among its tools`);
  });
}

function isDelegation({ subagents }: Agent, name: string): boolean {
  return subagents !== undefined && OF_DELEGATION.some((tool) => tool.name === name);
}

function givesTool(text: string, { name, groups }: ToolName): boolean {
  const rule = parseRule(text);
  return !("error" in rule) && gives(rule, { tool: name, groups });
}
