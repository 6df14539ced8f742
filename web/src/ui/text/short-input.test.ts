import { expect, test } from "vitest";
import { shortInput } from "./short-input.ts";

test("an input is shown by its values, lists by their parts", () => {
  expect(shortInput("read", '{"path":"a.ts","limit":40}')).toBe("a.ts  40");
  expect(shortInput("crawl", '{"urls":["a","b"],"deep":{"x":1}}')).toBe('a, b  {"x":1}');
  expect(shortInput("shell", '"ls"')).toBe("ls");
});

test("an input that is no JSON is shown by its first line", () => {
  expect(shortInput("read", '  {"path": oops\nmore')).toBe('{"path": oops');
});

test("many tasks are shown by who is asked, also where the input was cut", () => {
  const tasks = [
    { id: "a", agent: "researcher", task: 'say "agent": "nobody"' },
    { id: "b", agent: "coder", task: "x" },
    { id: "c", agent: "researcher", task: "y" },
  ];
  const input = JSON.stringify({ tasks });
  expect(shortInput("delegate_many", input)).toBe("2 × researcher, coder");
  expect(shortInput("delegate_many", input.slice(0, input.lastIndexOf('"agent"') + 12))).toBe(
    "researcher, coder",
  );
  expect(shortInput("delegate_many", '{"tasks":[]}')).toBe('{"tasks":[]}');
});
