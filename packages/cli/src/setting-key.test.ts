import fc from "fast-check";
import { expect, test } from "vitest";
import { parseValue } from "./commands/config-set.ts";
import { findSettingSchema, listKnownKeys, maskSecrets, parseKey, showKey } from "./setting-key.ts";

test("keys are read with dots, and with brackets where a name has dots", () => {
  expect(parseKey("limits.turns")).toEqual(["limits", "turns"]);
  expect(parseKey('prices["openai/gpt-4.1"].input')).toEqual(["prices", "openai/gpt-4.1", "input"]);
  for (const bad of ["", ".", ".a", "a.", "a..b", "a[b]", 'a["b', "a b."])
    expect(() => parseKey(bad)).toThrow("is no key");
});

test("what is shown of a key reads back as the same key", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }), (keys) => {
      expect(parseKey(showKey(keys))).toEqual(keys);
    }),
  );
});

test("an unknown key is refused with the nearest one and a list of all", () => {
  expect(() => findSettingSchema(["limits", "truns"])).toThrow(
    "there is no setting 'limits.truns'; did you mean 'turns'?",
  );
  expect(() => findSettingSchema(["model", "x"])).toThrow("model has no parts");
  expect(() => findSettingSchema(["constructor"])).toThrow("there is no setting 'constructor'");
  expect(findSettingSchema(["providers", "anything", "kind"]).type).toBe("string");
  expect(listKnownKeys().map(({ key }) => key)).toContain("providers.NAME.baseUrl");
});

test("a value is JSON where the setting wants it, and text where it is a text", () => {
  const as = (text: string, type?: string) => parseValue(text, type ? { type } : {}, "key");
  expect([as("5", "integer"), as("true", "boolean"), as('["a"]', "array")]).toEqual([5, true, ["a"]]);
  expect([as("5", "string"), as('"5"', "string"), as("a b", "string"), as("a b")]).toEqual([
    "5",
    "5",
    "a b",
    "a b",
  ]);
  expect(() => as("five", "integer")).toThrow("key must be a whole number, written as JSON");
});

test("secrets are hidden by their name, by their form and in addresses", () => {
  const value = {
    work: {
      apiKey: "plain words",
      apiKeyEnv: "WORK_KEY",
      baseUrl: "https://ada:hunter2@example.org/v1",
      headers: { "X-Api-Key": "abc", Authorization: "Bearer abc", Accept: "text/plain" },
    },
  };
  const shown = JSON.stringify(maskSecrets(value, ["providers"]));
  for (const secret of ["plain words", "hunter2", "abc"]) expect(shown).not.toContain(secret);
  for (const harmless of ["WORK_KEY", "example.org/v1", "text/plain"]) expect(shown).toContain(harmless);
  expect(maskSecrets(1_000, ["limits", "tokens"])).toBe(1_000);
});
