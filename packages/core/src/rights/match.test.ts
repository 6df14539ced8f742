import { expect, test } from "vitest";
import type { Access, Rule } from "../schema/rights.ts";
import { findCover, gives, hits, isBare, speaksOf } from "./match.ts";
import { parseRules } from "./rule.ts";

const rule = (text: string): Rule => parseRules([text], "here")[0] ?? { text, tool: text };
const to = (...agents: string[]): Access => ({
  tool: "delegate",
  groups: ["delegation"],
  targets: agents.map((agent) => ({ kind: "agent", agent })),
});

test("a rule speaks of a tool by its name, a group of it or a glob, in exact case", () => {
  const access = { tool: "mcp__srv__get", groups: ["mcp"] };
  expect(["mcp__srv__get", "mcp", "mcp__*", "*"].map((name) => speaksOf(rule(name), access))).toEqual(
    Array(4).fill(true),
  );
  expect(["MCP", "mcp__srv", "mcp__other__*"].map((name) => speaksOf(rule(name), access))).toEqual(
    Array(3).fill(false),
  );
});

test("a name that is a tool's and a group's denies the group, but gives the tool alone", () => {
  const commit = { tool: "git_commit", groups: ["git"] };
  expect([speaksOf(rule("git"), commit), gives(rule("git"), commit)]).toEqual([true, false]);
  expect(gives(rule("mail"), { tool: "mail_send", groups: ["mail"] })).toBe(true);
});

test("what a rule excepts it neither denies nor allows", () => {
  const others: Rule = { text: "all but alpha", tool: "delegate", except: ["alpha"] };
  expect(isBare(others)).toBe(false);
  expect([hits(others, { access: to("alpha") }), hits(others, { access: to("alpha", "beta") })]).toEqual([
    false,
    true,
  ]);
  expect(findCover({ access: to("beta") }, [others], [])).toBe(others);
  expect(findCover({ access: to("alpha") }, [others], [])).toBeUndefined();
});

test("rules that allow and rules that ask cover a call together, each target by one of them", () => {
  const [alpha, beta] = [rule("delegate(alpha)"), rule("delegate(beta)")];
  expect(findCover({ access: to("alpha", "beta") }, [alpha], [beta])).toBe(alpha);
  expect(findCover({ access: to("alpha", "gamma") }, [alpha], [beta])).toBeUndefined();
  expect(findCover({ access: to() }, [alpha], [beta])).toBeUndefined();
});
