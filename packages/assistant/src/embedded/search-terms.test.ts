import fc from "fast-check";
import { expect, test } from "vitest";
import { buildTextConditions, splitFolded } from "./search-terms.ts";

const TABLE = { table: "mail_texts", columns: ["subject", "body"], row: "row" };
const match = (text: string) => buildTextConditions(text, TABLE)?.map(({ values }) => values);

test.each([
  ["budget plan", [['"budget"* AND "plan"*']]],
  ['the "Q3 budget"', [['"Q3 budget"']]],
  ["the", [['"the"*']]],
  ["会議 plan", [['"plan"*'], ["会議", "会議"]]],
])("%j is searched as %j", (text, values) => {
  expect(match(text)).toEqual(values);
});

test("a text without any word gives no condition", () => {
  for (const text of ["", "  ", "…", '""']) expect(match(text)).toBeUndefined();
});

test("nothing of a text is read as syntax: every term is quoted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      for (const { sql, values } of buildTextConditions(text, TABLE) ?? [])
        if (sql.includes("MATCH")) expect(values[0]).toMatch(/^"[^"]+"\*?( AND "[^"]+"\*?)*$/);
    }),
  );
});

test("what is looked for in a folded column is folded as well", () => {
  expect(splitFolded("Dána <DANA@acme.example>, Ortiz")).toEqual(["dana", "dana@acme.example", "ortiz"]);
});
