import { nameAsWritten } from "./accept-words.ts";
import type { AnyTool } from "./tool.ts";
import { tellSchema } from "./validate-input.ts";

type Schema = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
};

const MAX_CHARS = 500;
const MAX_NESTING = 3;
const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true|false",
};

/** A path to a value, as the sentences of a check begin with it. */
const PLACE = /(^|; )([\w$-]+(?:\.[\w$-]+)*)(?= is missing| is not known here|: )/g;
const NO_LIST = /(^|; )([\w$-]+): the type "array" is invalid\. Expected "string"/g;
const NO_VALUE = /it does not match any of \[(.*?)\](?=; | \(and in |$)/g;

/**
 * What is wrong with an input and what the tool takes instead, both in the caller's words. `used` are the keys that it
 * wrote; values that the second part lists are not listed in the first.
 */
export function describeFault(message: string, tool: AnyTool, used: readonly string[] = []): string {
  const rename = (key: string) => nameAsWritten(key, tool.words ?? {}, used);
  const shape = describeShape(tellSchema(tool), rename);
  const fault = message
    .replaceAll(NO_LIST, "$1$2: it takes one, not a list; make one call for each, all in one reply")
    .replaceAll(NO_VALUE, (_, list: string) => {
      const values = list.replaceAll(/,(?=")/g, "|");
      return `it is none of ${shape.includes(values) ? "its values" : values}`;
    })
    .replaceAll(PLACE, (_, before: string, place: string) => `${before}${namePlace(place, used, rename)}`);
  return `${fault}; it takes ${shape}`;
}

/** Of a value in a list that the caller did not write, as `edits.0.old`, only the last word is the caller's. */
function namePlace(place: string, used: readonly string[], rename: (key: string) => string): string {
  const names = place.split(".").map(rename);
  const isOurs = names.length > 1 && used.length > 0 && !used.includes(names[0] ?? "");
  return isOurs ? (names.at(-1) ?? place) : names.join(".");
}

/** What a schema accepts, in one line, such as `{path: text, offset?: whole number}`. */
function describeShape(schema: unknown, rename: (key: string) => string): string {
  const text = describe(schema as Schema, 0, rename);
  return text.length > MAX_CHARS ? describe(schema as Schema, MAX_NESTING - 1, rename) : text;
}

function describe(schema: Schema, depth: number, rename: (key: string) => string): string {
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join("|");
  if (schema.properties && depth < MAX_NESTING) {
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties).map(
      ([name, each]) =>
        `${rename(name)}${required.has(name) ? "" : "?"}: ${describe(each, depth + 1, rename)}`,
    );
    return `{${fields.join(", ")}}`;
  }
  if (schema.items) return `[${describe(schema.items, depth + 1, rename)}]`;
  const type = [schema.type ?? "any"].flat().join("|");
  return WORDS[type] ?? (type === "object" ? "{…}" : type);
}
