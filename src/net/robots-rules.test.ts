import fc from "fast-check";
import { expect, test } from "vitest";
import { decidingRule, parseRobots } from "./robots-rules.ts";

function allows(robots: string, path: string): boolean {
  return decidingRule(parseRobots(robots, "retinue"), new URL(path, "http://h"))?.allow ?? true;
}

test("the groups that name us count together, and then those for everybody do not", () => {
  const robots = [
    "User-agent: *\nDisallow: /",
    "user-agent: other\nuser-agent: Retinue/2.0 # us\nDisallow: /a",
    "User-Agent: RETINUE\nDisallow: /b",
  ].join("\n\n");
  expect(["/a", "/b", "/c"].map((path) => allows(robots, path))).toEqual([false, false, true]);
});

test("without a group for us the one for everybody counts, and without any nothing is forbidden", () => {
  expect(allows("User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /x", "/x/y")).toBe(false);
  expect(allows("User-agent: other\nDisallow: /", "/x")).toBe(true);
  expect(allows("User-agent: retinues\nDisallow: /", "/x")).toBe(true);
  expect(allows("Disallow: /\n", "/x")).toBe(true);
  expect(allows("", "/x")).toBe(true);
});

test.each([
  ["Disallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["Allow: /a/b\nDisallow: /a/b/c", "/a/b/c", false],
  ["Disallow: /page\nAllow: /page", "/page", true],
  ["Allow: /page\nDisallow: /page", "/page", true],
  ["Disallow:", "/page", true],
  ["Disallow: /*.pdf$", "/a/b.pdf", false],
  ["Disallow: /*.pdf$", "/a/b.pdf?x", true],
  ["Disallow: /a*b*c", "/a-b-c-d", false],
  ["Disallow: /a*b*c", "/a-c-b", true],
  ["Disallow: /*a$", "/aba", false],
  ["Disallow: /ab*ab$", "/ab", true],
  ["Disallow: /x$", "/xy", true],
  ["Disallow: /*?q=", "/find?q=1", false],
  ["Disallow: /%7Ejoe", "/~joe/x", false],
  ["Disallow: /~joe", "/%7ejoe/x", false],
  ["Disallow: /a%2fb", "/a/b", true],
  ["Disallow: /a%2fb", "/a%2Fb", false],
  ["Disallow: /grün", "/gr%C3%BCn", false],
  ["Disallow: /a # not for robots", "/a", false],
  ["disallow:/a\r\nCrawl-delay: 100", "/a", false],
])("%j lets %s through: %s", (rules, path, expected) => {
  expect(allows(`User-agent: *\n${rules}\n`, path)).toBe(expected);
});

test("no text makes the reading throw, and no pattern is followed back and forth", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      (text) => void allows(`User-agent: *\nDisallow: ${text}`, "/"),
    ),
  );
  expect(allows(`User-agent: *\nDisallow: /${"*a".repeat(20_000)}b`, `/${"a".repeat(4_000)}`)).toBe(true);
});
