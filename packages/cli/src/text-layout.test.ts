import fc from "fast-check";
import { expect, test } from "vitest";
import { wrapWords } from "./text-layout.ts";

test("a line is broken at blanks, and what follows is indented", () => {
  expect(wrapWords("  one two three four five six", { columns: 24 }, 4)).toBe(
    "  one two three four\n    five six",
  );
  expect(wrapWords("ok   wide  gaps stay in a line", { columns: 80 })).toBe("ok   wide  gaps stay in a line");
});

test("without a terminal, and on one too narrow, nothing is broken", () => {
  const line = "word ".repeat(50).trim();
  expect(wrapWords(line, { columns: null }, 4)).toBe(line);
  expect(wrapWords(line, { columns: 10 }, 4)).toBe(line);
});

test("no word is lost, and only a word that is too long itself makes a line too long", () => {
  const words = fc.array(fc.stringMatching(/^[a-zé✅]{1,30}$/u), { minLength: 1 });
  fc.assert(
    fc.property(words, fc.integer({ min: 30, max: 100 }), (list, columns) => {
      const lines = wrapWords(list.join(" "), { columns }, 6).split("\n");
      expect(lines.flatMap((line) => line.trim().split(" "))).toEqual(list);
      for (const line of lines) expect([...line].length <= columns || !line.trim().includes(" ")).toBe(true);
    }),
  );
});
