import { Graph, layout } from "@dagrejs/dagre";
import type { DelegationGraph } from "../../../../../src/schema/api/agent.ts";

/** How large an agent is drawn. */
export const NODE = { width: 168, height: 40 } as const;

const GAP = 16;
/** Room for a line between two boxes. */
const LANE = 28;

/** Where each agent stands: who delegates left of whom it delegates to; those that work alone in rows below. */
export function layOut({ nodes, edges }: DelegationGraph): Map<string, { x: number; y: number }> {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: LANE, ranksep: 96 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of nodes) if (joined.has(name)) graph.setNode(name, { ...NODE });
  for (const { from, to } of edges) if (graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  layout(graph);
  const places = new Map<string, { x: number; y: number }>();
  let bottom = 0;
  for (const name of graph.nodes()) {
    const { x = 0, y = 0 } = graph.node(name) as { x?: number; y?: number };
    places.set(name, { x: x - NODE.width / 2, y: y - NODE.height / 2 });
    bottom = Math.max(bottom, y + NODE.height / 2 + GAP * 3);
  }
  const alone = nodes.filter(({ name }) => !joined.has(name));
  const columns = Math.max(3, Math.ceil(Math.sqrt(alone.length)));
  alone.forEach(({ name }, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    places.set(name, { x: column * (NODE.width + GAP), y: bottom + row * (NODE.height + GAP) });
  });
  return places;
}
