import { expect, test } from "vitest";
import { type AnyTool, defineTool, type ToolDefinition } from "./tool.ts";
import { functionToolOf, parseJson, validateInput } from "./validate-input.ts";

const tool = (
  input: ToolDefinition<unknown>["input"],
  more: Partial<ToolDefinition<unknown>> = {},
): AnyTool =>
  defineTool<unknown>({ name: "made", description: "Made.", input, execute: async () => "", ...more });
const schemaOf = (made: AnyTool) => functionToolOf(made).inputSchema;

test.each([
  ["nothing", "  ", {}],
  ["brackets inside of texts", `{"a":"${'\\"['.repeat(200)}"}`, { a: '"['.repeat(200) }],
  ["64 levels", `{"a":${"[".repeat(63)}${"]".repeat(63)}}`, expect.anything()],
])("an input of %s is read", (_, text, value) => {
  expect(parseJson(text)).toEqual({ ok: true, value });
});

test.each([
  ["a list", "[1]", "must be one JSON object"],
  ["null", "null", "must be one JSON object"],
  ["broken JSON", "{", "not valid JSON"],
  ["65 levels", `{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "deeper than 64 levels"],
  ["more than four million characters", `{"a":"${"x".repeat(4_000_000)}"}`, "longer than 4000000 characters"],
])("an input of %s is refused", (_, text, fault) => {
  expect(parseJson(text)).toEqual({ ok: false, message: expect.stringContaining(fault) });
});

test("a property called __proto__ is left out, however its name is written", () => {
  for (const text of ['{"__proto__":{"x":1},"y":2}', '{"\\u005f_proto__":{"x":1},"y":2}']) {
    const parsed = parseJson(text);
    expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(["y"]);
  }
});

test("an input is checked by the tool's schema, and the same fault in several items is told once", async () => {
  const items = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
  const made = tool({ type: "object", properties: { list: { type: "array", items } } });
  expect(await validateInput(made, '{"list":[{"to":"a"}]}')).toEqual({
    ok: true,
    value: { list: [{ to: "a" }] },
  });
  const { message } = (await validateInput(made, '{"list":[{},{},{}]}')) as { message: string };
  expect(message).toMatch(/^list\.0\.to .*\(and in 2 more\)$/);
});

test("a schema of another library gives its own value or its own complaints", async () => {
  const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
  const made = (validate: (value: unknown) => object) =>
    tool({
      "~standard": { version: 1, vendor: "made", jsonSchema, validate },
    } as ToolDefinition<unknown>["input"]);
  expect(
    await validateInput(
      made(() => ({ value: { n: 5 } })),
      '{"n":"5"}',
    ),
  ).toEqual({ ok: true, value: { n: 5 } });
  const issues = [{ path: ["a", "b"], message: "is wrong" }, { message: "is odd" }];
  expect(
    await validateInput(
      made(() => ({ issues })),
      "{}",
    ),
  ).toEqual({
    ok: false,
    message: "a.b: is wrong; input: is odd",
  });
});

test("a model is not told of bounds and of what it need not know, but of properties that are called like a bound", () => {
  const properties = {
    pattern: { type: "string", minLength: 1, maxLength: 100 },
    hidden: { type: "string" },
  } as const;
  const input = { type: "object", properties, additionalProperties: false } as const;
  expect(schemaOf(tool(input, { untold: ["hidden"] }))).toEqual({
    type: "object",
    properties: { pattern: { type: "string" } },
  });
});
