import { stripVTControlCharacters } from "node:util";
import { clustersOf, widthOf } from "./measure.ts";

export { widthOf };

/** How a piece of text looks; without colour every style is plain. */
export type Style = "bold" | "dim" | "accent" | "good" | "bad" | "warn" | "code" | "chosen";

/** A piece of a line in one style. */
export type Span = { readonly text: string; readonly style?: Style };

/** Makes escape codes of spans, or leaves them out. */
export type Paint = (spans: readonly Span[]) => string;

const CODES: Readonly<Record<Style, readonly [on: string, off: string]>> = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  accent: ["36", "39"],
  good: ["32", "39"],
  bad: ["31", "39"],
  warn: ["33", "39"],
  code: ["36", "39"],
  chosen: ["7", "27"],
};

/** Creates the painter; `colour` is false where NO_COLOR or a plain terminal asks for it, `unicode` where it has ASCII only. */
export function createPaint(colour: boolean, unicode = true): Paint {
  return (spans) =>
    spans
      .map(({ text, style }) => {
        const shown = unicode ? text : toAscii(text);
        if (!colour || !style || shown === "") return shown;
        const [on, off] = CODES[style];
        return `\u001b[${on}m${shown}\u001b[${off}m`;
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

/** Spans of at most `width` columns; what is cut ends in `…`. */
export function cutSpans(spans: readonly Span[], width: number): Span[] {
  const total = spans.reduce((sum, { text }) => sum + widthOf(text), 0);
  if (total <= width) return [...spans];
  if (width <= 0) return [];
  const kept: Span[] = [];
  let left = width - 1;
  for (const span of spans) {
    const [head] = splitAt(span.text, left);
    kept.push({ ...span, text: head });
    left -= widthOf(head);
    if (head !== span.text) break;
  }
  return [...kept, { text: "…", style: "dim" }];
}

/** A text as far as it fits into `width` columns, and the rest. */
export function splitAt(text: string, width: number): [head: string, tail: string] {
  let used = 0;
  let end = 0;
  for (const { segment, columns } of clustersOf(text)) {
    used += columns;
    if (used > width) break;
    end += segment.length;
  }
  return [text.slice(0, end), text.slice(end)];
}

/** Breaks spans into lines of at most `width` columns, at blanks where there are some. */
export function wrapSpans(spans: readonly Span[], width: number): Span[][] {
  const lines: Span[][] = [];
  let line: Span[] = [];
  let used = 0;
  const flush = () => {
    lines.push(line);
    line = [];
    used = 0;
  };
  for (const { text, style } of spans) {
    const add = (piece: string) => {
      if (piece !== "") line.push({ text: piece, ...(style && { style }) });
    };
    for (const word of text.split(/(?<=\s)(?=\S)/)) {
      const bare = word.trimEnd();
      const columns = widthOf(bare);
      if (used > 0 && used + columns > width) flush();
      if (columns <= width) {
        const blanks = word.length - bare.length;
        const kept = Math.min(blanks, Math.max(0, width - used - columns));
        add(word.slice(0, bare.length + kept));
        used += columns + kept;
        continue;
      }
      let piece = "";
      for (const cluster of clustersOf(word)) {
        // One that is wider than the line is cut away later; here it must only not be waited for.
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
  return painted + " ".repeat(Math.max(0, width - widthOf(stripVTControlCharacters(painted))));
}
