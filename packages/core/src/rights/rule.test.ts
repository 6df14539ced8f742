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

test.each([
  ["zero-width", "\ufff9\ufffb\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e"],
  ["bidi", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"],
  ["blank, but no ordinary space", "\u00a0\u1680\u2000\u2003\u2007\u2009\u200a\u202f\u205f\u3000\u2800"],
  ["empty in every font", "\u034f\u115f\u1160\u17b4\u3164\ufe0f\uffa0\u{e0041}\u{e0100}"],
  ["breaks a line", "\t\n\v\f\r\u0085\u2028\u2029"],
])("a rule with a character that is %s is refused, wherever it stands", (_, characters) => {
  for (const character of characters) {
    for (const text of ["sh?ell", "?shell", "shell?", "shell(rm? -rf *)", "shell(?rm *)", "read(.env?)"]) {
      const rule = parseRule(text.replace("?", character));
      expect("error" in rule && rule.error, JSON.stringify(character)).toContain("invisible");
    }
  }
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

test("a home folder may end in a slash, and no name of a tool is longer than 200 characters", () => {
  expect(parseRules(["read(~/notes)"], "here", "/home/ada/")).toEqual([
    { text: "read(~/notes)", tool: "read", pattern: "/home/ada/notes" },
  ]);
  expect([isToolName("x".repeat(200)), isToolName("x".repeat(201))]).toEqual([true, false]);
});
