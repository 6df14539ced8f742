import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { checkJson } from "../../schema/check-json.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { Terminal } from "../terminal.ts";
import type { RunOptions } from "./run-options.ts";

const MAX_SCHEMA_BYTES = 200_000;

/** The form that `--json-schema` asks of the answer: the schema itself, or a file that holds it. */
export async function readAnswerSchema(
  { jsonSchema, cwd }: RunOptions,
  terminal: Terminal,
): Promise<JsonSchema | undefined> {
  if (jsonSchema === undefined) return undefined;
  const isInline = /^\s*\{/.test(jsonSchema);
  const text = isInline ? jsonSchema : await readSchemaFile(resolve(terminal.cwd, cwd ?? ".", jsonSchema));
  const schema = parseSchema(text, isInline ? "it" : jsonSchema);
  // Whatever the value, a sound schema is understood.
  const [issue] = await checkJson(schema, null);
  if (issue?.startsWith("the schema cannot be used")) throw unusable(issue);
  return schema;
}

async function readSchemaFile(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error("it is not a file");
    if (found.size > MAX_SCHEMA_BYTES) throw new Error(`it is larger than ${MAX_SCHEMA_BYTES} bytes`);
    return await readFile(path, "utf8");
  } catch (thrown) {
    throw unusable(`${path} cannot be read: ${messageOf(thrown)}`);
  }
}

function parseSchema(text: string, name: string): JsonSchema {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw unusable(`${name} is not JSON: ${messageOf(thrown)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw unusable(`${name} is not a schema: a JSON Schema is an object`);
}

function unusable(why: string): RetinueError {
  return new RetinueError(
    "input",
    `--json-schema cannot be used: ${why}`,
    'give a file or the schema itself, such as \'{"type": "object", "required": ["answer"]}\'',
  );
}
