import fc from "fast-check";
import { expect, test } from "vitest";
import { buildSlackQuery, splitSearchTerms } from "./open-slack.ts";

test.each([
  ["Q3 budget", ["Q3", "budget"]],
  ['say "two words" now', ["say", "two words", "now"]],
  ["“curly quotes” too", ["curly quotes", "too"]],
  ['an "open quotation', ["an", "open", "quotation"]],
  ['"" - …', []],
  ["🎉", ["🎉"]],
])("%j is searched as %j", (text, terms) => {
  expect(splitSearchTerms(text)).toEqual(terms);
});

test("whatever is typed, a query is nothing but quoted terms", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const query = buildSlackQuery({ terms: splitSearchTerms(text), channel: undefined, from: undefined });
      expect(query).toMatch(/^("[^"]+"( "[^"]+")*)?$/);
    }),
  );
});
