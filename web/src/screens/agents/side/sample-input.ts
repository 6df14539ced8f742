type Schema = {
  type?: unknown;
  properties?: Record<string, unknown>;
  required?: unknown;
  items?: unknown;
  enum?: unknown;
  default?: unknown;
  minimum?: unknown;
};

/** Values that make a first try useful, by the name of the field. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  path: "src/index.ts",
  file: "src/index.ts",
  pattern: "**/*.ts",
  command: "npm test",
  url: "https://example.org/",
  query: "example",
  to: ["someone@example.org"],
  content: "text",
};

/** An input that fits a tool's schema as far as can be seen, for a person to change. */
export function sampleInput(schema: unknown): unknown {
  return typeof schema === "object" && schema !== null ? sampleOf(schema, "") : {};
}

function sampleOf(schema: Schema, name: string): unknown {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const sample = Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : undefined;
  if (type === "array") return Array.isArray(sample) ? sample : [sampleOf(asSchema(schema.items), name)];
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return false;
  if (type === "object" || schema.properties) return sampleFields(schema);
  return typeof sample === "string" ? sample : "";
}

function sampleFields({ properties = {}, required }: Schema): Record<string, unknown> {
  const needed: unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties);
  const shown = needed.length > 0 ? fields.filter(([field]) => needed.includes(field)) : fields.slice(0, 1);
  return Object.fromEntries(shown.map(([field, schema]) => [field, sampleOf(asSchema(schema), field)]));
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null ? value : {};
}
