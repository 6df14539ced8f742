import { didYouMean } from "@retinue/core/agents/closest";
import { createRedactor } from "@retinue/core/redact/create-redactor";
import { RetinueError } from "@retinue/core/schema/error";
import { isRecord } from "@retinue/core/schema/json-object";
import { SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";

const PART = /\.?(?:\["((?:[^"\\]|\\.)*)"\]|([^.["\]]+))/y;
const PLAIN = /^[^.["\]\s]+$/;

/** How a key is written. */
export const KEY_FORM = 'such as limits.turns, or prices["openai/gpt-4.1"].input where a name has dots';

/** The path that a key names: `limits.turns`, or `prices["openai/gpt-4.1"].input` where a name has dots. */
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

/** A path as a person would write it. */
export function showKey(keys: readonly string[]): string {
  return keys
    .map((key, index) => (PLAIN.test(key) ? `${index > 0 ? "." : ""}${key}` : `[${JSON.stringify(key)}]`))
    .join("");
}

/** A path as a JSON pointer, by which lines of a file are found. */
export function writePointer(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** What the schema says of a key; an error names the nearest one. */
export function findSettingSchema(keys: readonly string[]): Readonly<Record<string, unknown>> {
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

/** Every key that the schema names, with its description. */
export function listKnownKeys(schema: unknown = SETTINGS_SCHEMA, way: readonly string[] = []): KnownKey[] {
  if (!isRecord(schema)) return [];
  const { properties, additionalProperties: others } = schema;
  const about = typeof schema.description === "string" ? schema.description : "";
  if (isRecord(properties))
    return Object.entries(properties).flatMap(([key, each]) => listKnownKeys(each, [...way, key]));
  if (isRecord(others) && isRecord(others.properties)) return listKnownKeys(others, [...way, "NAME"]);
  return [{ key: showKey(way), about }];
}

/** A key that there is. */
type KnownKey = { key: string; about: string };

/** The value at a path, if everything on it is an object. */
export function readValueAt(value: unknown, keys: readonly string[]): unknown {
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

const SECRET = /key|token|secret|password|authorization|credential|cookie/i;
const HARMLESS_HEADER = /^(?:accept(?:-\w+)?|content-type|user-agent|referer|anthropic-(?:version|beta))$/i;
const HIDDEN = "(hidden)";
/** A parameter of an address whose name says that its value is a secret. */
const IN_ADDRESS = /([?&#][^=&#\s]*(?:key|token|secret|password|auth|sig)[^=&#\s]*=)[^&#\s]+/gi;

/** Whether the value at a path is a secret by its name: any header not known to be harmless; not an `…Env`, which names a variable. */
export function isSecret(keys: readonly string[]): boolean {
  const name = keys.at(-1) ?? "";
  if (keys.length > 3 && keys.at(-2) === "headers") return !HARMLESS_HEADER.test(name);
  return SECRET.test(name) && !/env$/i.test(name) && !/^(?:tokens|firstTokenMs)$/.test(name);
}

/** A value without what looks like a secret, by its name or its form. */
export function maskSecrets(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => maskSecrets(each, keys));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, maskSecrets(each, [...keys, key])]),
    );
  if (typeof value !== "string" || value === "") return value;
  if (isSecret(keys)) return HIDDEN;
  const address = value.replace(/(\/\/)[^/@\s]+@/, `$1${HIDDEN}@`).replace(IN_ADDRESS, `$1${HIDDEN}`);
  return createRedactor().redact(address);
}
