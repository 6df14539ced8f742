import { Graph, layout } from "@dagrejs/dagre";
import type { AgentFace, DelegationGraph } from "@retinue/core/schema/api/agent";
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { join } from "../../ui/class-names.ts";
import { AgentMark } from "../../ui/face.tsx";
import { agentPath } from "./agent-marks.tsx";
import "@xyflow/react/dist/style.css";
import { useMemo } from "react";
import { Link } from "wouter";

type AgentNode = Node<{ face: AgentFace; isEnabled: boolean; isInCycle: boolean; isHere: boolean }>;

const NODE_TYPES = { agent: AgentBox };
/** Smaller boxes could be neither read nor hit; of a large graph a part is shown, and the rest is scrolled to. */
const LEAST_ZOOM = 0.6;
const EDGE_TYPES = { routed: RoutedLine };

/** Who may delegate to whom, drawn. What it says is beside it as a list too. */
export default function GraphView({ graph, here = null }: { graph: DelegationGraph; here?: string | null }) {
  const { nodes, edges } = useMemo(() => drawn(graph, here), [graph, here]);
  return (
    <ReactFlow
      key={nodes.map(({ id }) => id).join()}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      fitView
      fitViewOptions={{ minZoom: LEAST_ZOOM, maxZoom: 1, padding: 0.08 }}
      minZoom={0.1}
      maxZoom={1.5}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnScroll={false}
      panOnScroll
      preventScrolling={false}
      proOptions={{ hideAttribution: true }}
      aria-label="Graph of delegations"
      className="[--xy-controls-button-background-color-hover:var(--hover)] [--xy-controls-button-background-color:var(--panel)] [--xy-controls-button-border-color:var(--line)] [--xy-controls-button-color-hover:var(--ink)] [--xy-controls-button-color:var(--ink-2)]"
    >
      <Background gap={20} size={1} color="var(--line)" bgColor="var(--ground)" />
      <Controls showInteractive={false} position="top-right" />
    </ReactFlow>
  );
}

function AgentBox({ data: { face, isEnabled, isInCycle, isHere } }: NodeProps<AgentNode>) {
  return (
    <>
      <Handle type="target" position={Position.Left} className="invisible" />
      <Link
        href={agentPath(face.name)}
        aria-current={isHere ? "page" : undefined}
        style={NODE}
        className={join(
          "nopan pointer-events-auto flex items-center gap-2 rounded-lg border bg-panel px-2 text-sm shadow-xs hover:bg-hover",
          isInCycle ? "border-bad" : isHere ? "border-accent" : "border-line-strong",
          isHere && "ring-2 ring-accent",
          !isEnabled && "border-dashed",
        )}
      >
        <AgentMark name={face.name} />
        <span className="min-w-0">
          <span className="block truncate leading-4 font-medium">{face.displayName}</span>
          {(isInCycle || !isEnabled) && (
            <span className={join("block text-2xs leading-3", isInCycle ? "text-bad" : "text-ink-3")}>
              {isInCycle ? "in a cycle" : "not in use"}
            </span>
          )}
        </span>
      </Link>
      <Handle type="source" position={Position.Right} className="invisible" />
      <Handle id="back" type="source" position={Position.Bottom} className="invisible" />
      <Handle id="back-to" type="target" position={Position.Bottom} className="invisible" />
    </>
  );
}

function drawn(graph: DelegationGraph, here: string | null): { nodes: AgentNode[]; edges: Edge[] } {
  const { places, routes } = layOut(graph);
  const inCycle = new Set(graph.cycles.flat());
  const nodes = graph.nodes.map(({ isEnabled, ...face }) => ({
    id: face.name,
    type: "agent",
    position: places.get(face.name) ?? { x: 0, y: 0 },
    width: NODE.width,
    height: NODE.height,
    data: { face, isEnabled, isInCycle: inCycle.has(face.name), isHere: face.name === here },
  }));
  const edges = graph.edges.map(({ from, to, isInCycle }): Edge => {
    const color = isInCycle ? "var(--bad)" : "var(--line-strong)";
    const isBack = (places.get(to)?.x ?? 0) <= (places.get(from)?.x ?? 0);
    return {
      id: edgeId(from, to),
      source: from,
      target: to,
      // What leads back runs below the boxes, or it would be hidden by them.
      ...(isBack
        ? { type: "smoothstep", sourceHandle: "back", targetHandle: "back-to", pathOptions: { offset: 14 } }
        : { type: "routed", data: { points: routes.get(edgeId(from, to)) ?? [] } }),
      ...(isInCycle && {
        label: "cycle",
        labelStyle: { fill: "var(--bad)", fontSize: 11, fontWeight: 600 },
        labelBgStyle: { fill: "var(--panel)" },
      }),
      style: { stroke: color, strokeWidth: isInCycle ? 2 : 1.25 },
      markerEnd: {
        type: MarkerType.ArrowClosed,
        color,
        width: isInCycle ? 11 : 16,
        height: isInCycle ? 11 : 16,
      },
    };
  });
  return { nodes, edges };
}

type RoutedEdge = Edge<{ points: readonly Point[] }>;

/** A line that goes straight through the gaps between boxes, and bends only between their columns. */
function RoutedLine(props: EdgeProps<RoutedEdge>) {
  const { id, sourceX, sourceY, targetX, targetY, data, markerEnd, style, label, labelStyle, labelBgStyle } =
    props;
  const stops = (data?.points ?? []).filter(({ x }) => x > sourceX && x < targetX && isInColumn(x, props));
  const through = stops.flatMap(({ x, y }) => [
    { x: x - NODE.width / 2, y },
    { x: x + NODE.width / 2, y },
  ]);
  const points = [{ x: sourceX, y: sourceY }, ...through, { x: targetX, y: targetY }];
  const path = points.map((point, index) => step(points[index - 1], point)).join(" ");
  return (
    <BaseEdge
      id={id}
      path={path}
      markerEnd={markerEnd}
      style={style}
      label={label}
      labelStyle={labelStyle}
      labelBgStyle={labelBgStyle}
      labelX={(sourceX + targetX) / 2}
      labelY={(sourceY + targetY) / 2}
    />
  );
}

/** Points between two columns only say that there is nothing to go around. */
function isInColumn(x: number, { sourceX, targetX }: { sourceX: number; targetX: number }): boolean {
  return x - NODE.width / 2 > sourceX && x + NODE.width / 2 < targetX;
}

function step(from: Point | undefined, { x, y }: Point): string {
  if (!from) return `M ${x} ${y}`;
  const middle = (from.x + x) / 2;
  return `C ${middle} ${from.y}, ${middle} ${y}, ${x} ${y}`;
}

const NODE = { width: 168, height: 40 } as const;

type Point = { x: number; y: number };

/** Where each agent stands (its upper left corner), and where a line goes through between two. */
type Layout = { places: Map<string, Point>; routes: Map<string, readonly Point[]> };

const GAP = 16;
/** Room for a line between two boxes. */
const LANE = 28;

const edgeId = (from: string, to: string): string => `${from} ${to}`;

/** Who delegates stands left of whom it delegates to; those that work alone in rows below. */
function layOut({ nodes, edges }: DelegationGraph): Layout {
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
