import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildFtsQueries } from "./document-index.ts";

test("terms are asked for together first, then one by one, then by how they begin", () => {
  expect(buildFtsQueries("the durable storage")).toEqual([
    '"durable" AND "storage"',
    '"durable" OR "storage"',
    '"durab"* OR "stora"*',
  ]);
});

test("what is in quotation marks is one term", () => {
  expect(buildFtsQueries('"eleven nines" durability')[0]).toBe('"eleven nines" AND "durability"');
});

test("a query of nothing but small words still asks for them", () => {
  expect(buildFtsQueries("to be")[0]).toBe('"to" AND "be"');
});

test("a query without a word asks for nothing", () => {
  expect(buildFtsQueries(' "" * ^ ( )')).toEqual([]);
});

test("nothing that anyone can write is read as syntax", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(
    `CREATE VIRTUAL TABLE texts USING fts5 (title, body, tokenize = "porter unicode61 remove_diacritics 2")`,
  );
  db.exec("INSERT INTO texts VALUES ('near', 'a or not and near body title')");
  const select = db.prepare("SELECT rowid FROM texts WHERE texts MATCH ?");
  const syntax = fc.constantFrom(
    ...'NEAR( AND OR NOT " * ^ : ( ) { } - + title: \0 \u200b ﷽ \ud800'.split(" "),
  );
  const words = fc.array(fc.oneof(syntax, fc.string({ unit: "binary" })), { maxLength: 12 });
  fc.assert(
    fc.property(words, fc.constantFrom("", " "), (parts, glue) => {
      for (const query of buildFtsQueries(parts.join(glue))) select.all(query);
    }),
  );
  db.close();
});
