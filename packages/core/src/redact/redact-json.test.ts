import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "./create-redactor.ts";

const redactor = createRedactor({ secrets: ["known-value-1"] });

test("strings and names of properties are redacted, everything else is kept", () => {
  const value = {
    a: [1, null, true, "x known-value-1"],
    "known-value-1": { b: "plain" },
    c: { d: "password=hunter2" },
  };
  expect(redactor.redactJson(value)).toEqual({
    a: [1, null, true, "x [redacted:secret]"],
    "[redacted:secret]": { b: "plain" },
    c: { d: "password=[redacted:credential]" },
  });
});

test("a property whose name promises a secret is believed", () => {
  const value = {
    password: "hunter2",
    tokens: "hunter2",
    nextPageToken: "abc123def",
    apiKey: ["abc123def"],
    token: "string",
  };
  expect(redactor.redactJson(value)).toEqual({
    ...value,
    password: "[redacted:credential]",
    apiKey: ["[redacted:credential]"],
  });
});

test("a value without secrets is returned itself", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const clean = createRedactor().redactJson(value);
      if (JSON.stringify(clean) === JSON.stringify(value)) expect(clean).toBe(value);
    }),
  );
});

test("redacting twice is redacting once, and two names that become one keep both values", () => {
  const other = createRedactor({ secrets: ["known-value-1", "known-value-2"] });
  const once = other.redactJson({ "known-value-1": 1, "known-value-2": 2 });
  expect(Object.values(once)).toEqual([1, 2]);
  expect(other.redactJson(once)).toBe(once);
});

test("hostile shapes are handled: deep nesting, cycles, a property called __proto__", () => {
  let deep: unknown = "known-value-1";
  for (let level = 0; level < 100_000; level++) deep = [deep];
  let inner = redactor.redactJson(deep);
  while (Array.isArray(inner)) inner = inner[0];
  expect(inner).toBe("[redacted:secret]");

  const cycle: Record<string, unknown> = { text: "known-value-1" };
  cycle.self = cycle;
  const copy = redactor.redactJson(cycle);
  expect(copy.text).toBe("[redacted:secret]");
  expect(copy.self).toBe(copy);

  const parsed: unknown = JSON.parse('{"__proto__": {"a": "known-value-1"}}');
  expect(JSON.stringify(redactor.redactJson(parsed))).toBe('{"__proto__":{"a":"[redacted:secret]"}}');
});

test("a secret that is only the name of a property is found, in what is kept and in what is about to leave", () => {
  expect(redactor.redactJson({ "known-value-1": 1 })).toEqual({ "[redacted:secret]": 1 });
  expect(redactor.findHidden({ "known-value-1": 1 })).toBe("found");
  expect(redactor.findHidden({ a: ["plain", { b: "known-value-1" }] })).toBe("found");
  expect(redactor.findHidden({ a: "plain" })).toBe("none");
});

test("the items of a list are named as the list, and tokens that only lead to the next page are kept", () => {
  expect(redactor.redactJson({ apiKey: ["abc123def"] })).toEqual({ apiKey: ["[redacted:credential]"] });
  const harmless = { resumeToken: "abc123def", next_page_token: "abc123def", cursorToken: "abc123def" };
  expect(redactor.redactJson(harmless)).toBe(harmless);
});
