import type { OutputUnit, Validator } from "@cfworker/json-schema";
import { messageOf } from "./error.ts";
import { isRecord } from "./json-object.ts";
import type { JsonSchema } from "./json-schema.ts";

/** An interpreter, not a compiler: it is loaded on the first check and ready at once. */
let library: Promise<typeof import("@cfworker/json-schema")> | undefined;
const validators = new WeakMap<JsonSchema, Validator>();

const MAX_ISSUES = 8;
/** Of a list of many wrong values the first tell enough, and comparing each with each would take for ever. */
const MAX_COMPARED = 500;

/** What is wrong with a value by a JSON Schema, a sentence each; empty if nothing is. */
export async function checkJson(schema: JsonSchema, value: unknown): Promise<string[]> {
  if (isPlainlyValid(schema, value)) return [];
  library ??= import("@cfworker/json-schema");
  const { Validator: Created } = await library;
  try {
    let validator = validators.get(schema);
    if (!validator) {
      // The library writes into the schema, and those of agents are frozen.
      validator = new Created(structuredClone(schema) as never, findDraft(schema), false);
      validators.set(schema, validator);
    }
    const { valid, errors } = validator.validate(value);
    return valid ? [] : leaves(errors.slice(0, MAX_COMPARED)).slice(0, MAX_ISSUES).map(sentence);
  } catch (thrown) {
    return [`the schema cannot be used: ${messageOf(thrown)}`];
  }
}

/**
 * True if a value surely fits a schema of the common keywords, which is nearly every call of a tool. False says
 * nothing: the library decides, and finds the words.
 */
export function isPlainlyValid(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return schema === true;
  for (const keyword in schema) {
    const fits = PLAIN_KEYWORDS[keyword];
    if (!fits?.(schema[keyword] as never, value, schema)) return false;
  }
  return true;
}

type Fits = (told: never, value: unknown, schema: Readonly<Record<string, unknown>>) => boolean;

const PLAIN_KEYWORDS: Readonly<Record<string, Fits>> = {
  __proto__: null as never,
  title: () => true,
  description: () => true,
  default: () => true,
  examples: () => true,
  type: (types: string | readonly string[], value) =>
    typeof types === "string" ? isOfType(types, value) : types.some((type) => isOfType(type, value)),
  enum: (values: readonly unknown[], value) => !isObject(value) && values.includes(value),
  const: (only: unknown, value) => !isObject(value) && only === value,
  minimum: (least: number, value) => typeof value !== "number" || value >= least,
  maximum: (most: number, value) => typeof value !== "number" || value <= most,
  exclusiveMinimum: (below: unknown, value) =>
    typeof below === "number" && (typeof value !== "number" || value > below),
  // A length is counted in characters, of which one may be two units long.
  minLength: (least: number, value) => typeof value !== "string" || value.length >= least * 2,
  maxLength: (most: number, value) => typeof value !== "string" || value.length <= most,
  minItems: (least: number, value) => !Array.isArray(value) || value.length >= least,
  maxItems: (most: number, value) => !Array.isArray(value) || value.length <= most,
  items: (item: unknown, value) =>
    !Array.isArray(item) && (!Array.isArray(value) || value.every((each) => isPlainlyValid(item, each))),
  required: (names: readonly string[], value) =>
    !isRecord(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (schemas: Readonly<Record<string, unknown>>, value) =>
    !isRecord(value) ||
    Object.keys(schemas).every(
      (name) => !Object.hasOwn(value, name) || isPlainlyValid(schemas[name], value[name]),
    ),
  additionalProperties: (other: unknown, value, { properties = {} }) =>
    !isRecord(value) ||
    Object.keys(value).every(
      (name) => Object.hasOwn(properties as object, name) || isPlainlyValid(other, value[name]),
    ),
  anyOf: (schemas: readonly unknown[], value) => schemas.some((schema) => isPlainlyValid(schema, value)),
};

function isOfType(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  return typeof value === type && type !== "undefined" && type !== "function";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function findDraft(schema: JsonSchema): "4" | "7" | "2019-09" | "2020-12" {
  const named = String(schema.$schema ?? "");
  if (named.includes("draft-04")) return "4";
  if (named.includes("draft-0")) return "7";
  return named.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Errors that do not merely say that something below them is wrong. */
function leaves(errors: readonly OutputUnit[]): OutputUnit[] {
  return errors.filter(
    (error) =>
      !errors.some(
        (other) => other.keywordLocation.startsWith(`${error.keywordLocation}/`) || isBelow(other, error),
      ),
  );
}

function isBelow(other: OutputUnit, error: OutputUnit): boolean {
  return (
    other !== error &&
    PARENTS.has(error.keyword) &&
    other.instanceLocation.startsWith(`${error.instanceLocation}/`)
  );
}

const PARENTS = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalProperties",
  "patternProperties",
  "unevaluatedProperties",
]);

function sentence({ instanceLocation, keyword, error }: OutputUnit): string {
  const name = instanceLocation.slice(2).split("/").map(decode).join(".") || "the value";
  if (keyword === "false") return `${name} is not known here`;
  const missing = keyword === "required" ? /"([^"]+)"/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return `${name === "the value" ? "" : `${name}.`}${missing} is missing`;
  return `${name}: ${sayError({ keyword, error })}`;
}

/** What the library says of one value, in plain words: of a number at an end that is not included it says "less than itself". */
export function sayError({ keyword, error }: Pick<OutputUnit, "keyword" | "error">): string {
  const said = keyword === "exclusiveMinimum" ? error.replace("is less than", "is not above") : error;
  return said
    .replace(/^Instance type /, "the type ")
    .replace(/^Instance /, "it ")
    .replace(/\.$/, "");
}

function decode(part: string): string {
  return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
}
