import type { DelegationGraph } from "../../../../../src/schema/api/agent.ts";

/** An agent, who may delegate to it, whom it may delegate to, and every cycle it is part of. */
export function neighbourhoodOf(graph: DelegationGraph, name: string): DelegationGraph {
  const cycles = graph.cycles.filter((cycle) => cycle.includes(name));
  const near = new Set([name, ...cycles.flat()]);
  for (const { from, to } of graph.edges) {
    if (from === name) near.add(to);
    if (to === name) near.add(from);
  }
  const within = new Set(cycles.flat());
  return {
    nodes: graph.nodes.filter((node) => near.has(node.name)),
    edges: graph.edges.filter(
      ({ from, to }) => from === name || to === name || (within.has(from) && within.has(to)),
    ),
    cycles,
  };
}
