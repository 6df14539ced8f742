import { plainLine } from "../../plain-text.ts";
import type { OpenTranscript } from "../tui-state.ts";
import { drawMarkdown } from "./draw-markdown.ts";
import type { Screen } from "./draw-screen.ts";
import { cutSpans, type Paint, type Span } from "./spans.ts";

let kept: { text: string; width: number; lines: Span[][] } | undefined;

/** The transcript of one run over the whole upper screen. */
export function drawTranscript(
  { title, text, scroll }: OpenTranscript,
  { width, height, paint }: { width: number; height: number; paint: Paint },
): Pick<Screen, "lines" | "runIds" | "most"> {
  if (kept?.text !== text || kept.width !== width) kept = { text, width, lines: drawMarkdown(text, width) };
  const all = kept.lines;
  const room = Math.max(0, height - 2);
  const most = Math.max(0, all.length - room);
  const end = all.length - Math.min(scroll, most);
  const shown = all.slice(Math.max(0, end - room), end);
  const head: Span[][] = [
    cutSpans([{ text: plainLine(title, 300), style: "bold" }], width),
    [{ text: "─".repeat(width), style: "dim" }],
  ];
  const lines = [...head, ...shown].slice(0, height).map((line) => paint(cutSpans(line, width)));
  return {
    lines: [...lines, ...Array<string>(Math.max(0, height - lines.length)).fill("")],
    runIds: [],
    most,
  };
}
