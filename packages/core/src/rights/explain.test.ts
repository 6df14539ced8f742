import { expect, test } from "vitest";
import type { Layer } from "../schema/rights.ts";
import { dividesFiles, explain, visibleTools } from "./explain.ts";
import { sessionLayer } from "./layers.ts";
import { protectedLayer } from "./protected-layer.ts";
import { parseRules } from "./rule.ts";

function layer(name: string, texts: { allow?: string[]; ask?: string[]; deny?: string[] }): Layer {
  const { allow, ask = [], deny = [] } = texts;
  return {
    name,
    ...(allow && { allow: parseRules(allow, name) }),
    ask: parseRules(ask, name),
    deny: parseRules(deny, name),
  };
}

const tools = ["read", "write", "shell", "web_fetch"].map((name) => ({ name, groups: [name[0] ?? ""] }));
const chain = [
  layer("settings", { ask: ["web_fetch"], deny: ["write(.env)"] }),
  layer("grants of main", { allow: ["read", "write", "shell(npm *)", "w"] }),
  layer("tools of coder", { allow: ["r", "write", "shell(npm test *)", "web_fetch"] }),
];

test("each tool is explained by its deciding layer and rule", () => {
  expect(explain(chain, tools)).toEqual([
    { tool: "read", verdict: "allow", layer: "grants of main", rule: "read" },
    { tool: "write", verdict: "allow", layer: "grants of main", rule: "write", patterns: ["write(.env)"] },
    {
      tool: "shell",
      verdict: "depends",
      layer: "grants of main",
      rule: "shell(npm *)",
      patterns: ["shell(npm *)", "shell(npm test *)"],
    },
    { tool: "web_fetch", verdict: "ask", layer: "settings", rule: "web_fetch" },
  ]);
});

test("a tool that nothing allows or that is denied is explained by the first layer that says so", () => {
  const narrowed = [...chain, layer("session", { deny: ["read"] }), layer("delegation", { allow: [] })];
  expect(explain(narrowed, tools.slice(0, 2))).toEqual([
    { tool: "read", verdict: "deny", layer: "session", rule: "read" },
    { tool: "write", verdict: "deny", layer: "delegation" },
  ]);
});

test("only tools of which some call could pass are visible", () => {
  expect(visibleTools(chain, tools)).toEqual(["read", "write", "shell", "web_fetch"]);
  expect(visibleTools([...chain, layer("x", { deny: ["shell", "write(**)"] })], tools)).toEqual([
    "read",
    "write",
    "web_fetch",
  ]);
  expect(visibleTools([...chain, layer("x", { allow: ["shell(a)"], ask: ["read"] })], tools)).toEqual([
    "read",
    "shell",
  ]);
});

test("an empty chain shows nothing and denies everything", () => {
  expect(visibleTools([], tools)).toEqual([]);
  expect(explain([], tools.slice(0, 1))).toEqual([{ tool: "read", verdict: "deny", layer: "nobody" }]);
});

test("a read-only session shows as the exception to what is allowed", () => {
  expect(explain([sessionLayer({ readOnly: true })], tools.slice(1, 3))).toEqual([
    { tool: "write", verdict: "allow", layer: "session", patterns: ["read-only session"] },
    { tool: "shell", verdict: "deny", layer: "session", rule: "read-only session" },
  ]);
});

test("a tool that one layer asks about is asked about, whatever allows it besides", () => {
  expect(explain([layer("one", { allow: ["read"], ask: ["read"] })], tools.slice(0, 1))).toEqual([
    { tool: "read", verdict: "ask", layer: "one", rule: "read" },
  ]);
});

test("files are told apart by any rule with a pattern, except those that guard the same files under every tool", () => {
  const read = { tool: "read", groups: ["filesystem"] };
  const guarded = protectedLayer({ dataDir: "/data", configDir: "/config", homeDir: "/home/ada" });
  const divides = (texts: Parameters<typeof layer>[1]) => dividesFiles([guarded, layer("own", texts)], read);
  expect(divides({ allow: ["read"], ask: ["shell(rm *)"] })).toBe(false);
  for (const kind of ["allow", "ask", "deny"]) expect(divides({ [kind]: ["read(src/**)"] })).toBe(true);
});
