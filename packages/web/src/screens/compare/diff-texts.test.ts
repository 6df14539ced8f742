import fc from "fast-check";
import { expect, test } from "vitest";
import { diffTexts, linesOfParts } from "./diff-texts.ts";

const drawn = (a: string, b: string, by: "words" | "lines") =>
  diffTexts(a, b, by)?.map(({ text, of }) => `${of}:${text}`);

test("words and lines of one text alone are told apart from those of both", () => {
  expect(drawn("All three are done.", "All four are done.", "words")).toEqual([
    "both:All ",
    "A:three",
    "B:four",
    "both: are done.",
  ]);
  expect(drawn("one\ntwo\n", "one\nthree\n", "lines")).toEqual(["both:one\n", "A:two\n", "B:three\n"]);
  expect(drawn("same", "same", "words")).toEqual(["both:same"]);
});

test("parts of lines become single lines without an empty one at their end", () => {
  const parts = diffTexts("one\ntwo\nthree\n", "one\ntwo\n\nfour", "lines") ?? [];
  expect(linesOfParts(parts).map(({ text, of }) => `${of}:${text}`)).toEqual([
    "both:one",
    "both:two",
    "A:three",
    "B:",
    "B:four",
  ]);
});

test("texts with almost nothing in common are not compared in parts", () => {
  const words = (from: number) => Array.from({ length: 4_000 }, (_, index) => `w${from + index}`).join(" ");
  expect(diffTexts(words(0), words(9_000), "words")).toBeNull();
});

test("each text can be rebuilt from its own parts and the common ones", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", " ", "\n", "."), { maxLength: 40 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(text, text, fc.constantFrom("words", "lines"), (a, b, by) => {
      const parts = diffTexts(a, b, by) ?? [];
      const joinSide = (side: "A" | "B") =>
        parts.flatMap((part) => (part.of === "both" || part.of === side ? part.text : [])).join("");
      expect([joinSide("A"), joinSide("B")]).toEqual([a, b]);
    }),
  );
});
