import { type Choice, chooseRows, type IsOpen, total } from "./choose-rows.ts";
import { drawRow, type RowStyle } from "./draw-row.ts";
import { glyphsFor } from "./glyphs.ts";
import { createPaint, type Paint } from "./paint.ts";
import { isLive, type RunNode } from "./run-node.ts";
import type { RunTree } from "./run-tree.ts";
import { cutTo } from "./text-width.ts";

/** How a tree is drawn. */
export type TreeDrawing = {
  /** Columns; no line is wider. */
  width: number;
  /** Lines at most. */
  height: number;
  nowMs: number;
  /** False draws with ASCII alone. */
  unicode?: boolean;
  paint?: Paint;
  /** Whether the runs below a run are shown; by default those of a run that goes on, or that has some which do. */
  isOpen?: IsOpen;
  /** Draws only what is below this run. */
  below?: RunNode;
};

/** One line, and the run it tells of; null for the line about those that do not fit. */
export type TreeRow = { readonly text: string; readonly runId: string | null };

/** Draws the tree: one line a run, what has ended without those below it, and one line for all that does not fit. */
export function drawTree({ roots }: Pick<RunTree, "roots">, drawing: TreeDrawing): TreeRow[] {
  const {
    width,
    height,
    nowMs,
    unicode = true,
    paint = createPaint(false),
    isOpen = goesOn,
    below,
  } = drawing;
  const glyphs = glyphsFor(unicode);
  const style: RowStyle = { width, nowMs, glyphs, paint };
  const choice = chooseRows({ roots, below }, height, isOpen);
  const rows: TreeRow[] = [];
  const draw = (nodes: readonly RunNode[], above: string, isRoot: boolean): void => {
    const shown = nodes.filter((node) => choice.shown.has(node));
    for (const [index, node] of shown.entries()) {
      const last = index === shown.length - 1;
      const guides = isRoot ? "" : above + (last ? glyphs.lastBranch : glyphs.branch);
      rows.push({ text: drawRow(node, guides, isOpen(node), style), runId: node.runId });
      if (isOpen(node)) draw(node.children, isRoot ? "" : above + (last ? glyphs.gap : glyphs.trunk), false);
    }
  };
  draw(below?.children ?? roots, "", true);
  if (total(choice.hidden) > 0 && rows.length < height)
    rows.push({ text: paint.dim(cutTo(describeHidden(choice, glyphs.cut), width, glyphs.cut)), runId: null });
  return rows;
}

function goesOn(node: RunNode): boolean {
  return isLive(node) || node.below.live > 0;
}

/** `… 14 more running, 3 waiting`. */
function describeHidden({ hidden }: Choice, mark: string): string {
  const { running, waiting, failed, completed } = hidden;
  const parts = Object.entries({ running, waiting, failed, completed })
    .filter(([, count]) => count > 0)
    .map(([word, count], index) => `${count.toLocaleString("en-US")}${index === 0 ? " more" : ""} ${word}`);
  return `${mark} ${parts.join(", ")}`;
}
