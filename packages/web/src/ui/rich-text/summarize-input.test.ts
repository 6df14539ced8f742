import { expect, test } from "vitest";
import { summarizeInput } from "./summarize-input.ts";

test("an input is shown by its values, lists by their parts", () => {
  expect(summarizeInput("read", '{"path":"a.ts","limit":40}')).toBe("a.ts  40");
  expect(summarizeInput("crawl", '{"urls":["a","b"],"deep":{"x":1}}')).toBe('a, b  {"x":1}');
  expect(summarizeInput("shell", '"ls"')).toBe("ls");
});

test("an input that is not JSON is shown by its first line", () => {
  expect(summarizeInput("read", '  {"path": oops\nmore')).toBe('{"path": oops');
});

test("many tasks are shown by their agents, also where the input was cut", () => {
  const tasks = [
    { id: "a", agent: "researcher", task: 'say "agent": "nobody"' },
    { id: "b", agent: "coder", task: "x" },
    { id: "c", agent: "researcher", task: "y" },
  ];
  const input = JSON.stringify({ tasks });
  expect(summarizeInput("delegate_many", input)).toBe("2 × researcher, coder");
  expect(summarizeInput("delegate_many", input.slice(0, input.lastIndexOf('"agent"') + 12))).toBe(
    "researcher, coder",
  );
  expect(summarizeInput("delegate_many", '{"tasks":[]}')).toBe('{"tasks":[]}');
});
