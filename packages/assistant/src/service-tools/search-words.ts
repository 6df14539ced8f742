// The words of a search: split into words and phrases, and compared without case and accents.

/** A word of a query, or a phrase that was in quotation marks. */
export type Phrase = { readonly text: string; readonly isQuoted: boolean };

/** The words and quoted phrases of a query, in their order; none of them holds a quotation mark. */
export function splitPhrases(query = ""): Phrase[] {
  const found = query.toWellFormed().matchAll(/["“”„]([^"“”„]*)["“”„]|[^\s"“”„]+/gu);
  return Array.from(found, ([whole, quoted]) => {
    const text = (quoted ?? whole).replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
    return { text, isQuoted: quoted !== undefined };
  }).filter(({ text }) => text !== "");
}

/** A text for comparison: without case and accents. */
export function foldText(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().trim();
}

/** Whether all words of a query are somewhere in these texts. */
export function hasWords(texts: readonly (string | undefined)[], query = ""): boolean {
  const text = foldText(texts.join("\n"));
  const words = foldText(query).split(/\s+/);
  return words.every((word) => text.includes(word));
}
