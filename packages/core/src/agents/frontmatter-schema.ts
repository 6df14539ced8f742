import { FIELD_TABLE, type FieldPart, type ValueKind } from "../schema/agent-fields.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import { describeAsSchema } from "../schema/number-range.ts";

/** JSON Schema (draft-07) of an agent file's frontmatter, for editors. Keys are also read in snake_case. */
export const AGENT_FRONTMATTER_SCHEMA: JsonSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Retinue agent",
  type: "object",
  required: ["description"],
  properties: describeParts(FIELD_TABLE),
};

function describeParts(parts: Readonly<Record<string, FieldPart>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(parts).map(([name, { about, kind }]) => [
      name,
      {
        description: about,
        ...describeKind(kind),
        ...("default" in kind && kind.default !== undefined && { default: kind.default }),
      },
    ]),
  );
}

function describeKind(kind: ValueKind): JsonSchema {
  switch (kind.is) {
    case "text":
      return { type: "string", minLength: 1 };
    case "names":
    case "rules": {
      const items = "words" in kind ? { enum: kind.words } : { type: "string" };
      return { oneOf: [{ type: "string" }, { type: "array", items }] };
    }
    case "number":
      return describeAsSchema(kind.range);
    case "choice":
      return { enum: [...kind.words, ...Object.keys(kind.also ?? {})] };
    case "flag":
      return { type: "boolean" };
    case "map": {
      const properties = describeParts(kind.parts);
      const map = { type: "object", additionalProperties: false, properties };
      const short = kind.short === undefined ? undefined : kind.parts[kind.short];
      if (!short) return map;
      const bare = describeKind(short.kind);
      return { oneOf: [map, ...(Array.isArray(bare.oneOf) ? bare.oneOf : [bare])] };
    }
    case "own":
      return kind.schema;
  }
}

/** The fields as lines of a table in Markdown: key, meaning, and what holds without it. */
export function documentFields(): string {
  const rows = Object.entries(FIELD_TABLE).flatMap(([name, field]) => [
    [name, field] as const,
    ...(field.kind.is === "map"
      ? Object.entries(field.kind.parts).map(([part, own]) => [`${name}.${part}`, own] as const)
      : []),
  ]);
  const lines = rows.map(([key, { about, kind, without }]) => {
    const words =
      kind.is === "choice" && kind.words.length > 1 ? ` One of ${kind.words.map(code).join(", ")}.` : "";
    const text = `${about}${words}`.replaceAll("|", "\\|");
    return `| \`${key}\` | ${text} | ${without ?? showDefault(kind)} |`;
  });
  return ["| field | meaning | without it |", "|---|---|---|", ...lines].join("\n");
}

function showDefault(kind: ValueKind): string {
  const usual = "default" in kind ? kind.default : undefined;
  if (Array.isArray(usual)) return usual.length === 0 ? "none" : usual.map(code).join(", ");
  if (usual === undefined || typeof usual === "boolean") return usual === undefined ? "" : String(usual);
  return typeof usual === "number" ? String(usual) : code(usual);
}

function code(text: unknown): string {
  return `\`${String(text)}\``;
}
