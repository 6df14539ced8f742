import fc from "fast-check";
import { expect, test } from "vitest";
import { buildSlackQuery, escapeText, splitSearchTerms } from "./open-slack.ts";

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

test.each([
  ["a<b and c>d & e", "a&lt;b and c&gt;d &amp; e"],
  ["<@U12345> see <https://example.org/a|this> in <#C123|alpha> <!here>", null],
  ["already &lt;b&gt; &amp; done", null],
  ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["> quoted", "&gt; quoted"],
])("%s", (text, posted) => {
  expect(escapeText(text)).toBe(posted ?? text);
});
