import fc from "fast-check";
import { expect, test } from "vitest";
import { buildDocumentAddress, findDocumentKind, parseDocumentAddress } from "./document-address.ts";

test("an address gives back the key and the path that it was made of", () => {
  const name = fc
    .string({ minLength: 1 })
    .filter((text) => !/^\.{1,2}$|[/\\\0]/.test(text) && text.isWellFormed());
  fc.assert(
    fc.property(name, fc.array(name, { minLength: 1, maxLength: 4 }), (key, names) => {
      const path = names.join("/");
      expect(parseDocumentAddress(buildDocumentAddress(key, path))).toEqual({ key, path });
    }),
  );
});

test.each([
  "https://127.0.0.1:65535/k/a.md",
  "http://127.0.0.2:1/k/a.md",
  "http://localhost:1/k/a.md",
  "http://127.0.0.1:65535/k",
  "http://127.0.0.1:65535/k/a%2Fb.md",
  "http://127.0.0.1:65535/k/..%2f..%2fetc/passwd",
  "http://127.0.0.1:65535/k/a%00.md",
  "http://127.0.0.1:65535/k//a.md",
  "http://127.0.0.1:65535/k/%zz",
  `http://127.0.0.1:65535/k/${"a".repeat(20_000)}`,
])("%s is no document's address", (url) => {
  expect(parseDocumentAddress(url)).toBeNull();
});

test("the port says nothing: earlier versions had another one for each process", () => {
  expect(parseDocumentAddress("http://127.0.0.1:43123/k/a%20b.md?x#y")).toEqual({ key: "k", path: "a b.md" });
});

test("kinds go by the ending", () => {
  expect(["a.HTML", "b.md", "c.text", "d.png"].map(findDocumentKind)).toEqual([
    "html",
    "markdown",
    "text",
    undefined,
  ]);
});
