import { renderToString } from "ink";
import { createElement } from "react";
import { expect, test } from "vitest";
import { Lines } from "./app.ts";
import { initialState } from "./tui-state.ts";
import { drawScreen } from "./view/draw-screen.ts";
import { createPaint } from "./view/spans.ts";

test("the component shows the drawn lines as they are, blank ones too", () => {
  const [columns, rows] = [60, 12];
  const drawTree = () => ({ lines: [], runIds: [] });
  const screen = drawScreen(initialState("project", "default"), {
    columns,
    rows,
    nowMs: 0,
    paint: createPaint(false),
    drawTree,
  });
  const shown = renderToString(createElement(Lines, { screen, columns, rows }), { columns }).split("\n");
  expect(shown.map((line) => line.trimEnd())).toEqual(screen.lines.map((line) => line.trimEnd()));
});
