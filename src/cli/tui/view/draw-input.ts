import type { Completion } from "../state/complete.ts";
import type { Editor } from "../state/editor.ts";
import { cutSpans, type Span, splitAt, widthOf } from "./spans.ts";

/** Lines of the input, and where in them the cursor stands. */
export type DrawnInput = { lines: Span[][]; cursor: { x: number; y: number } };

const MARGIN = 2;
/** Code units that a character takes at most, as far as rows are concerned. */
const MOST_UNITS = 16;

/** The text being written, broken at the width, with as many lines as fit around the cursor. */
export function drawInput(
  { text, cursor }: Editor,
  { width, height, hint, sign = "❯ " }: { width: number; height: number; hint: string; sign?: string },
): DrawnInput {
  const columns = Math.max(1, width - MARGIN - 1);
  if (text === "")
    return {
      lines: [
        cutSpans(
          [
            { text: sign, style: "accent" },
            { text: hint, style: "dim" },
          ],
          width,
        ),
      ],
      cursor: { x: MARGIN, y: 0 },
    };
  const { rows, at } = layOut(text, cursor, columns);
  const first = Math.max(0, Math.min(at.y - Math.floor(height / 2), rows.length - height));
  const lines = rows
    .slice(first, first + height)
    .map((row, index): Span[] => [
      first + index === 0
        ? { text: sign, style: "accent" }
        : { text: first + index === first && first > 0 ? "↑ " : "  ", style: "dim" },
      { text: row },
    ]);
  return { lines, cursor: { x: MARGIN + at.x, y: at.y - first } };
}

/** Rows of a text and the place of an offset in them. */
function layOut(
  text: string,
  cursor: number,
  columns: number,
): { rows: string[]; at: { x: number; y: number } } {
  const rows: string[] = [];
  const at = { x: 0, y: 0 };
  let offset = 0;
  for (const line of text.split("\n")) {
    let rest = line;
    let isFirst = true;
    while (isFirst || rest !== "") {
      isFirst = false;
      // Only the beginning is measured: what follows may be a pasted book.
      const [head] = splitAt(rest.slice(0, columns * MOST_UNITS), columns);
      // A character wider than the window still takes a row of its own, or this would never end.
      const row = head === "" ? rest.slice(0, MOST_UNITS) : head;
      if (cursor >= offset && cursor <= offset + row.length)
        Object.assign(at, { x: Math.min(columns, widthOf(row.slice(0, cursor - offset))), y: rows.length });
      rows.push(row);
      offset += row.length;
      rest = rest.slice(row.length);
    }
    offset += 1;
  }
  return { rows, at };
}

/** The choices of a completion, at most `height` of them around the chosen one. */
export function drawCompletion({ items, at, kind }: Completion, width: number, height: number): Span[][] {
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), items.length - height));
  const sign = kind === "command" ? "/" : kind === "file" ? "@" : "";
  const shown = items.slice(first, first + height);
  const widest = Math.min(40, Math.max(...shown.map(({ value }) => widthOf(value))));
  return shown.map(({ value, about }, index) => {
    const isChosen = first + index === at;
    const gap = " ".repeat(Math.max(2, widest - widthOf(value) + 2));
    return cutSpans(
      [
        { text: isChosen ? "› " : "  ", style: "accent" },
        { text: `${sign}${value}`, style: isChosen ? "bold" : "dim" },
        { text: about === "" ? "" : `${gap}${about}`, style: "dim" },
      ],
      width,
    );
  });
}
