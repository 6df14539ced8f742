import fc from "fast-check";
import { expect, test } from "vitest";
import { googleSchema } from "./google-schema.ts";

const text = { type: "string" };
const cases: [string, object, object][] = [
  [
    "keywords Google does not know are left out, at every depth",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      additionalProperties: false,
      properties: {
        a: {
          type: "array",
          items: { ...text, format: "uri", examples: ["x"], minLength: 1 },
          uniqueItems: true,
        },
      },
      required: ["a", "gone"],
    },
    {
      type: "object",
      properties: { a: { type: "array", items: { type: "string", minLength: 1 } } },
      required: ["a"],
    },
  ],
  [
    "values that are no texts are listed as JSON",
    { type: "string", enum: ["a", Object.assign(Object.create(null), { b: 1 })] },
    { type: "string", enum: ["a", '{"b":1}'] },
  ],
  ["a type that may be null is nullable", { type: ["string", "null"] }, { type: "string", nullable: true }],
  ["several types are alternatives", { type: ["string", "integer"] }, { anyOf: [text, { type: "integer" }] }],
  [
    "an alternative to null is nullable and keeps its description",
    { description: "who", anyOf: [{ ...text, description: "inner" }, { type: "null" }] },
    { type: "string", nullable: true, description: "who" },
  ],
  ["oneOf becomes anyOf", { oneOf: [text, { type: "boolean" }] }, { anyOf: [text, { type: "boolean" }] }],
  ["a constant is the only value", { const: "a" }, { type: "string", enum: ["a"] }],
  ["listed texts stay listed", { enum: ["a", "b", null] }, { type: "string", enum: ["a", "b"] }],
  [
    "other values are told in words",
    { type: "integer", enum: [1, 2] },
    { type: "integer", description: "One of 1, 2." },
  ],
  ["known formats stay", { ...text, format: "date-time" }, { type: "string", format: "date-time" }],
  [
    "an array says what it holds",
    { type: "array" },
    { type: "array", items: { anyOf: [text, { type: "number" }, { type: "boolean" }] } },
  ],
  [
    "references are written out",
    { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { ...text, title: "A" } } },
    { type: "object", properties: { a: { type: "string", title: "A" } } },
  ],
  [
    "parts of allOf become one",
    {
      allOf: [
        { type: "object", properties: { a: text }, required: ["a"] },
        { properties: { b: text }, required: ["b"] },
      ],
    },
    { type: "object", properties: { a: text, b: text }, required: ["a", "b"] },
  ],
];

test.each(cases)("%s", (_, schema, expected) => {
  expect(googleSchema(schema)).toEqual(expected);
});

test("a schema that refers to itself ends at the second time", () => {
  const node = { type: "object", properties: { left: { $ref: "#/$defs/N" }, right: { $ref: "#/$defs/N" } } };
  const written = googleSchema({ $ref: "#/$defs/N", $defs: { N: node } });
  expect(written).toEqual({
    type: "object",
    properties: { left: { type: "object" }, right: { type: "object" } },
  });
});

test("references that go round in every way stay within bounds", () => {
  const names = Array.from({ length: 12 }, (_, index) => `D${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
  const $defs = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
  expect(JSON.stringify(googleSchema({ type: "object", properties, $defs })).length).toBeLessThan(200_000);
});

test("whatever a schema holds, only keywords Google knows come out", () => {
  const known =
    /^(type|nullable|anyOf|items|properties|required|enum|format|title|description|minimum|maximum|m(in|ax)(Items|Length)|pattern)$/;
  const check = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      expect(key).toMatch(known);
      if (key === "properties") for (const each of Object.values(Object(value))) check(each);
      else if (key === "items") check(value);
      else if (key === "anyOf" && Array.isArray(value)) value.forEach(check);
    }
  };
  const words = fc.constantFrom(
    "type",
    "properties",
    "items",
    "anyOf",
    "$ref",
    "enum",
    "const",
    "not",
    "allOf",
    "x",
  );
  const leaf = fc.oneof(fc.constantFrom("string", "object", "null", "#/x"), fc.integer(), fc.constant(null));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(words, tie("tree"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(fc.property(tree, (schema) => check(googleSchema(schema))));
});
