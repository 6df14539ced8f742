import fc from "fast-check";
import { expect, test } from "vitest";
import { hasWords, splitPhrases } from "./search-words.ts";

const word = (text: string) => ({ text, isQuoted: false });
const phrase = (text: string) => ({ text, isQuoted: true });

test.each([
  ["Q3 budget", [word("Q3"), word("budget")]],
  ['say "two  words" now', [word("say"), phrase("two words"), word("now")]],
  ["“curly quotes” too", [phrase("curly quotes"), word("too")]],
  ['an "open quotation', [word("an"), word("open"), word("quotation")]],
  ['""', []],
])("%j is split into words and phrases", (query, phrases) => {
  expect(splitPhrases(query)).toEqual(phrases);
});

test("no word or phrase holds a quotation mark, a line break or nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (query) => {
      for (const { text } of splitPhrases(query)) expect(text).toMatch(/^[^"“”„\r\n]+$/);
    }),
  );
});

test("all words of a query must be in the texts, without regard to case and accents", () => {
  expect(hasWords(["Renée Dana", undefined, "Acme"], "acme renee")).toBe(true);
  expect(hasWords(["Renée Dana"], "renee ortiz")).toBe(false);
  expect(hasWords(["Renée Dana"])).toBe(true);
});
