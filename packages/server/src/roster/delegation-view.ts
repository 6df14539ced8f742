import { findCycles } from "@retinue/core/agents/check-references";
import type { AgentRegistry } from "@retinue/core/agents/registry";
import type { Agent } from "@retinue/core/schema/agent";
import type { AgentFace, DelegationGraph } from "@retinue/core/schema/api/agent";
import { compileWildcard, matchesWildcard } from "@retinue/core/text/wildcard";

/** Who may delegate to whom, globs such as `*` resolved to the agents there are. */
export function delegationGraph(registry: Pick<AgentRegistry, "list" | "disabled">): DelegationGraph {
  const enabled = registry.list();
  const targets = resolveTargets(enabled);
  const resolved = enabled.map((agent): Agent => {
    const { subagents } = agent;
    return subagents
      ? { ...agent, subagents: { ...subagents, allow: targets.get(agent.name) ?? [] } }
      : agent;
  });
  const reached = new Map(enabled.map(({ name }) => [name, reachableFrom(name, targets)]));
  return {
    nodes: [
      ...enabled.map((agent) => ({ ...describeFace(agent), isEnabled: true })),
      ...registry.disabled.map((agent) => ({ ...describeFace(agent), isEnabled: false })),
    ],
    edges: [...targets].flatMap(([from, names]) =>
      names.map((to) => ({ from, to, isInCycle: reached.get(to)?.has(from) ?? false })),
    ),
    cycles: findCycles(resolved),
  };
}

/** How an agent looks. */
export function describeFace({ name, displayName, display }: Agent): AgentFace {
  return { name, displayName, icon: display.icon ?? null, color: display.color ?? null };
}

/** More edges cannot be followed by eye: beyond them only agents that are named are drawn. */
const MOST_EDGES = 5_000;

function resolveTargets(enabled: readonly Agent[]): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  let count = 0;
  for (const agent of enabled) {
    const isFull = count + enabled.length > MOST_EDGES;
    const named = enabled.filter(({ name }) => agent.subagents?.allow.includes(name));
    const found = resolveDelegates(agent, isFull ? named : enabled);
    targets.set(agent.name, found);
    count += found.length;
  }
  return targets;
}

/** A glob never means the agent itself, unless it may recur. */
function resolveDelegates({ name, subagents }: Agent, agents: readonly Agent[]): string[] {
  if (!subagents) return [];
  const matches = (patterns: readonly string[], other: string): boolean =>
    patterns.some((pattern) => matchesWildcard(compileWildcard(pattern), other));
  return agents
    .map((agent) => agent.name)
    .filter((other) => matches(subagents.allow, other) && !matches(subagents.deny, other))
    .filter((other) => other !== name || subagents.recursive || subagents.allow.includes(name));
}

/** Every agent that can be reached in one step or more. */
function reachableFrom(start: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>();
  const pending = [...(targets.get(start) ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...(targets.get(next) ?? []));
  }
  return seen;
}
