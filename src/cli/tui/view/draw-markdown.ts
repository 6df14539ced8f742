import { plainText } from "../../plain-text.ts";
import { type Span, type Style, wrapSpans } from "./spans.ts";

/** Markdown as lines of at most `width` columns: headings, lists, quotes, code and emphasis; everything else as it is. */
export function drawMarkdown(source: string, width: number): Span[][] {
  const lines: Span[][] = [];
  let fence: string | undefined;
  for (const line of plainText(source).replaceAll("\t", "    ").trimEnd().split("\n")) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined && mark) {
      fence = mark;
      continue;
    }
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      else lines.push(...indented([{ text: line, style: "code" }], [{ text: "  " }], width));
      continue;
    }
    lines.push(...drawLine(line, width));
  }
  return lines;
}

const MOST_KEPT = 5_000;
const kept = new Map<string, Span[][]>();

/** A line as it was drawn before, if it was: streamed text grows at its end and is drawn again and again. */
function drawLine(line: string, width: number): Span[][] {
  const key = `${width} ${line}`;
  const known = kept.get(key);
  if (known) return known;
  const drawn = drawNewLine(line, width);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, drawn);
  return drawn;
}

function drawNewLine(line: string, width: number): Span[][] {
  const heading = /^#{1,6}\s+(.*)$/.exec(line);
  if (heading) return indented(inline(heading[1] ?? "", "bold"), [], width);
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line))
    return [[{ text: "─".repeat(Math.min(width, 20)), style: "dim" }]];
  const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/.exec(line);
  if (item) {
    const [, blanks = "", sign = "", text = ""] = item;
    const bullet = /^\d/.test(sign) ? sign : "•";
    return indented(inline(text), [{ text: `${blanks.slice(0, 12)}${bullet} `, style: "dim" }], width);
  }
  const quote = /^>\s?(.*)$/.exec(line);
  if (quote) return indented(inline(quote[1] ?? "", "dim"), [{ text: "│ ", style: "dim" }], width, true);
  return indented(inline(line), [{ text: /^ */.exec(line)?.[0].slice(0, 12) ?? "" }], width);
}

/** The text behind a margin that its further lines keep as blanks, or as it is. */
function indented(spans: readonly Span[], margin: readonly Span[], width: number, repeats = false): Span[][] {
  const columns = margin.reduce((sum, { text }) => sum + text.length, 0);
  const blank: Span[] = columns > 0 ? [{ text: " ".repeat(columns) }] : [];
  const text = spans.map((span, index) =>
    index === 0 && columns > 0 ? { ...span, text: span.text.trimStart() } : span,
  );
  const body = spans.some(({ style }) => style === "code") && spans.length === 1 ? spans : text;
  return wrapSpans(body, Math.max(1, width - columns)).map((line, index) => [
    ...(index === 0 || repeats ? margin : blank),
    ...line,
  ]);
}

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\[([^\]]+)\]\((\S+?)\)/g;

/** Longer lines are no prose; looking for pairs of marks in them could take for ever. */
const MOST_INLINE = 2_000;

/** Emphasis within a line. A link shows where it leads: a name alone could lie. */
function inline(text: string, base?: Style): Span[] {
  const plain = (piece: string): Span[] =>
    piece === "" ? [] : [{ text: piece, ...(base && { style: base }) }];
  if (text.length > MOST_INLINE) return plain(text);
  const spans: Span[] = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, strong, strongToo, label, target] = found;
    spans.push(...plain(text.slice(at, found.index)));
    if (code !== undefined) spans.push({ text: code, style: "code" });
    else if (label !== undefined) spans.push(...plain(label === target ? label : `${label} (${target})`));
    else spans.push({ text: strong ?? strongToo ?? "", style: "bold" });
    at = found.index + whole.length;
  }
  return [...spans, ...plain(text.slice(at))];
}
