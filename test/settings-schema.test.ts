import { readFileSync } from "node:fs";
import { PUBLISHED_SETTINGS_SCHEMA, SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";
import { expect, test } from "vitest";

test("the schema that editors load is the one that settings are checked by", () => {
  const file = readFileSync(new URL("../docs/settings.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(file)).toEqual(PUBLISHED_SETTINGS_SCHEMA);
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
