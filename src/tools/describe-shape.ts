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

/** What a schema accepts, in one line, such as `{path: text, offset?: whole number}`. */
export function describeShape(schema: unknown): string {
  const text = describe(schema as Schema, 0);
  return text.length > MAX_CHARS ? describe(schema as Schema, MAX_NESTING - 1) : text;
}

function describe(schema: Schema, depth: number): string {
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join("|");
  if (schema.properties && depth < MAX_NESTING) {
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties).map(
      ([name, each]) => `${name}${required.has(name) ? "" : "?"}: ${describe(each, depth + 1)}`,
    );
    return `{${fields.join(", ")}}`;
  }
  if (schema.items) return `[${describe(schema.items, depth + 1)}]`;
  const type = [schema.type ?? "any"].flat().join("|");
  return WORDS[type] ?? (type === "object" ? "{…}" : type);
}
