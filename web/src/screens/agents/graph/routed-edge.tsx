import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { NODE, type Point } from "./lay-out.ts";

/** A line with the points it goes through. */
export type RoutedEdge = Edge<{ points: readonly Point[] }>;

/** A line that goes straight through the gaps between boxes, and bends only between their columns. */
export function RoutedLine(props: EdgeProps<RoutedEdge>) {
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
