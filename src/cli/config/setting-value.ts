import { RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";

const MAX_VALUE = 1_000_000;

/** The value that a text means where the schema wants a certain type: JSON, or the text itself. */
export function parseValue(text: string, schema: Readonly<Record<string, unknown>>, key: string): unknown {
  const value = parseJson(text);
  const wanted = schema.type;
  if (value === undefined) {
    if (wanted === undefined || wanted === "string") return text;
    throw new RetinueError(
      "usage",
      `${key} must be ${inWords(wanted)}, written as JSON`,
      example(wanted, key),
    );
  }
  return wanted === "string" && typeof value.json !== "string" ? text : value.json;
}

/** A value given by stdin, without the line end behind it. */
export async function valueFromStdin({ stdin }: Terminal): Promise<string> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > MAX_VALUE)
      throw new RetinueError("input", "what stands on stdin is too long for a setting");
  }
  return text.replace(/\r?\n$/, "");
}

function parseJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function inWords(type: unknown): string {
  if (type === "integer") return "a whole number";
  if (type === "boolean") return "true or false";
  return type === "array" || type === "object" ? `an ${type}` : `a ${String(type)}`;
}

function example(type: unknown, key: string): string {
  const values: Record<string, string> = { array: `'["one"]'`, object: `'{"name": …}'`, boolean: "true" };
  return `such as: retinue config set ${key} ${values[String(type)] ?? "5"}`;
}
