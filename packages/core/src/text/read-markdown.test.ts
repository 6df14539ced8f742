import fc from "fast-check";
import { expect, test } from "vitest";
import { inlineText, readMarkdown } from "./read-markdown.ts";
import { splitSentences } from "./split-sentences.ts";

test("paragraphs and items come without marks, below their heading; code, images and frontmatter stay out", () => {
  const markdown = `---
title: "x"
---
# Rates
A **bold** claim with a [link](https://e.example/a_b) and \`code\`,
over two lines. ![chart](x.png)

- first item
- second item

\`\`\`js
const hidden = 1;
\`\`\`
> A quoted line.
`;
  expect(readMarkdown(markdown)).toEqual([
    { kind: "prose", text: "A bold claim with a link and code, over two lines.", section: "Rates" },
    { kind: "prose", text: "first item", section: "Rates" },
    { kind: "prose", text: "second item", section: "Rates" },
    { kind: "prose", text: "A quoted line.", section: "Rates" },
  ]);
});

test("tables come as rows, and capitals on a line of their own are a heading", () => {
  expect(readMarkdown("THE PRICE\nTape is cheap.\n\n| Kind | Cost |\n|---|--:|\n| Tape | $4 |\n")).toEqual([
    { kind: "prose", text: "Tape is cheap.", section: "THE PRICE" },
    {
      kind: "table",
      rows: [
        ["Kind", "Cost"],
        ["Tape", "$4"],
      ],
      section: "THE PRICE",
    },
  ]);
});

test.each([
  ["snake_case_name and 5 * 3 * 2", "snake_case_name and 5 * 3 * 2"],
  ["*a* _b_ __c__ ***d***", "a b c d"],
  ["1 &lt; 2 &amp; \\*stars\\*", "1 < 2 & *stars*"],
  ["a <b>bold</b> tag", "a bold tag"],
])("%j reads as %j", (markdown, text) => {
  expect(inlineText(markdown)).toBe(text);
});

test("any text can be read, and long runs of marks take no longer than their length", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Array.isArray(readMarkdown(text))));
  for (const run of ["[", "![", "*", "|", "> ", "`", "<a", ". ", ".", "-", "A", "#"]) {
    expect(Array.isArray(readMarkdown(run.repeat(100_000)))).toBe(true);
    expect(splitSentences(run.repeat(100_000)).length).toBeGreaterThan(0);
  }
});

test("a line of a heading's marks and many spaces takes no longer than its length", () => {
  const gap = "\u00a0".repeat(19_000);
  for (const line of [`# a${gap}b`, `# a${gap}#b`, `${gap}a`, `#${gap}`])
    expect(readMarkdown(`${line}\n`.repeat(5)).length).toBeLessThan(2);
});

test.each([
  ["# Title #", "Title"],
  ["## C# ##", "C#"],
  ["### Spaced   ", "Spaced"],
  ["  AN OLD HEADING  ", "AN OLD HEADING"],
])("%j is the heading %j", (line, section) => {
  expect(readMarkdown(`${line}\nText.`)).toEqual([{ kind: "prose", text: "Text.", section }]);
});
