import type { Agent } from "../schema/agent.ts";

/** Cycles listed before the search stops; more tell a person nothing new. */
const MAX_CYCLES = 50;

/**
 * Circular delegations among named references, each once, beginning with its alphabetically first agent:
 * `["a", "b"]` is a → b → a. Globs such as `*` are not followed: they name nobody in particular.
 */
export function findCycles(agents: readonly Agent[]): string[][] {
  const edges = new Map(agents.map((agent) => [agent.name, targetsOf(agent)]));
  const finished = new Set<string>();
  const found = new Map<string, string[]>();
  for (const start of [...edges.keys()].sort()) {
    const path: string[] = [];
    const onPath = new Map<string, number>();
    const pending: { name: string; leave: boolean }[] = [{ name: start, leave: false }];
    for (let step = pending.pop(); step !== undefined && found.size < MAX_CYCLES; step = pending.pop()) {
      const { name, leave } = step;
      const at = onPath.get(name);
      if (leave) {
        path.pop();
        onPath.delete(name);
        finished.add(name);
      } else if (at !== undefined) {
        const cycle = rotate(path.slice(at));
        found.set(cycle.join(" "), cycle);
      } else if (!finished.has(name)) {
        onPath.set(name, path.length);
        path.push(name);
        pending.push({ name, leave: true });
        for (const next of (edges.get(name) ?? []).toReversed()) pending.push({ name: next, leave: false });
      }
    }
  }
  return [...found.values()];
}

/** Names an agent may delegate to, globs left out. */
function targetsOf(agent: Agent): string[] {
  const { allow = [], deny = [] } = agent.subagents ?? {};
  return allow.filter((name) => !name.includes("*") && !deny.includes(name));
}

function rotate(cycle: readonly string[]): string[] {
  const first = cycle.indexOf([...cycle].sort()[0] ?? "");
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
