import { expect, test } from "vitest";
import { fitToSchema } from "./fit-to-schema.ts";

const careful = { mayDrop: () => false, exact: new Set<string>() };
const fit = (property: object, value: unknown) => {
  const schema = { type: "object", properties: { it: property } };
  return (fitToSchema(schema, { it: value }, careful) as { it?: unknown }).it;
};

test.each([
  ["a number in a text", { type: "integer" }, " 5 ", 5],
  ["a fraction in a text", { type: "number" }, "-2.5", -2.5],
  ["a truth in a text", { type: "boolean" }, "True", true],
  ["one item for a list", { type: "array" }, "a", ["a"]],
  ["one number for a list", { type: "array" }, 5, [5]],
  ["a list as JSON", { type: "array" }, ' ["a","b"]', ["a", "b"]],
  ["an object as JSON", { type: "object" }, '{"a":1}', { a: 1 }],
  ["a list of one text for it", { type: "string" }, ["a"], "a"],
  ["a number for a text", { type: "string" }, 5, "5"],
  ["a word in another spelling", { type: "string", enum: ["full_text", "none"] }, "Full-Text", "full_text"],
  ["items of a list", { type: "array", items: { type: "integer" } }, ["1", 2], [1, 2]],
])("%s is taken", (_, property, value, fitted) => {
  expect(fit(property, value)).toEqual(fitted);
});

test.each([
  ["an empty text for a number", { type: "number" }, ""],
  ["words for a number", { type: "number" }, "5 or 6"],
  ["several items for a text", { type: "string" }, ["a", "b"]],
  ["a number where a list or a number may stand", { type: ["array", "number"] }, 5],
  ["a word as the schema has it", { type: "string", enum: ["A", "a"] }, "a"],
  ["an empty text for an object", { type: "object" }, " "],
])("%s stays as it is", (_, property, value) => {
  expect(fit(property, value)).toEqual(value);
});

test("a key in another spelling is ours, unless ours is there as well", () => {
  const schema = { type: "object", properties: { filePath: { type: "string" } } };
  expect(fitToSchema(schema, { file_path: "a" }, careful)).toEqual({ filePath: "a" });
  expect(fitToSchema(schema, { file_path: "a", filePath: "b" }, careful)).toEqual({
    file_path: "a",
    filePath: "b",
  });
});

test("unknown keys go only where that is allowed or where they ask for nothing, and never from an open schema", () => {
  const closed = { type: "object", properties: {}, additionalProperties: false };
  const value = { note: "x", extra: 1, no: false, none: null };
  const dropping = { ...careful, mayDrop: (key: string) => key === "note" };
  expect(fitToSchema(closed, value, dropping)).toEqual({ extra: 1 });
  expect(fitToSchema({ ...closed, additionalProperties: true }, value, dropping)).toBe(value);
});

test("null means left out, but not for what is required or may be null", () => {
  const properties = { a: { type: "string" }, b: { type: "string" }, c: { type: ["string", "null"] } };
  const schema = { type: "object", properties, required: ["b"] };
  expect(fitToSchema(schema, { a: null, b: null, c: null }, careful)).toEqual({ b: null, c: null });
});

test("a key whose value must be exact keeps it, whatever the schema says", () => {
  const schema = { type: "object", properties: { maxTurns: { type: "integer" } } };
  const exact = { ...careful, exact: new Set(["maxTurns"]) };
  expect(fitToSchema(schema, { max_turns: "5" }, exact)).toEqual({ maxTurns: "5" });
});

test("what fits already comes back itself", () => {
  const schema = { type: "object", properties: { list: { type: "array", items: { type: "string" } } } };
  const value = { list: ["a", "b"] };
  expect(fitToSchema(schema, value, careful)).toBe(value);
});
