import fc from "fast-check";
import { expect, test } from "vitest";
import { hostOf, parseWebAddress } from "./web-address.ts";

const href = (text: string) => {
  const address = parseWebAddress(text);
  return "url" in address ? address.url.href : address.problem;
};

test.each([
  ["http://2130706433/", "http://127.0.0.1/"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["http://0177.0.0.1/", "http://127.0.0.1/"],
  ["http://127.1/", "http://127.0.0.1/"],
  ["http://127.0.0.1./", "http://127.0.0.1/"],
  ["http://１２７。０。０。１/", "http://127.0.0.1/"],
  ["http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://localhost/"],
  ["HTTP://OK.Example.:80/a#b", "http://ok.example/a"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ["http://ok.example\\@evil.example/", "http://ok.example/@evil.example/"],
])("%s is read as %s", (text, expected) => {
  expect(href(text)).toBe(expected);
});

test.each([
  ["http://evil.example\0.ok.example/", "control"],
  ["http://ev\til.example/", "control"],
  ["http://evil%00.ok.example/", "not a URL"],
  ["http://ok.example@evil.example/", "login"],
  ["http://ok.example:80@evil.example/", "login"],
  ["http://[fe80::1%25eth0]/", "not a URL"],
  ["file:///etc/passwd", "not http"],
  ["javascript:alert(1)", "not http"],
  ["http://./", "no host"],
  ["//ok.example/", "not a URL"],
  [`http://ok.example/${"x".repeat(9_000)}`, "longer"],
  [`http://ok.example/${"ü".repeat(3_000)}`, "longer"],
])("%j is refused", (text, problem) => {
  expect(href(text)).toContain(problem);
  expect(hostOf(text)).toBeUndefined();
});

test("the canonical form of an address is its own canonical form", () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
      const once = href(text);
      expect(href(once)).toBe(once);
    }),
  );
});
