import { isStopWord } from "../../../text/terms.ts";

const MOST_TERMS = 32;
const MAX_TERM_CHARS = 64;

/**
 * Queries for FTS5, from the strictest to the most lenient: all terms, any term, words that begin like a term. Every
 * term is quoted, so nothing of what a model writes is ever read as syntax. Empty if there is no word in the text.
 */
export function ftsQueries(text: string): string[] {
  const terms = termsIn(text);
  if (terms.length === 0) return [];
  const telling = terms.filter((term) => !isStopWord(term.toLowerCase()));
  const chosen = telling.length > 0 ? telling : terms;
  const prefixes = chosen.flatMap(wordsIn).filter((word) => word.length > 1);
  const queries = [
    chosen.map(quoted).join(" AND "),
    chosen.map(quoted).join(" OR "),
    prefixes.map((word) => `${quoted(beginningOf(word))}*`).join(" OR "),
  ];
  return [...new Set(queries)].filter(Boolean);
}

/** Words, and what stands in quotation marks as one term. */
function termsIn(text: string): string[] {
  const terms = new Set<string>();
  for (const [, phrase, rest] of text.normalize("NFC").matchAll(/["“”]([^"“”]*)["“”]|([^"“”]+)/g)) {
    const words = wordsIn(phrase ?? rest ?? "");
    for (const term of phrase === undefined ? words : [words.join(" ")]) if (term) terms.add(term);
  }
  return [...terms].slice(0, MOST_TERMS);
}

/** Runs of what FTS5's tokenizer takes as parts of words. */
function wordsIn(text: string): string[] {
  return (text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []).map((word) =>
    [...word].slice(0, MAX_TERM_CHARS).join(""),
  );
}

/** A long word without its ending, so that its other forms and neighbours are found, too. */
function beginningOf(word: string): string {
  const letters = [...word];
  return letters.length > 6 ? letters.slice(0, Math.ceil(letters.length * 0.7)).join("") : word;
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
