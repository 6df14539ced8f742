import type { LiveRun } from "../../../../../src/schema/api/stream.ts";

/** What a live run has said in the turn under way. */
export function textOf(live: LiveRun | null): string {
  return live?.text ?? "";
}

/** The end of a long text, from a line's start on. */
export function tailOf(text: string, mostChars: number): string {
  if (text.length <= mostChars) return text;
  const from = text.indexOf("\n", text.length - mostChars);
  return from < 0 || from === text.length - 1 ? text.slice(-mostChars) : text.slice(from + 1);
}

const LINE_CHARS = 160;

/** The last words that were written, in one line and without the marks of Markdown. */
export function lastWordsOf(live: LiveRun | null): string {
  const end = textOf(live)
    .slice(-2 * LINE_CHARS)
    .replace(/\*\*|`+|^#+ /gm, "")
    .replace(/\s+/g, " ")
    .trim();
  return end.length <= LINE_CHARS ? end : end.slice(end.indexOf(" ", end.length - LINE_CHARS) + 1);
}
