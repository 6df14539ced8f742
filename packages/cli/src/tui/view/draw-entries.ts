import { stripControls } from "@retinue/core/text/plain-text";
import type { TalkEntry } from "../state/tui-state.ts";
import { type Style, type StyledSpan, wrapSpans } from "./spans.ts";

const drawnEntries = new WeakMap<TalkEntry, { width: number; lines: StyledSpan[][] }>();

/** The last lines of the conversation that end `scroll` lines above its end, and how far one could scroll. */
export function drawEntries(
  entries: readonly TalkEntry[],
  { width, height, scroll }: { width: number; height: number; scroll: number },
): { lines: StyledSpan[][]; most: number } {
  const all: StyledSpan[][] = [];
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && !isClose(entries[index - 1], entry)) all.push([]);
    all.push(...drawKeptEntry(entry, width));
  }
  const most = Math.max(0, all.length - height);
  const end = all.length - Math.min(scroll, most);
  return { lines: all.slice(Math.max(0, end - height), end), most };
}

/** Calls and endings stand together with what they belong to. */
function isClose(before: TalkEntry | undefined, entry: TalkEntry): boolean {
  if (entry.kind === "call") return before?.kind === "call";
  return entry.kind === "notice" && before?.kind === "notice";
}

function drawKeptEntry(entry: TalkEntry, width: number): StyledSpan[][] {
  const found = drawnEntries.get(entry);
  if (found?.width === width) return found.lines;
  const lines = drawEntry(entry, width);
  drawnEntries.set(entry, { width, lines });
  return lines;
}

function drawEntry(entry: TalkEntry, width: number): StyledSpan[][] {
  const inner = Math.max(1, width - 2);
  switch (entry.kind) {
    case "person": {
      const lines = wrapText(entry.text, inner);
      const to = entry.to && `→ ${entry.to.agent}${FATES[entry.to.fate]}`;
      return [
        ...behind("❯ ", "accent", lines),
        ...(to ? behind("  ", undefined, [[{ text: to, style: "dim" }]]) : []),
      ];
    }
    case "agent":
      return behind("● ", "good", drawMarkdown(entry.text || "…", inner));
    case "call":
      return behind("  ", undefined, wrapText(entry.text, inner, "dim").slice(0, 2));
    case "ended":
      return behind("  ", undefined, wrapText(entry.text, inner, entry.good ? "dim" : "bad"));
    case "notice":
      return behind(NOTICE_SIGNS[entry.level][0], NOTICE_SIGNS[entry.level][1], wrapText(entry.text, inner));
    case "output":
      return wrapText(entry.text, inner).map((line) => [{ text: "  " }, ...line]);
  }
}

const FATES = {
  sent: " · it reads this at its next turn",
  read: " · read",
  unread: " · not read: it had ended",
};
const NOTICE_SIGNS: Readonly<Record<"info" | "warning" | "error", readonly [string, Style | undefined]>> = {
  info: ["· ", "dim"],
  warning: ["! ", "warn"],
  error: ["✗ ", "bad"],
};

function behind(sign: string, style: Style | undefined, lines: readonly StyledSpan[][]): StyledSpan[][] {
  return lines.map((line, index) => [
    index === 0 ? { text: sign, ...(style && { style }) } : { text: "  " },
    ...line,
  ]);
}

/** Text as it is, broken at the width. */
export function wrapText(text: string, width: number, style?: Style): StyledSpan[][] {
  return stripControls(text)
    .replaceAll("\t", "    ")
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrapSpans([{ text: line, ...(style && { style }) }], width));
}

/** Markdown as lines of at most `width` columns: headings, lists, quotes, code and emphasis; everything else as it is. */
export function drawMarkdown(source: string, width: number): StyledSpan[][] {
  const lines: StyledSpan[][] = [];
  let fence: string | undefined;
  for (const line of stripControls(source).replaceAll("\t", "    ").trimEnd().split("\n")) {
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
const drawnLines = new Map<string, StyledSpan[][]>();

/** A line as it was drawn before, if it was: streamed text grows at its end and is drawn again and again. */
function drawLine(line: string, width: number): StyledSpan[][] {
  const key = `${width} ${line}`;
  const known = drawnLines.get(key);
  if (known) return known;
  const drawn = drawNewLine(line, width);
  if (drawnLines.size >= MOST_KEPT) drawnLines.clear();
  drawnLines.set(key, drawn);
  return drawn;
}

function drawNewLine(line: string, width: number): StyledSpan[][] {
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
function indented(
  spans: readonly StyledSpan[],
  margin: readonly StyledSpan[],
  width: number,
  repeats = false,
): StyledSpan[][] {
  const columns = margin.reduce((sum, { text }) => sum + text.length, 0);
  const blank: StyledSpan[] = columns > 0 ? [{ text: " ".repeat(columns) }] : [];
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

/** Longer lines are not prose, and matching marks in them could take too long. */
const MOST_INLINE = 2_000;

/** Emphasis within a line. A link shows where it leads: a name alone could lie. */
function inline(text: string, base?: Style): StyledSpan[] {
  const plain = (piece: string): StyledSpan[] =>
    piece === "" ? [] : [{ text: piece, ...(base && { style: base }) }];
  if (text.length > MOST_INLINE) return plain(text);
  const spans: StyledSpan[] = [];
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
