import { expect, test } from "vitest";
import { describeFault } from "./describe-shape.ts";
import { type AnyTool, defineTool, type ToolDefinition } from "./tool.ts";

const made = (
  properties: object,
  more: Partial<ToolDefinition<unknown>> & { required?: string[] } = {},
): AnyTool => {
  const { required = [], ...rest } = more;
  return defineTool<unknown>({
    name: "made",
    description: "Made.",
    input: { type: "object", properties, required } as ToolDefinition<unknown>["input"],
    execute: async () => "",
    ...rest,
  });
};

test("a fault is told with what the tool takes: types in plain words, and what may be left out", () => {
  const properties = {
    path: { type: "string" },
    lines: { type: "array", items: { type: "integer" } },
    how: { enum: ["all", "one"] },
    on: { type: "boolean" },
  };
  expect(describeFault("path is missing", made(properties, { required: ["path"] }))).toBe(
    'path is missing; it takes {path: text, lines?: [whole number], how?: "all"|"one", on?: true|false}',
  );
});

test("a fault and the shape speak in the caller's words; of a list that it did not write only the last word is told", () => {
  const edit = { type: "object", properties: { old: { type: "string" } } };
  const tool = made(
    { path: { type: "string" }, edits: { type: "array", items: edit } },
    { words: { file_path: "path", old_string: "old" } },
  );
  expect(describeFault("path is missing", tool, ["file_path"])).toContain(
    "file_path is missing; it takes {file_path?:",
  );
  expect(describeFault("edits.0.old is missing", tool, ["old_string"])).toMatch(/^old_string is missing; /);
  expect(describeFault("edits.0.old is missing", tool, ["edits", "old"])).toMatch(
    /^edits\.0\.old is missing; /,
  );
});

test("values that the shape lists are not listed twice", () => {
  const message = 'how: it does not match any of ["all","one"]';
  expect(describeFault(message, made({ how: { enum: ["all", "one"] } }))).toMatch(
    /^how: it is none of its values; /,
  );
  expect(describeFault(message, made({}))).toMatch(/^how: it is none of "all"\|"one"; /);
});

test("a long shape is told without its inner levels", () => {
  const inner = {
    type: "object",
    properties: { deep: { type: "object", properties: { deeper: { type: "string" } } } },
  };
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`property${index}`, inner]));
  const text = describeFault("x", made(many));
  expect(text).toContain("property0?: {…}");
  expect(text).not.toContain("deeper");
});
