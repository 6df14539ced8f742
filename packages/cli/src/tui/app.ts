import { Box, Text, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement, type ReactElement, useSyncExternalStore } from "react";
import type { Paint as TreePaint } from "../tree/canvas.ts";
import { drawTree, type TreeDrawing, type TreeRow } from "../tree/draw-tree.ts";
import { isLive, type RunNode, type RunTree } from "../tree/run-tree.ts";
import { type DrawnScreen, type DrawnTree, drawScreen } from "./draw-screen.ts";
import { cleanPaste, readKeys } from "./editor.ts";
import type { SpanPainter } from "./spans.ts";
import type { Tui } from "./tui.ts";

/** What the components draw with. */
export type Look = {
  readonly paint: SpanPainter;
  readonly treePaint: TreePaint;
  readonly unicode: boolean;
  /** What was drawn last. */
  shown?: DrawnScreen;
};

/** The whole program on the screen. */
export function App({ tui, look }: { tui: Tui; look: Look }): ReactElement {
  const { columns, rows } = useWindowSize();
  const { state, nowMs } = useSyncExternalStore(tui.subscribe, tui.snapshot);
  const { selectedRunId } = state;
  const screen = drawScreen(state, {
    columns,
    rows,
    nowMs,
    paint: look.paint,
    drawTree: (width, height, staysOpen) =>
      drawTreePane(tui.tree, {
        width,
        height,
        nowMs,
        unicode: look.unicode,
        paint: look.treePaint,
        selectedRunId,
        staysOpen,
      }),
  });
  look.shown = screen;
  useInput((input, key) => {
    for (const each of readKeys(input, key)) tui.press(each, screen);
  });
  usePaste((pasted) => {
    const text = cleanPaste(pasted);
    if (text !== "") tui.press({ name: "text", text }, screen);
  });
  return createElement(ScreenLines, { screen, columns, rows });
}

/** Lines that fill the window, and the cursor where the person writes. */
export function ScreenLines({
  screen,
  columns,
  rows,
}: {
  screen: DrawnScreen;
  columns: number;
  rows: number;
}): ReactElement {
  const { setCursorPosition } = useCursor();
  setCursorPosition(screen.cursor ?? undefined);
  const lines = screen.lines.map((line, index) =>
    createElement(Text, { key: index, wrap: "truncate-end" }, line === "" ? " " : line),
  );
  return createElement(
    Box,
    { flexDirection: "column", width: columns, height: rows, overflow: "hidden" },
    lines,
  );
}

/** How the tree is drawn beside or under the conversation. */
type TreePane = TreeDrawing & {
  paint: TreePaint;
  selectedRunId: string | null;
  /** What the last task did stays open when it is done; else it takes one line. */
  staysOpen: boolean;
};

const TREE_MARGIN = 2;

/** The runs that matter now: those that have not ended, or the last task if it had sub-agents. */
function drawTreePane(tree: RunTree, { selectedRunId, staysOpen, ...drawing }: TreePane): DrawnTree {
  const { roots } = tree;
  const last = roots.at(-1);
  const isShown = (root: RunNode) =>
    isLive(root) || root.below.live > 0 || (root === last && root.below.runs > 0);
  const shown = roots.filter(isShown);
  if (shown.length === 0 || drawing.height <= 0) return { lines: [], runIds: [] };
  // What is above the selected run must be open for it to be seen.
  const onTheWay = tree.node(selectedRunId ?? "")?.parent?.line;
  const isOpen = (node: RunNode) =>
    isLive(node) || node.below.live > 0 || onTheWay?.has(node) || (node === last && staysOpen);
  const rows = drawTree({ roots: shown }, { ...drawing, width: drawing.width - TREE_MARGIN, isOpen });
  const sign = (row: TreeRow) =>
    row.runId !== null && row.runId === selectedRunId ? drawing.paint.busy("› ") : "  ";
  return { lines: rows.map((row) => sign(row) + row.text), runIds: rows.map(({ runId }) => runId) };
}
