import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSimple, parseYaml } from "./parse-yaml.ts";

/** Pieces of which real and hostile lines consist. */
const PIECES = [
  ...[
    "name",
    "description",
    "tools",
    "a",
    "Reviews one change",
    "Read, Grep",
    "x: y",
    "x:y",
    "# c",
    "a # b",
    "a#b",
  ],
  ...[
    "true",
    "Null",
    "~",
    "1",
    "0x1",
    "[a, b]",
    "[a, true]",
    "[]",
    "[a",
    '"q"',
    "'q'",
    "- a",
    "&a",
    "*a",
    "!t",
    "|",
    ">",
  ],
  ...[
    "{a: b}",
    "https://example.org/a?b=c",
    "é",
    "\u{1f916}",
    "\t",
    " ",
    "",
    ":",
    ": ",
    "\u2028",
    "\u0085",
    "\ufeff",
    "a ",
    "%x",
    "@x",
    "`x`",
  ],
];

const frontmatter = fc
  .array(
    fc.tuple(
      fc.constantFrom("name", "description", "tools", "model", "max-turns", "k_1", "Name", "__proto__", "1a"),
      fc.constantFrom(": ", ":", ":  ", " : "),
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
    ),
    { maxLength: 5 },
  )
  .map((lines) => lines.map((parts) => parts.join("")).join("\n"));

test("what is read in the short way is read the same by strict YAML", async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(frontmatter, async (text) => {
      const simple = parseSimple(text, 2);
      if (simple === null) return;
      read++;
      const strict = await parseYaml(text, 2, false);
      expect(strict).toEqual({ fields: simple });
    }),
    { numRuns: process.env.RETINUE_DEEP ? 20_000 : 2_000 },
  );
  expect(read).toBeGreaterThan(20);
});

test("the usual agent file is read in the short way", () => {
  const text =
    "name: reviewer\ndescription: Reviews one change, worst first.\ntools: Read, Grep, Bash(git log:*)\nmodel: inherit\n";
  expect(parseSimple(text, 2)?.values).toEqual(
    new Map([
      ["name", "reviewer"],
      ["description", "Reviews one change, worst first."],
      ["tools", "Read, Grep, Bash(git log:*)"],
      ["model", "inherit"],
    ]),
  );
});
