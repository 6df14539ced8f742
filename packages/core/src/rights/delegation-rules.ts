import type { Agent } from "../schema/agent.ts";
import type { Rule } from "../schema/rights.ts";

/** The tools of delegation. A rule on `delegate` speaks for `delegate_many` as well. */
export const DELEGATION_TOOLS: readonly string[] = ["delegate", "delegate_many", "collect_results"];

const OFFERED: readonly Rule[] = [
  { text: "delegate", tool: "delegate" },
  { text: "collect_results", tool: "collect_results" },
];
const GENERAL_PURPOSE = "general-purpose";

/** Whom an agent itself may delegate to: those it lists and, if it lists anyone, general-purpose; nobody else. */
export function ownDelegation(agent: Agent): { allow: readonly Rule[]; deny: Rule[] } {
  const allow = agent.subagents?.allow ?? [];
  if (allow.length === 0) {
    return { allow: [], deny: OFFERED.map(({ tool }) => ({ text: `${tool}: no subagents`, tool })) };
  }
  const text = `delegate only to ${allow.join(", ")}`;
  const others: Rule = { text, tool: "delegate", except: [...allow, GENERAL_PURPOSE] };
  return { allow: OFFERED, deny: [...deniedAgents(agent), others] };
}

/** Agents that neither the agent nor anyone below it may delegate to. */
export function deniedAgents(agent: Agent): Rule[] {
  return (agent.subagents?.deny ?? []).map((name) => {
    const rule = { text: `delegate(${name})`, tool: "delegate" };
    return name === "*" ? rule : { ...rule, pattern: name };
  });
}

/**
 * A list of tools for somebody else's run, left open for delegation. Whom a child may delegate to is decided by its
 * own `subagents` and by denies, so a list that is silent on delegation does not forbid it; one that names it binds.
 */
export function withDelegationOpen(allow: readonly Rule[]): Rule[] {
  const silent = !allow.some((rule) => DELEGATION_TOOLS.includes(rule.tool));
  return [...allow, ...(silent ? OFFERED : OFFERED.slice(1))];
}
