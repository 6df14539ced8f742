import { readFileSync } from "node:fs";
import { SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";
import { expect, test } from "vitest";
import { listGeneratedDocs } from "./generated-docs.ts";

test.each(listGeneratedDocs())("$name is what the tables in the sources say", ({ file, generate }) => {
  const text = readFileSync(file, "utf8");
  const isJson = file.endsWith(".json");
  const expected = generate(text);
  expect(expected.length).toBeGreaterThan(1_000);
  expect(isJson ? JSON.parse(text) : text).toEqual(isJson ? JSON.parse(expected) : expected);
  if (!isJson) expect(generate(text.replace("| `temperature` |", "| `warmth` |"))).toBe(text);
});

test("every setting says what it is for", () => {
  const silent: string[] = [];
  const look = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties, additionalProperties } = { ...schema } as Record<string, object | undefined>;
    for (const [key, each] of Object.entries(properties ?? {})) {
      if (typeof each.description !== "string") silent.push(`${path}.${key}`);
      look(each, `${path}.${key}`);
    }
    look(additionalProperties, path);
  };
  look(SETTINGS_SCHEMA, "");
  expect(silent).toEqual([]);
});
