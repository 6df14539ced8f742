// Search words as conditions on the tables of the local store.

import { isStopWord } from "@retinue/core/text/terms";
import { foldText, splitPhrases } from "../service-tools/search-words.ts";

const MOST_TERMS = 32;
const MAX_TERM_CHARS = 64;
/** Scripts without spaces between words: the tokenizer takes a whole sentence for one word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** What a row must fulfil. */
export type Condition = { readonly sql: string; readonly values: readonly (string | number)[] };

/** Conditions that must all hold, as one; without any, every row fits. */
export function joinConditions(conditions: readonly Condition[]): {
  readonly where: string;
  readonly values: readonly (string | number)[];
} {
  const where = conditions.map(({ sql }) => sql).join(" AND ") || "1";
  return { where, values: conditions.flatMap(({ values }) => values) };
}

/**
 * Conditions that ask an FTS5 table for every word, or what begins like it; a phrase in quotation marks must be
 * there as it is. Every term is quoted, so nothing that a model or a person writes is read as syntax. Null if there is no word
 * in the text. `row` names the rows that the table is about.
 */
export function buildTextConditions(
  text: string,
  {
    table,
    columns,
    row,
  }: { readonly table: string; readonly columns: readonly string[]; readonly row: string },
): Condition[] | null {
  const terms = splitTerms(text);
  if (terms.length === 0) return null;
  const isUnspaced = ({ words }: Term) => words.some((word) => UNSPACED.test(word));
  const match = terms
    .filter((term) => !isUnspaced(term))
    .map(({ words, exact }) => `"${words.join(" ")}"${exact ? "" : "*"}`);
  const inside = terms.filter(isUnspaced).flatMap(({ words }) => words);
  const holds = columns.map((column) => `instr(${column}, ?) > 0`).join(" OR ");
  return [
    ...(match.length > 0 ? [{ where: `${table} MATCH ?`, values: [match.join(" AND ")] }] : []),
    ...inside.map((word) => ({ where: holds, values: columns.map(() => word) })),
  ].map(({ where, values }) => ({
    sql: `${row} IN (SELECT rowid FROM ${table} WHERE ${where})`,
    values,
  }));
}

type Term = { readonly words: readonly string[]; readonly exact: boolean };

function splitTerms(text: string): readonly Term[] {
  const terms = splitPhrases(text).flatMap(({ text: phrase, isQuoted }): Term[] => {
    const words = splitWords(phrase);
    return isQuoted ? [{ words, exact: true }] : words.map((word) => ({ words: [word], exact: false }));
  });
  const filled = terms.filter(({ words }) => words.length > 0);
  const telling = filled.filter(({ words, exact }) => exact || !isStopWord(words.join(" ").toLowerCase()));
  return (telling.length > 0 ? telling : filled).slice(0, MOST_TERMS);
}

/** Words as FTS5's tokenizer splits them; none of them has a quotation mark. */
function splitWords(text: string): string[] {
  return (text.normalize("NFC").match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []).map((word) =>
    [...word].slice(0, MAX_TERM_CHARS).join(""),
  );
}

/** The parts that must all be in a column of folded words. */
export function splitFolded(text: string): string[] {
  return foldText(text)
    .split(/[\s,<>"]+/)
    .filter(Boolean)
    .slice(0, MOST_TERMS);
}
