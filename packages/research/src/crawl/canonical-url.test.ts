import fc from "fast-check";
import { expect, test } from "vitest";
import { checkStatedUrl, findDomain, toCanonicalUrl } from "./canonical-url.ts";

test.each([
  ["HTTP://Example.ORG:80/a/", "http://example.org/a"],
  ["https://example.org:443/a#part", "https://example.org/a"],
  ["https://example.org", "https://example.org/"],
  ["https://example.org/a?utm_source=x&id=7&fbclid=9", "https://example.org/a?id=7"],
  ["https://example.org/a?utm_source=x", "https://example.org/a"],
  ["https://example.org/a?", "https://example.org/a"],
  [" https://example.org./a ", "https://example.org/a"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["ftp://example.org/", undefined],
  ["https://me:pw@example.org/", undefined],
  ["not an address", undefined],
])("%j is %j", (text, canonical) => {
  expect(toCanonicalUrl(text)).toBe(canonical);
});

test("a canonical address is its own canonical address", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      const once = toCanonicalUrl(url);
      expect(once && toCanonicalUrl(once)).toBe(once);
    }),
  );
});

test("what a page says of its address is believed about its own host only", () => {
  expect(checkStatedUrl("https://www.a.example/x/", "https://a.example/x?p=1")).toBe(
    "https://www.a.example/x",
  );
  expect(checkStatedUrl("https://b.example/x", "https://a.example/x")).toBeUndefined();
  expect(checkStatedUrl(undefined, "https://a.example/x")).toBeUndefined();
});

test("a domain is the host without www, with a port that is not the usual one", () => {
  expect(findDomain("https://WWW.Example.org/x")).toBe("example.org");
  expect(findDomain("http://127.0.0.1:8123/")).toBe("127.0.0.1:8123");
  expect(findDomain("nothing")).toBeUndefined();
});
