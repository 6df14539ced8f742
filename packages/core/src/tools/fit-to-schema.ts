import { isRecord } from "../schema/json-object.ts";
import { parseJson } from "./validate-input.ts";

type Schema = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
};

/** What may be left out, and what is taken exactly as it is written, by its key. */
export type Fitting = { mayDrop(key: string): boolean; readonly exact: ReadonlySet<string> };

/**
 * The value as a schema wants it, where only its form differs: `"5"` for 5, one item for a list of it, JSON in a text,
 * `file_path` for `filePath`. Keys that the schema does not know are left out where that is allowed. The same value comes
 * back if nothing had to be changed.
 */
export function fitToSchema(schema: unknown, value: unknown, how: Fitting): unknown {
  return isRecord(schema) ? fitValue(schema as Schema, value, how) : value;
}

function fitValue(schema: Schema, value: unknown, how: Fitting): unknown {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const shaped = reshape(types, value);
  if (types.includes("array") && Array.isArray(shaped)) {
    const { items } = schema;
    const fitted = items ? shaped.map((item) => fitValue(items, item, how)) : shaped;
    return fitted.every((item, index) => item === shaped[index]) ? shaped : fitted;
  }
  if (isRecord(shaped) && schema.properties) return fitObject(schema, shaped, how);
  if (typeof shaped === "string" && schema.enum && !schema.enum.includes(shaped))
    return schema.enum.find((word) => typeof word === "string" && sameWord(word, shaped)) ?? shaped;
  return shaped;
}

function fitObject(schema: Schema, value: Record<string, unknown>, how: Fitting): unknown {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fitted: Record<string, unknown> = {};
  let isChanged = false;
  for (const [key, item] of Object.entries(value)) {
    const name = Object.hasOwn(properties, key) ? key : findName(key, properties, value);
    const property = name === undefined ? undefined : properties[name];
    if (name === undefined || property === undefined) {
      // Who says no to what there is not asks for nothing.
      const isNo = item === false || item === null;
      if (additionalProperties === false && (isNo || how.mayDrop(key))) isChanged = true;
      else fitted[key] = item;
      continue;
    }
    const types = typeof property.type === "string" ? [property.type] : (property.type ?? ["null"]);
    if (how.exact.has(name)) {
      fitted[name] = item;
      isChanged ||= name !== key;
      continue;
    }
    // Who writes null for what can be left out leaves it out.
    if (item === null && !required.includes(name) && !types.includes("null")) isChanged = true;
    else fitted[name] = fitValue(property, item, how);
    isChanged ||= name !== key || fitted[name] !== item;
  }
  return isChanged ? fitted : value;
}

/** The property that a key means in another spelling, unless it is given under its own. */
function findName(
  key: string,
  properties: Readonly<Record<string, Schema>>,
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  return Object.keys(properties).find((name) => sameWord(name, key) && !Object.hasOwn(value, name));
}

/** The same but for case, `_` and `-`. */
function sameWord(one: string, other: string): boolean {
  const plain = (word: string) => word.replaceAll(/[_-]/g, "").toLowerCase();
  return plain(one) === plain(other);
}

const NUMBER = /^\s*-?\d+(?:\.\d+)?\s*$/;

function reshape(types: readonly string[], value: unknown): unknown {
  const wants = (type: string) => types.includes(type);
  if (typeof value === "string" && !wants("string")) {
    if ((wants("number") || wants("integer")) && NUMBER.test(value)) return Number(value);
    if (wants("boolean") && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
    if (wants("array")) return parseList(value) ?? [value];
    if (wants("object")) {
      const parsed = parseJson(value);
      return parsed.ok && value.trim() !== "" ? parsed.value : value;
    }
  }
  if (wants("string") && !wants("array") && Array.isArray(value) && value.length === 1)
    return typeof value[0] === "string" ? value[0] : value;
  if (wants("string") && !wants("number") && !wants("integer") && Number.isFinite(value))
    return String(value);
  const isAlone = typeof value === "number" || isRecord(value);
  return wants("array") && types.length === 1 && isAlone ? [value] : value;
}

/** A list that was written as JSON inside a text. */
function parseList(text: string): unknown[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  const parsed = parseJson(`{"list":${text}}`);
  const list = parsed.ok ? (parsed.value as { list?: unknown }).list : undefined;
  return Array.isArray(list) ? list : undefined;
}
