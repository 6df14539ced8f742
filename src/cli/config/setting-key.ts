import { didYouMean } from "../../agents/closest.ts";
import { isRecord } from "../../config/read-settings-file.ts";
import { SETTINGS_SCHEMA } from "../../config/settings-schema.ts";
import { RetinueError } from "../../schema/error.ts";

const PART = /\.?(?:\["((?:[^"\\]|\\.)*)"\]|([^.["\]]+))/y;
const PLAIN = /^[^.["\]\s]+$/;

/** The way that a key names: `limits.turns`, or `prices["openai/gpt-4.1"].input` where a name has dots. */
export function parseKey(text: string): string[] {
  const keys: string[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const found = PART.exec(text);
    if (!found) throw badKey(text);
    const [, quoted, plain] = found;
    keys.push(quoted === undefined ? (plain ?? "") : unquote(quoted, text));
  }
  if (keys.length === 0 || text.startsWith(".")) throw badKey(text);
  return keys;
}

/** A way as a person would write it. */
export function showKey(keys: readonly string[]): string {
  return keys
    .map((key, index) => (PLAIN.test(key) ? `${index > 0 ? "." : ""}${key}` : `[${JSON.stringify(key)}]`))
    .join("");
}

/** A way as lines of a file are found by. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** What the schema says of a key; an error names the nearest one. */
export function schemaOf(keys: readonly string[]): Readonly<Record<string, unknown>> {
  let schema: unknown = SETTINGS_SCHEMA;
  for (const [index, key] of keys.entries()) {
    if (!isRecord(schema)) break;
    const { properties, additionalProperties: others } = schema;
    if (isRecord(properties) && Object.hasOwn(properties, key)) schema = properties[key];
    else if (isRecord(others)) schema = others;
    else if (!isRecord(properties) && schema.type === "object") return {};
    else throw unknownKey(keys, index, isRecord(properties) ? Object.keys(properties) : []);
  }
  return isRecord(schema) ? schema : {};
}

/** Every key with a place of its own in the schema, and what it is for. */
export function knownKeys(schema: unknown = SETTINGS_SCHEMA, way: readonly string[] = []): KnownKey[] {
  if (!isRecord(schema)) return [];
  const { properties, additionalProperties: others } = schema;
  const about = typeof schema.description === "string" ? schema.description : "";
  if (isRecord(properties))
    return Object.entries(properties).flatMap(([key, each]) => knownKeys(each, [...way, key]));
  if (isRecord(others) && isRecord(others.properties)) return knownKeys(others, [...way, "NAME"]);
  return [{ key: showKey(way), about }];
}

/** A key that there is. */
export type KnownKey = { key: string; about: string };

/** The value at a way, if everything on it is an object. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

function unquote(quoted: string, text: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    throw badKey(text);
  }
}

function badKey(text: string): RetinueError {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return new RetinueError(
    "usage",
    `'${shown}' is no key`,
    'write limits.turns, or prices["openai/gpt-4.1"].input where a name has dots',
  );
}

function unknownKey(keys: readonly string[], index: number, known: readonly string[]): RetinueError {
  const above = showKey(keys.slice(0, index));
  const key = keys[index] ?? "";
  const near = didYouMean(key, known);
  if (known.length === 0)
    return new RetinueError("input", `there is no setting '${showKey(keys)}': ${above} has no parts`);
  return new RetinueError(
    "input",
    `there is no setting '${showKey(keys)}'${near}`,
    `${above ? `${above} has` : "there are"}: ${known.filter((each) => each !== "$schema").join(", ")}`,
  );
}
