import type { JsonSchema } from "@retinue/core/schema/json-schema";

/** Short forms of the JSON Schemas that routes are described with. */

export const text: JsonSchema = { type: "string" };
export const whole: JsonSchema = { type: "integer" };
export const number: JsonSchema = { type: "number" };
export const flag: JsonSchema = { type: "boolean" };
/** Anything at all. */
export const anything: JsonSchema = {};

/** A text of at most so many characters that says something. */
export function filledText(maxLength: number): JsonSchema {
  return { type: "string", minLength: 1, maxLength, pattern: "\\S" };
}

/** One of these words. */
export function oneOf(...values: readonly string[]): JsonSchema {
  return { enum: values };
}

/** This or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** A list of these. */
export function list(items: JsonSchema, maxItems?: number): JsonSchema {
  return { type: "array", items, ...(maxItems !== undefined && { maxItems }) };
}

/** Values of one kind by names. */
export function byName(values: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: values };
}

/** An object; a name that ends in `?` need not be there, and nothing else may be. */
export function shape(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(properties);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ""), schema])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** A whole number in a query. */
export const digits: JsonSchema = { type: "string", pattern: "^[0-9]{1,15}$" };

/** The number in a query, within its bounds. */
export function readDigits(
  text: string | undefined,
  { otherwise, least, most }: { otherwise: number; least: number; most: number },
): number {
  return text === undefined ? otherwise : Math.min(most, Math.max(least, Number(text)));
}
