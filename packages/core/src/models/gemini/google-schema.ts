import { isRecord } from "../../schema/json-object.ts";

/** A schema as Google's API takes it: a part of OpenAPI 3.0. */
export type GoogleSchema = Record<string, unknown>;

/** Keywords with the same meaning on both sides. */
const KEPT = [
  "title",
  "description",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
] as const;
const FORMATS = ["date-time", "int32", "int64", "float", "double", "enum"];
const TYPES = ["string", "number", "integer", "boolean", "array", "object"];
const ANYTHING = { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] };
/** Schemas that refer to themselves are cut off at the second time, and all of them at these bounds. */
const DEEPEST = 12;
const MOST_PARTS = 500;

/**
 * Writes a JSON Schema in Google's part of the language. What that cannot say (`additionalProperties`, `not`, tuples and
 * so on) is left out: the schema only guides the model, and the host checks every input against the whole one.
 */
export function googleSchema(schema: unknown): GoogleSchema {
  return convert(schema, { root: isRecord(schema) ? schema : {}, partsLeft: MOST_PARTS }, []);
}

/** The whole document, and how much of it may still be written out. */
type Source = { root: Record<string, unknown>; partsLeft: number };

function convert(given: unknown, source: Source, above: readonly unknown[]): GoogleSchema {
  const { root } = source;
  const reference = isRecord(given) ? given.$ref : undefined;
  const repeats = reference !== undefined && above.includes(reference);
  if (repeats || above.length > DEEPEST || source.partsLeft-- <= 0) return { type: "object" };
  const schema = resolved(given, root);
  const below = (part: unknown) => convert(part, source, [...above, reference]);
  const kept: GoogleSchema = {};
  for (const key of KEPT) if (schema[key] !== undefined) kept[key] = schema[key];
  if (FORMATS.includes(String(schema.format))) kept.format = schema.format;
  const { types, nullable } = listTypes(schema);
  if (nullable) kept.nullable = true;
  const branches = listBranches(schema).map((branch) => resolved(branch, root));
  if (branches.some(isNull)) kept.nullable = true;
  const others = branches.filter((branch) => !isNull(branch)).map(below);
  if (others.length === 1) return { ...kept, ...others[0], ...described(schema) };
  if (others.length > 1) return { ...kept, anyOf: others };
  if (types.length > 1) return { ...kept, anyOf: types.map((type) => below({ ...schema, type })) };
  const type = types[0];
  if (type === undefined) return { ...ANYTHING, ...kept };
  return { ...kept, type, ...allowedValues(schema, type), ...contents(schema, type, below) };
}

/** A reference inside the document is followed, and the parts of `allOf` become one. */
function resolved(given: unknown, root: Record<string, unknown>, steps = 0): Record<string, unknown> {
  if (!isRecord(given) || steps > DEEPEST) return {};
  const { $ref, allOf, ...own } = given;
  const parts = [
    typeof $ref === "string" ? target($ref, root) : undefined,
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  let whole: Record<string, unknown> = {};
  for (const part of parts) if (isRecord(part)) whole = joined(whole, resolved(part, root, steps + 1));
  return joined(whole, own);
}

function joined(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const both: Record<string, unknown> = { ...a, ...b };
  if (isRecord(a.properties) && isRecord(b.properties))
    both.properties = { ...a.properties, ...b.properties };
  if (Array.isArray(a.required) && Array.isArray(b.required)) both.required = [...a.required, ...b.required];
  return both;
}

function target(reference: string, root: Record<string, unknown>): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function listTypes(schema: Record<string, unknown>): { types: string[]; nullable: boolean } {
  const given = Array.isArray(schema.type) ? schema.type : [schema.type ?? impliedType(schema)];
  const types = given.filter((type) => typeof type === "string" && TYPES.includes(type));
  return { types, nullable: given.includes("null") || schema.nullable === true };
}

function impliedType(schema: Record<string, unknown>): string | undefined {
  if (isRecord(schema.properties)) return "object";
  if (schema.items !== undefined) return "array";
  const [first] = listEnumValues(schema);
  return first === undefined ? undefined : typeof first === "object" ? undefined : typeof first;
}

function listBranches(schema: Record<string, unknown>): unknown[] {
  const branches = schema.anyOf ?? schema.oneOf;
  return Array.isArray(branches) ? branches : [];
}

function isNull(branch: unknown): boolean {
  return isRecord(branch) && (branch.type === "null" || branch.const === null);
}

function listEnumValues(schema: Record<string, unknown>): unknown[] {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : [];
}

/** Only texts can be listed; other values are told in words. */
function allowedValues(schema: Record<string, unknown>, type: string): GoogleSchema {
  const values = listEnumValues(schema);
  if (values.length === 0) return {};
  // An object without a prototype cannot become text by String.
  const toText = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  if (type === "string") return { enum: values.map(toText) };
  const { description } = schema;
  const said = `One of ${values.map((value) => JSON.stringify(value)).join(", ")}.`;
  return { description: typeof description === "string" ? `${description} ${said}` : said };
}

function contents(
  schema: Record<string, unknown>,
  type: string,
  below: (part: unknown) => GoogleSchema,
): GoogleSchema {
  if (type === "array") return { items: below(Array.isArray(schema.items) ? {} : (schema.items ?? {})) };
  if (type !== "object" || !isRecord(schema.properties)) return {};
  const entries = Object.entries(schema.properties);
  if (entries.length === 0) return {};
  const properties = Object.fromEntries(entries.map(([name, part]) => [name, below(part)]));
  const names = Array.isArray(schema.required) ? new Set(schema.required) : new Set();
  const required = Object.keys(properties).filter((name) => names.has(name));
  return { properties, ...(required.length > 0 && { required }) };
}

function described({ description }: Record<string, unknown>): GoogleSchema {
  return typeof description === "string" ? { description } : {};
}
