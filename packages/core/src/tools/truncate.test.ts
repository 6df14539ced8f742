import { expect, test } from "vitest";
import { cutAt, excerpt } from "./truncate.ts";

test("a text that fits is left alone, up to exactly its limit", () => {
  expect(excerpt("abcde", 5, "elsewhere")).toBe("abcde");
  expect(cutAt("abcde", 5)).toBe("abcde");
});

test("of a longer text the beginning and the end are shown, and how much is left out and where it is", () => {
  const text = `${"a".repeat(500)}${"b".repeat(500)}`;
  expect(excerpt(text, 100, "the whole is in x.txt")).toBe(
    `${"a".repeat(70)}\n[… 910 characters left out; the whole is in x.txt …]\n${"b".repeat(20)}`,
  );
});

test("a cut does not go through a character of two units", () => {
  expect([cutAt("ab😀cd", 3), cutAt("ab😀cd", 4)]).toEqual(["ab", "ab😀"]);
});
