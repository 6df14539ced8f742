import { expect, test } from "vitest";
import { parseReport } from "./parse-report.ts";

const LONG = "the cache is never emptied ".repeat(30).trim();

test.each([
  ["## Warnings\n- one\n- two", ["one", "two"]],
  ["**Warnings**: one", ["one"]],
  ["**Warnings:** one", ["one"]],
  ["__Warnings__: one", ["one"]],
  ["Warnings: one", ["one"]],
  ["Warnings\n\n1. one\n2) two", ["one", "two"]],
  ["3. **Warnings**: one", ["one"]],
  ["- **Warning:** one", ["one"]],
  [`**Warnings**: ${LONG}`, [LONG]],
  ["**Warnings** one", ["one"]],
  ["### WARNINGS:\none", ["one"]],
  ["Warnings: none.", []],
])("%j has the warnings %j", (text, warnings) => {
  expect(parseReport(`All done.\n\n${text}`).warnings).toEqual(warnings);
});

test.each([
  "Warning signs were ignored.",
  "Warnings were raised by the linter: two of them.",
  "**Warnings are rare here**: none came.",
  "Suggestions from the review are in.",
  "```\nWarnings: in code\n```",
])("%j is a sentence, not a section", (text) => {
  expect(parseReport(`All done.\n\n${text}`)).toMatchObject({
    warnings: [],
    suggestions: [],
    summary: "All done.",
  });
});

test("a section ends where another begins, also one of a name that is not known", () => {
  const text =
    "**Summary**: Done.\n\n**Warnings**\n- one\n\n## Next steps\n- two\n\n**Suggestions**: three\n\n**Notes**\nfour";
  expect(parseReport(text)).toEqual({ summary: "Done.", warnings: ["one"], suggestions: ["three"] });
});

test("a summary is the first words, not a heading", () => {
  expect(parseReport("# Report\n\nThe cause is in a.ts.\n\nMore.").summary).toBe("The cause is in a.ts.");
  expect(parseReport("## Summary of changes\n\nTwo files.").summary).toBe("Two files.");
  expect(parseReport("# Only a heading").summary).toBe("Only a heading");
});
