import { Box, Text, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement, type ReactElement, useSyncExternalStore } from "react";
import type { Paint as TreePaint } from "../tree/paint.ts";
import { cleanPaste, readKeys } from "./state/keys.ts";
import type { Tui } from "./tui.ts";
import { drawScreen, type Screen } from "./view/draw-screen.ts";
import { drawTreePane } from "./view/draw-tree-pane.ts";
import type { Paint } from "./view/spans.ts";

/** What the components draw with. */
export type Look = {
  readonly paint: Paint;
  readonly treePaint: TreePaint;
  readonly unicode: boolean;
  /** What was drawn last. */
  shown?: Screen;
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
  return createElement(Lines, { screen, columns, rows });
}

/** Lines that fill the window, and the cursor where the person writes. */
export function Lines({
  screen,
  columns,
  rows,
}: {
  screen: Screen;
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
