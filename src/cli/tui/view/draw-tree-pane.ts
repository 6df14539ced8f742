import { drawTree, type TreeRow } from "../../tree/draw-tree.ts";
import type { Paint as TreePaint } from "../../tree/paint.ts";
import { isLive, type RunNode } from "../../tree/run-node.ts";
import type { RunTree } from "../../tree/run-tree.ts";
import type { DrawnTree } from "./draw-screen.ts";

/** How the tree is drawn beside or under the conversation. */
export type TreePane = {
  width: number;
  height: number;
  nowMs: number;
  unicode: boolean;
  paint: TreePaint;
  selectedRunId: string | null;
  /** What the last task did stays open when it is done; else it takes one line. */
  staysOpen: boolean;
};

const MARGIN = 2;

/** The runs that matter now: what goes on, or the last task as long as it had sub-agents. */
export function drawTreePane(tree: Pick<RunTree, "roots" | "node">, pane: TreePane): DrawnTree {
  const { roots } = tree;
  const last = roots.at(-1);
  const isShown = (root: RunNode) =>
    isLive(root) || root.below.live > 0 || (root === last && root.below.runs > 0);
  const shown = roots.filter(isShown);
  if (shown.length === 0 || pane.height <= 0) return { lines: [], runIds: [] };
  const onTheWay = ancestorsOf(tree, pane.selectedRunId);
  const isOpen = (node: RunNode) =>
    isLive(node) || node.below.live > 0 || onTheWay.has(node.runId) || (node === last && pane.staysOpen);
  const { height, nowMs, unicode, paint, selectedRunId } = pane;
  const rows = drawTree(
    { roots: shown },
    { width: pane.width - MARGIN, height, nowMs, unicode, paint, isOpen },
  );
  const sign = (row: TreeRow) =>
    row.runId !== null && row.runId === selectedRunId ? paint.busy("› ") : "  ";
  return { lines: rows.map((row) => sign(row) + row.text), runIds: rows.map(({ runId }) => runId) };
}

/** The runs that must be open for the selected one to be seen. */
function ancestorsOf({ node }: Pick<RunTree, "node">, runId: string | null): ReadonlySet<string> {
  const found = new Set<string>();
  let id = runId === null ? null : (node(runId)?.parentRunId ?? null);
  while (id !== null && !found.has(id)) {
    found.add(id);
    id = node(id)?.parentRunId ?? null;
  }
  return found;
}
