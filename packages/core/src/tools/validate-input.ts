import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { checkJson } from "../schema/check-json.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { AnyTool, StandardInput } from "./tool.ts";

/** A parsed input, or a sentence for the model on what is wrong with it. */
export type Validated = { ok: true; value: unknown } | { ok: false; message: string };

const MAX_INPUT_CHARS = 4_000_000;
const MAX_NESTING = 64;

/** By the schema, because each run has delegation tools of its own, and all of them tell a model the same. */
const functionTools = new WeakMap<object, LanguageModelV4FunctionTool>();

/** Parses the JSON text of a tool call and checks it against the tool's schema. */
export async function validateInput(tool: AnyTool, text: string): Promise<Validated> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const standard = standardOf(tool);
  return standard
    ? checkStandard(standard, parsed.value)
    : checkJsonSchema(tool.input as JsonSchema, parsed.value);
}

/** The tool as a model is told of it; the same object for every tool that is told in the same words. */
export function functionToolOf(tool: AnyTool): LanguageModelV4FunctionTool {
  const { name, description } = tool;
  const key = tool.told ?? tool.input;
  const made = functionTools.get(key);
  if (made && made.name === name && made.description === description) return made;
  const inputSchema = withoutBounds(tellSchema(tool)) as never;
  const told: LanguageModelV4FunctionTool = { type: "function", name, description, inputSchema };
  functionTools.set(key, told);
  return told;
}

/** What a model is told of a tool's input. */
export function tellSchema(tool: AnyTool): JsonSchema {
  const schema = tool.told ?? findSchema(tool);
  const { properties } = schema as { properties?: Readonly<Record<string, unknown>> };
  const { untold = [] } = tool;
  if (!properties || untold.length === 0) return schema;
  const told = Object.entries(properties).filter(([name]) => !untold.includes(name));
  return { ...schema, properties: Object.fromEntries(told) };
}

/** The JSON Schema of a tool's input. */
export function findSchema(tool: AnyTool): JsonSchema {
  return (standardOf(tool)?.jsonSchema.input({ target: "draft-07" }) ?? tool.input) as JsonSchema;
}

/** Bounds that a call is checked by, and that a model need not read in every request. */
const BOUNDS: ReadonlySet<string> = new Set(
  "minLength maxLength minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum pattern $schema".split(
    " ",
  ),
);

function withoutBounds(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withoutBounds(each));
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      // Names of properties are no keywords.
      if (!isMap && (BOUNDS.has(key) || (key === "additionalProperties" && value === false))) return [];
      return [[key, withoutBounds(value, !isMap && key === "properties")] as const];
    }),
  );
}

/** Parses what must be one JSON object of a reasonable size and depth. */
export function parseJson(text: string): Validated {
  if (text.length > MAX_INPUT_CHARS)
    return { ok: false, message: `the input is longer than ${MAX_INPUT_CHARS} characters` };
  if (text.length > MAX_NESTING && nestingOf(text) > MAX_NESTING)
    return { ok: false, message: `the input is nested deeper than ${MAX_NESTING} levels` };
  try {
    const value: unknown =
      text.trim() === "" ? {} : JSON.parse(text, MAY_HOLD_PROTO.test(text) ? dropProto : undefined);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ok: true, value };
    return { ok: false, message: "the input must be one JSON object" };
  } catch (thrown) {
    return { ok: false, message: `the input is not valid JSON: ${(thrown as Error).message}` };
  }
}

/** The name itself, or an escape that could spell it. */
const MAY_HOLD_PROTO = /__proto__|\\u/;

function dropProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

/** Depth of brackets outside of strings. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) inString = !inString;
    else if (inString) i += code === 0x5c ? 1 : 0;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

function standardOf(tool: AnyTool): StandardInput<never>["~standard"] | undefined {
  return "~standard" in tool.input ? (tool.input as StandardInput<never>)["~standard"] : undefined;
}

async function checkStandard(
  standard: StandardInput<never>["~standard"],
  value: unknown,
): Promise<Validated> {
  const result = await standard.validate(value);
  if (!result.issues) return { ok: true, value: result.value };
  return {
    ok: false,
    message: result.issues.map((issue) => `${issue.path?.join(".") || "input"}: ${issue.message}`).join("; "),
  };
}

async function checkJsonSchema(schema: JsonSchema, value: unknown): Promise<Validated> {
  const issues = await checkJson(schema, value);
  return issues.length === 0 ? { ok: true, value } : { ok: false, message: joinIssues(issues) };
}

/** The same fault in several items of a list is told once. */
function joinIssues(issues: readonly string[]): string {
  const alike = Map.groupBy(issues, (issue) => issue.replaceAll(/\.\d+(?=[.:])/g, ".N"));
  return [...alike.values()]
    .map(([first = "", ...more]) => (more.length > 0 ? `${first} (and in ${more.length} more)` : first))
    .join("; ");
}
