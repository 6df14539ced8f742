import { expect, test } from "vitest";
import { RetinueError } from "../schema/error.ts";
import { isToolName, parseRule, parseRules } from "./rule.ts";

test("a name alone is a rule on every call of the tool", () => {
  expect(parseRule("read")).toEqual({ text: "read", tool: "read" });
  expect(parseRule("mcp__srv__*")).toEqual({ text: "mcp__srv__*", tool: "mcp__srv__*" });
});

test("what stands between the outermost brackets is the pattern", () => {
  expect(parseRule("write(test/**)")).toEqual({ text: "write(test/**)", tool: "write", pattern: "test/**" });
  expect(parseRule("shell(echo $(date) *)")).toMatchObject({ tool: "shell", pattern: "echo $(date) *" });
  expect(parseRule("read(app/(group)/page.tsx)")).toMatchObject({ pattern: "app/(group)/page.tsx" });
});

test.each([
  ["", "empty"],
  ["   ", "empty"],
  [" shell", "space"],
  ["shell ", "space"],
  ["shell(", "balance"],
  ["shell)", "balance"],
  ["shell(a", "balance"],
  ["shell(a)b", "balance"],
  ["shell()", "between its brackets"],
  ["shell( )", "between its brackets"],
  ["(a)", "no tool"],
  ["sh ell", "cannot be the name"],
  ["a,b", "cannot be the name"],
  ["shеll", "outside ASCII"],
  ["sh\u200bell", "invisible"],
  ["shell\n", "invisible"],
  ["shell(a\u202eb)", "invisible"],
  ["shell(a\0)", "invisible"],
  ["x".repeat(1_001), "longer"],
])("%j is refused with the reason", (text, reason) => {
  const rule = parseRule(text);
  expect("error" in rule && rule.error).toContain(reason);
});

test("a list that cannot be read names the rule and the place", () => {
  const read = () => parseRules(["read", "shell("], "agent coder, tools");
  expect(read).toThrow(RetinueError);
  expect(read).toThrow(/agent coder, tools: rule "shell\(".*balance/);
});

test("the home folder is filled in literally, and the rule keeps the text as written", () => {
  expect(parseRules(["read(~/notes/*)"], "here", "/home/a[1]")).toEqual([
    { text: "read(~/notes/*)", tool: "read", pattern: "/home/a\\[1\\]/notes/*" },
  ]);
});

test("names with blanks, brackets, stars or foreign letters are not names of tools", () => {
  for (const name of ["read", "mcp__srv__a.b", "X-1"]) expect(isToolName(name)).toBe(true);
  for (const name of ["", " shell", "shell ", "sh*", "a(b)", "a,b", "shеll", "sh\u200bell", "ｓhell"]) {
    expect(isToolName(name)).toBe(false);
  }
});
