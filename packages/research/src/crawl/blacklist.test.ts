import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openBlacklist } from "./blacklist.ts";

test("the third page that is not there puts its domain on the list, for later processes too", () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-blacklist-"));
  try {
    const first = openBlacklist(folder, () => 0);
    expect(first.noteMissing("https://www.a.example/1")).toBeUndefined();
    expect(first.noteMissing("https://a.example/2")).toBeUndefined();
    expect(first.match("https://a.example/3")).toBeUndefined();
    first.close();
    const second = openBlacklist(folder, () => 0);
    expect(second.noteMissing("https://a.example/3")).toEqual({
      domain: "a.example",
      by: "crawl",
      failures: 3,
      since: "1970-01-01T00:00:00.000Z",
    });
    expect(second.noteMissing("https://a.example/4")).toBeUndefined();
    expect(second.match("https://a.example/other")?.domain).toBe("a.example");
    expect(second.match("https://b.a.example/")).toBeUndefined();
    second.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("what a person adds speaks of subdomains too, and can be taken off", () => {
  const list = openBlacklist(":memory:");
  expect(list.add("https://Example.org/some/page").domain).toBe("example.org");
  expect(list.match("https://deep.sub.example.org/x")?.by).toBe("person");
  expect(list.match("https://notexample.org/")).toBeUndefined();
  expect(list.list().map(({ domain }) => domain)).toEqual(["example.org"]);
  expect(list.remove("example.org")).toBe(true);
  expect(list.remove("example.org")).toBe(false);
  expect(list.match("https://example.org/")).toBeUndefined();
});

test("taking a domain off forgets its failures", () => {
  const list = openBlacklist(":memory:");
  for (const page of [1, 2, 3]) list.noteMissing(`https://a.example/${page}`);
  list.remove("a.example");
  expect(list.noteMissing("https://a.example/4")).toBeUndefined();
  expect(list.match("https://a.example/")).toBeUndefined();
});

test("clearing says how many domains there were", () => {
  const list = openBlacklist(":memory:");
  list.add("a.example");
  list.add("b.example:8080");
  list.noteMissing("https://c.example/");
  expect(list.clear()).toBe(2);
  expect(list.list()).toEqual([]);
});

test("what is no domain is refused", () => {
  const list = openBlacklist(":memory:");
  expect(() => list.add("not a domain")).toThrow("is not a domain");
});
