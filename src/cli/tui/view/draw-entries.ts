import { plainText } from "../../plain-text.ts";
import type { Entry } from "../state/entry.ts";
import { drawMarkdown } from "./draw-markdown.ts";
import { type Span, type Style, wrapSpans } from "./spans.ts";

const kept = new WeakMap<Entry, { width: number; lines: Span[][] }>();

/** The last lines of the conversation that end `scroll` lines above its end, and how far one could scroll. */
export function drawEntries(
  entries: readonly Entry[],
  { width, height, scroll }: { width: number; height: number; scroll: number },
): { lines: Span[][]; most: number } {
  const all: Span[][] = [];
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && !isClose(entries[index - 1], entry)) all.push([]);
    all.push(...linesOf(entry, width));
  }
  const most = Math.max(0, all.length - height);
  const end = all.length - Math.min(scroll, most);
  return { lines: all.slice(Math.max(0, end - height), end), most };
}

/** Calls and endings stand together with what they belong to. */
function isClose(before: Entry | undefined, entry: Entry): boolean {
  if (entry.kind === "call") return before?.kind === "call";
  return entry.kind === "notice" && before?.kind === "notice";
}

function linesOf(entry: Entry, width: number): Span[][] {
  const found = kept.get(entry);
  if (found?.width === width) return found.lines;
  const lines = drawEntry(entry, width);
  kept.set(entry, { width, lines });
  return lines;
}

function drawEntry(entry: Entry, width: number): Span[][] {
  const inner = Math.max(1, width - 2);
  switch (entry.kind) {
    case "person": {
      const lines = wrapped(entry.text, inner);
      const to = entry.to && `→ ${entry.to.agent}${FATES[entry.to.fate]}`;
      return [
        ...behind("❯ ", "accent", lines),
        ...(to ? behind("  ", undefined, [[{ text: to, style: "dim" }]]) : []),
      ];
    }
    case "agent":
      return behind("● ", "good", drawMarkdown(entry.text || "…", inner));
    case "call":
      return behind("  ", undefined, wrapped(entry.text, inner, "dim").slice(0, 2));
    case "ended":
      return behind("  ", undefined, wrapped(entry.text, inner, entry.good ? "dim" : "bad"));
    case "notice":
      return behind(SIGNS[entry.level][0], SIGNS[entry.level][1], wrapped(entry.text, inner));
    case "output":
      return wrapped(entry.text, inner).map((line) => [{ text: "  " }, ...line]);
  }
}

const FATES = {
  sent: " · it reads this at its next turn",
  read: " · read",
  unread: " · not read: it had ended",
};
const SIGNS: Readonly<Record<"info" | "warning" | "error", readonly [string, Style | undefined]>> = {
  info: ["· ", "dim"],
  warning: ["! ", "warn"],
  error: ["✗ ", "bad"],
};

function behind(sign: string, style: Style | undefined, lines: readonly Span[][]): Span[][] {
  return lines.map((line, index) => [
    index === 0 ? { text: sign, ...(style && { style }) } : { text: "  " },
    ...line,
  ]);
}

/** Text as it is, broken at the width. */
export function wrapped(text: string, width: number, style?: Style): Span[][] {
  return plainText(text)
    .replaceAll("\t", "    ")
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrapSpans([{ text: line, ...(style && { style }) }], width));
}
