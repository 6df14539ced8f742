import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkJson, isPlainlyValid } from "./check-json.ts";

test.each([
  [{ exclusiveMinimum: 0 }, 0, "the value: 0 is not above 0"],
  [{ exclusiveMaximum: 2 }, 2, "the value: 2 is greater than or equal to 2"],
  [{ minimum: 1 }, 0, "the value: 0 is less than 1"],
  [{ type: "number", maximum: 5 }, Number.POSITIVE_INFINITY, "the value: Infinity is greater than 5"],
])("%j says of %d what is wrong with it", async (schema, value, message) => {
  expect(await checkJson(schema, value)).toEqual([message]);
});

const NAMES = ["a", "b", "c"] as const;

const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, 0, 1, -1, 1.5, "", "a", "🙂", "🙂🙂", "abc"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 3 }),
  ),
})).value;

/** A few of the keywords: with many, hardly a value fits. */
function pickSome(all: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .tuple(all, fc.array(fc.nat(), { maxLength: 3 }))
    .map(([schema, picks]) =>
      Object.fromEntries(
        picks.map((pick) => Object.entries(schema)[pick % Object.keys(schema).length] ?? []),
      ),
    );
}

const anySchema = fc.letrec<{ schema: unknown; record: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie("record")),
  record: pickSome(
    fc.record({
      description: fc.constant("any"),
      type: fc.oneof(
        fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object", "else"),
        fc.constant(["string", "null"]),
      ),
      enum: fc.array(fc.constantFrom<unknown>(null, 0, 1, "a", "abc"), { minLength: 1, maxLength: 3 }),
      const: fc.constantFrom<unknown>(1, "a", null),
      minimum: fc.constantFrom(0, 1),
      maximum: fc.constantFrom(0, 1),
      exclusiveMinimum: fc.constantFrom(0, 1),
      minLength: fc.constantFrom(0, 1, 2),
      maxLength: fc.constantFrom(0, 1, 2),
      minItems: fc.constantFrom(0, 1),
      maxItems: fc.constantFrom(0, 1),
      pattern: fc.constant("^a"),
      items: tie("schema"),
      required: fc.subarray([...NAMES]),
      properties: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 2 }),
      additionalProperties: tie("schema"),
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      not: tie("schema"),
    }),
  ),
})).record;

test("what passes at once also passes the library", () => {
  let passed = 0;
  fc.assert(
    fc.property(anySchema, anyValue, (schema, value) => {
      if (!isPlainlyValid(schema, value)) return;
      passed++;
      expect(new Validator(structuredClone(schema) as never, "2020-12", false).validate(value).valid).toBe(
        true,
      );
    }),
    { numRuns: 5000 },
  );
  expect(passed).toBeGreaterThan(100);
});

test("the inputs that tools are called with pass at once", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string", description: "Where.", maxLength: 100 },
      lines: { type: "array", items: { type: "integer", minimum: 1 } },
      mode: { enum: ["a", "b"] },
    },
    required: ["path"],
    additionalProperties: false,
  };
  expect(isPlainlyValid(schema, { path: "x.ts", lines: [1, 2], mode: "b" })).toBe(true);
  expect(isPlainlyValid(schema, { path: "x.ts", other: 1 })).toBe(false);
  expect(isPlainlyValid({ type: "object", patternProperties: {} }, {})).toBe(false);
});
