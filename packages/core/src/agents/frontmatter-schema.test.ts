import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { AGENT_FIELDS, LIMIT_PARTS } from "../schema/agent-fields.ts";
import { findAgentFiles } from "./find-agent-files.ts";
import { AGENT_FRONTMATTER_SCHEMA } from "./frontmatter-schema.ts";
import { normaliseText, splitFrontmatter } from "./yaml/split-frontmatter.ts";

const FIXTURES = join(import.meta.dirname, "../../../../test/fixtures/agents");
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(AGENT_FRONTMATTER_SCHEMA);

/** Editors complete camelCase; snake_case is read as well. */
function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys);
  if (typeof value !== "object" || value === null) return value;
  const camel = (key: string) => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [camel(key), camelKeys(inner)]));
}

test("every native fixture satisfies the schema", async () => {
  const { files } = await findAgentFiles({
    projectDir: join(FIXTURES, "project"),
    builtinDir: join(FIXTURES, "builtin"),
  });
  const native = files.filter((file) => file.format === "native");
  expect(native.length).toBeGreaterThanOrEqual(4);
  for (const file of native) {
    const split = splitFrontmatter(normaliseText(await readFile(file.path, "utf8")));
    if (split.kind !== "found") throw new Error(file.path);
    expect(validate(camelKeys(parse(split.yaml))), JSON.stringify(validate.errors)).toBe(true);
  }
});

test("the schema names the parser's own keys and limits, each described", () => {
  const { properties } = AGENT_FRONTMATTER_SCHEMA as { properties: Record<string, Record<string, unknown>> };
  expect(Object.keys(properties).sort()).toEqual(Object.keys(AGENT_FIELDS).sort());
  for (const field of Object.values(properties)) expect(field.description).toMatch(/\w.*\./);
  const limits = properties.limits as { properties: Record<string, unknown> };
  expect(Object.keys(limits.properties).sort()).toEqual(Object.keys(LIMIT_PARTS).sort());
});

test("the schema refuses what the parser reports", () => {
  for (const bad of [{}, { description: "d", limits: { turns: 0 } }, { description: "d", context: "all" }]) {
    expect(validate(bad)).toBe(false);
  }
});
