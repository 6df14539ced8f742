import type { SessionMatch } from "../schema/inspect/session-summary.ts";
import type { SessionRow } from "../schema/record.ts";

const MOST_WORDS = 8;
const MOST_WORD_CHARS = 200;
const EXCERPT_CHARS = 120;

/** What of a run is searched. */
export type SearchedRun = { agent: string | null; task: string | null; answer: string | null };

/** Words in lower case; what is in quotes is one. */
export function splitSearch(search: string): string[] {
  const found = [...search.matchAll(/"([^"]*)"?|(\S+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  const words = found.map((word) => word.trim().toLowerCase().slice(0, MOST_WORD_CHARS)).filter(Boolean);
  return [...new Set(words)].slice(0, MOST_WORDS);
}

/**
 * Whether every word is somewhere in a session: `row` if its own texts have them all, otherwise where in its runs the last
 * one was. Runs are read only if they are needed.
 */
export function matchSession(
  row: SessionRow,
  words: readonly string[],
  runs: Iterable<SearchedRun>,
): SessionMatch | "row" | undefined {
  const head = `${row.title}\n${row.project}\n${row.session_id}`.toLowerCase();
  const missing = new Set(words.filter((word) => !head.includes(word)));
  if (missing.size === 0) return "row";
  for (const run of runs) {
    const match = matchRun(run, missing);
    if (match) return match;
  }
  return undefined;
}

/** Takes out the words that a run has; where the last one was, if none is left. */
function matchRun(run: SearchedRun, missing: Set<string>): SessionMatch | undefined {
  for (const place of ["task", "answer"] as const) {
    const text = run[place] ?? "";
    const lower = text.toLowerCase();
    for (const word of missing) {
      const at = lower.indexOf(word);
      if (at < 0) continue;
      missing.delete(word);
      if (missing.size === 0) return { agent: run.agent ?? "?", in: place, excerpt: cutAround(text, at) };
    }
  }
  return undefined;
}

/** Some words around a place. Letters whose lower case is longer may move it a little, which does no harm. */
function cutAround(text: string, at: number): string {
  const from = Math.max(0, at - EXCERPT_CHARS / 3);
  const cut = text
    .slice(from, from + EXCERPT_CHARS)
    .replaceAll(/\s+/g, " ")
    .toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + EXCERPT_CHARS < text.length ? "…" : ""}`;
}
