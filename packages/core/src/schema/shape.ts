import type { JsonSchema } from "./json-schema.ts";

declare const described: unique symbol;

/**
 * A JSON Schema that knows the type of what it describes, so that each shape of the API is written once. The type lives at
 * compile time only; at run time a shape is a plain document.
 */
export type Shape<Type = unknown> = JsonSchema & { readonly [described]?: Type };

/** The type that a shape describes. */
export type TypeIn<Described> = Described extends { readonly [described]?: infer Type }
  ? Exclude<Type, undefined>
  : never;

type Fields = Readonly<Record<string, Shape>>;
type TypeInFields<Given extends Fields> = {
  [Name in keyof Given as Name extends `${string}?` ? never : Name]: TypeIn<Given[Name]>;
} & {
  [Name in keyof Given as Name extends `${infer Bare}?` ? Bare : never]?: TypeIn<Given[Name]> | undefined;
} extends infer All
  ? { readonly [Name in keyof All]: All[Name] }
  : never;

export const text: Shape<string> = { type: "string" };
export const whole: Shape<number> = { type: "integer" };
export const number: Shape<number> = { type: "number" };
export const flag: Shape<boolean> = { type: "boolean" };
/** Anything at all. */
export const anything: Shape<unknown> = {};
/** A whole number in a query, where everything is text. */
export const digits: Shape<string> = textWith({ pattern: "^[0-9]{1,15}$" });

/** An object; a name that ends in `?` need not be there, and nothing else may be. */
export function shape<const Given extends Fields>(fields: Given): Shape<TypeInFields<Given>> {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, field]) => [name.replace(/\?$/, ""), field])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** An object whose fields are declared as a type elsewhere, because the kernel works with it. */
export function declared<Type extends object>(): Shape<Type> {
  return { type: "object" };
}

/** A text within bounds. */
export function textWith(bounds: {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}): Shape<string> {
  return { type: "string", ...bounds };
}

/** A text of at most so many characters that says something. */
export function filledText(maxLength: number): Shape<string> {
  return textWith({ minLength: 1, maxLength, pattern: "\\S" });
}

/** One of these words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Shape<Word> {
  return { enum: words };
}

/** This or null. */
export function orNull<Type>(schema: Shape<Type>): Shape<Type | null> {
  return { anyOf: [schema, { type: "null" }] };
}

/** A list of these. */
export function list<Type>(
  items: Shape<Type>,
  bounds: { minItems?: number; maxItems?: number } = {},
): Shape<readonly Type[]> {
  return { type: "array", items, ...bounds };
}

/** Values of one kind by names. */
export function byName<Type>(values: Shape<Type>): Shape<Readonly<Record<string, Type>>> {
  return { type: "object", additionalProperties: values };
}
