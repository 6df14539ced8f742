import { stripVTControlCharacters } from "node:util";
import { measureWidth, splitAt, splitClusters } from "../text-layout.ts";
import { createPaint } from "../tree/canvas.ts";

/** How a piece of text looks; without colour every style is plain. */
export type Style = "bold" | "dim" | "accent" | "good" | "bad" | "warn" | "code";

/** A piece of a line in one style. */
export type StyledSpan = { readonly text: string; readonly style?: Style };

/** A piece of a line; plain without a style. */
export function makeSpan(text: string, style?: Style): StyledSpan {
  return style ? { text, style } : { text };
}

/** Makes escape codes of spans, or leaves them out. */
export type SpanPainter = (spans: readonly StyledSpan[]) => string;

/** Creates the painter; `colour` is false where NO_COLOR or a plain terminal asks for it, `unicode` where it has ASCII only. */
export function createSpanPainter(colour: boolean, unicode = true): SpanPainter {
  const paint = createPaint(colour);
  const styles = { ...paint, accent: paint.busy, code: paint.busy };
  return (spans) =>
    spans
      .map(({ text, style }) => {
        const shown = unicode ? text : toAscii(text);
        return style ? styles[style](shown) : shown;
      })
      .join("");
}

const SIGNS: Readonly<Record<string, string>> = {
  "❯": ">",
  "›": ">",
  "→": ">",
  "●": "*",
  "•": "*",
  "·": "-",
  "─": "-",
  "–": "-",
  "│": "|",
  "…": ".",
  "↑": "^",
  "↓": "v",
  "✗": "x",
};

/** The text for a terminal that has no other signs; never wider than it was. */
function toAscii(text: string): string {
  return text.replaceAll(
    /[^\u0020-\u007e]/gu,
    (sign) => SIGNS[sign] ?? (/\p{Mark}|\p{Cf}/u.test(sign) ? "" : "?"),
  );
}

/** Columns that spans take. */
export function measureSpans(spans: readonly StyledSpan[]): number {
  return spans.reduce((sum, { text }) => sum + measureWidth(text), 0);
}

/** Spans of at most `width` columns; what is cut ends in `…`. */
export function cutSpans(spans: readonly StyledSpan[], width: number): StyledSpan[] {
  if (measureSpans(spans) <= width) return [...spans];
  if (width <= 0) return [];
  const kept: StyledSpan[] = [];
  let left = width - 1;
  for (const span of spans) {
    const [head] = splitAt(span.text, left);
    kept.push({ ...span, text: head });
    left -= measureWidth(head);
    if (head !== span.text) break;
  }
  return [...kept, makeSpan("…", "dim")];
}

/** Breaks spans into lines of at most `width` columns, at blanks where there are some. */
export function wrapSpans(spans: readonly StyledSpan[], width: number): StyledSpan[][] {
  const lines: StyledSpan[][] = [];
  let line: StyledSpan[] = [];
  let used = 0;
  const flush = () => {
    lines.push(line);
    line = [];
    used = 0;
  };
  for (const { text, style } of spans) {
    const add = (piece: string) => {
      if (piece !== "") line.push(makeSpan(piece, style));
    };
    for (const word of text.split(/(?<=\s)(?=\S)/)) {
      const bare = word.trimEnd();
      const columns = measureWidth(bare);
      if (used > 0 && used + columns > width) flush();
      if (columns <= width) {
        const blanks = word.length - bare.length;
        const kept = Math.min(blanks, Math.max(0, width - used - columns));
        add(word.slice(0, bare.length + kept));
        used += columns + kept;
        continue;
      }
      let piece = "";
      for (const cluster of splitClusters(word)) {
        // A character wider than the line is cut later; it must not loop here.
        if (used > 0 && used + cluster.columns > width) {
          add(piece);
          piece = "";
          flush();
        }
        piece += cluster.segment;
        used += cluster.columns;
      }
      add(piece);
    }
  }
  flush();
  return lines;
}

/** A line of exactly `width` columns, painted: cut, or filled with blanks. */
export function fillLine(painted: string, width: number): string {
  return painted + " ".repeat(Math.max(0, width - measureWidth(stripVTControlCharacters(painted))));
}
