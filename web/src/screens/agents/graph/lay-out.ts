import { Graph, layout } from "@dagrejs/dagre";
import type { DelegationGraph } from "../../../../../src/schema/api/agent.ts";

/** How large an agent is drawn. */
export const NODE = { width: 168, height: 40 } as const;

/** A place in the drawing. */
export type Point = { x: number; y: number };

/** Where each agent stands (its upper left corner), and where a line goes through between two. */
export type Layout = { places: Map<string, Point>; routes: Map<string, readonly Point[]> };

const GAP = 16;
/** Room for a line between two boxes. */
const LANE = 28;

/** The name of a line. */
export const edgeId = (from: string, to: string): string => `${from} ${to}`;

/** Who delegates stands left of whom it delegates to; those that work alone in rows below. */
export function layOut({ nodes, edges }: DelegationGraph): Layout {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const graph = new Graph<object, Point, { points?: Point[] }>();
  graph.setGraph({ rankdir: "LR", nodesep: LANE, ranksep: 88, edgesep: GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of nodes) if (joined.has(name)) graph.setNode(name, { ...NODE, x: 0, y: 0 });
  for (const { from, to } of edges) if (graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  layout(graph);
  const places = new Map(graph.nodes().map((name) => [name, corner(graph.node(name))]));
  const routes = new Map(
    graph.edges().map((edge) => [edgeId(edge.v, edge.w), (graph.edge(edge)?.points ?? []).slice(1, -1)]),
  );
  const bottom = Math.max(0, ...[...places.values()].map(({ y }) => y + NODE.height + GAP * 3));
  const alone = nodes.filter(({ name }) => !joined.has(name));
  const columns = Math.max(3, Math.ceil(Math.sqrt(alone.length)));
  alone.forEach(({ name }, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    places.set(name, { x: column * (NODE.width + GAP), y: bottom + row * (NODE.height + GAP) });
  });
  return { places, routes };
}

function corner({ x, y }: Point): Point {
  return { x: x - NODE.width / 2, y: y - NODE.height / 2 };
}
