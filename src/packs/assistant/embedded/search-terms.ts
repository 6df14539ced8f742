import { isStopWord } from "../../../text/terms.ts";
import { foldText } from "./guarded.ts";

const MOST_TERMS = 32;
const MAX_TERM_CHARS = 64;

/**
 * A query for FTS5 that asks for every word, or what begins like it; what stands in quotation marks must stand there so.
 * Every term is quoted, so nothing of what a model or a person writes is read as syntax. Null if there is no word in the text.
 */
export function ftsQuery(text: string): string | null {
  const terms: { words: string[]; exact: boolean }[] = [];
  for (const [, phrase, rest] of text.toWellFormed().matchAll(/["“”]([^"“”]*)["“”]|([^"“”]+)/g)) {
    if (phrase !== undefined) terms.push({ words: wordsIn(phrase), exact: true });
    else terms.push(...wordsIn(rest ?? "").map((word) => ({ words: [word], exact: false })));
  }
  const filled = terms.filter(({ words }) => words.length > 0);
  const telling = filled.filter(({ words, exact }) => exact || !isStopWord(words.join(" ").toLowerCase()));
  const chosen = (telling.length > 0 ? telling : filled).slice(0, MOST_TERMS);
  if (chosen.length === 0) return null;
  return chosen.map(({ words, exact }) => `"${words.join(" ")}"${exact ? "" : "*"}`).join(" AND ");
}

/** Runs of what FTS5's tokenizer takes as parts of words; none of them holds a quotation mark. */
function wordsIn(text: string): string[] {
  return (text.normalize("NFC").match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []).map((word) =>
    [...word].slice(0, MAX_TERM_CHARS).join(""),
  );
}

/** What must all be found in a column of folded words. */
export function foldedParts(text: string): string[] {
  return foldText(text)
    .split(/[\s,<>"]+/)
    .filter(Boolean)
    .slice(0, MOST_TERMS);
}

/** Takes the operators that are named out of a query, such as `from:dana` or `subject:"Q3 budget"`. */
export function splitOperators(
  text: string,
  names: readonly string[],
): { readonly rest: string; readonly operators: ReadonlyMap<string, string> } {
  const operators = new Map<string, string>();
  const rest = text.replaceAll(/(^|\s)([a-z]{2,10}):("[^"]*"|[^\s"]+)/gi, (whole, _gap, name, value) => {
    const key = String(name).toLowerCase();
    if (!names.includes(key)) return String(whole);
    operators.set(key, String(value).replaceAll('"', "").trim());
    return " ";
  });
  return { rest: rest.trim(), operators };
}
