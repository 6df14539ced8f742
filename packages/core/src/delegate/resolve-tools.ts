import { addToolLimits } from "../agents/fields/read-own-values.ts";
import { resolveRule, resolveToolName } from "../agents/fields/resolve-rule.ts";
import { DELEGATION_TOOLS } from "../rights/delegation-rules.ts";
import type { ToolName } from "../rights/explain.ts";
import { gives } from "../rights/match.ts";
import { parseRule } from "../rights/rule.ts";
import type { Host } from "../run/run.ts";
import type { Agent, Limits } from "../schema/agent.ts";
import { checkLimits } from "../schema/check-numbers.ts";
import { RetinueError } from "../schema/error.ts";
import type { Layer } from "../schema/rights.ts";

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
  const known = namesIn(all);
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

/**
 * Limits with those by tool in our own names, read like a list of tools: of two spellings of one tool the lower limit holds. Throws
 * for one that would not hold, be it no number or for a tool that there is not; `where` names whose limits they are.
 */
export function resolveLimits(
  { tools, knownTools }: Pick<Host, "tools" | "knownTools">,
  where: string,
  limits: Limits = {},
): Limits {
  checkLimits(where, limits);
  const { perTool, ...others } = limits;
  if (perTool === undefined) return others;
  const own: ToolName[] = [...tools.values(), ...OF_DELEGATION];
  const there = namesIn(own);
  // A known tool that is not here is never called, so its limit holds.
  const known = namesIn([...own, ...knownTools]);
  const resolved: Record<string, number> = {};
  for (const [written, calls] of Object.entries(perTool)) {
    const tool = resolveToolName(written, "native", known, there.tools);
    if ("hint" in tool)
      throw new RetinueError(
        "input",
        `${where}.perTool names the unknown tool ${JSON.stringify(written)}, so its limit would not hold; ${tool.hint}`,
        "correct the name or remove it",
      );
    addToolLimits(resolved, tool.names, calls);
  }
  return { ...others, perTool: resolved };
}

function namesIn(all: readonly ToolName[]): { tools: Set<string>; groups: Set<string> } {
  return {
    tools: new Set(all.map(({ name }) => name)),
    groups: new Set(all.flatMap(({ groups }) => groups)),
  };
}

function isDelegation({ subagents }: Agent, name: string): boolean {
  return subagents !== undefined && OF_DELEGATION.some((tool) => tool.name === name);
}

function givesTool(text: string, { name, groups }: ToolName): boolean {
  const rule = parseRule(text);
  return !("error" in rule) && gives(rule, { tool: name, groups });
}
