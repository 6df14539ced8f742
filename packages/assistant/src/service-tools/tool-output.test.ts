import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, fitItems, fitText, writeVisible, writeVisibleJson } from "./tool-output.ts";

test.each([
  ["a zero-width space", "pay\u200bpal", "pay\\u{200b}pal"],
  ["text that runs backwards", "\u202egnp.exe", "\\u{202e}gnp.exe"],
  ["words in tag characters", "hi\u{e0049}\u{e0067}", "hi\\u{e0049}\\u{e0067}"],
  ["data in variation selectors", "a\u{e0100}\u{e01ef}", "a\\u{e0100}\\u{e01ef}"],
  ["a Hangul filler", "\u3164", "\\u{3164}"],
  ["an escape sequence", "\u001b[2J", "\\u{1b}[2J"],
  ["a lone carriage return", "a\rb", "a\\u{d}b"],
  ["a line separator", "a\u2028b", "a\\u{2028}b"],
  ["a joiner between letters", "a\u200db", "a\\u{200d}b"],
])("%s is written out", (_name, text, shown) => {
  expect(writeVisible(text)).toBe(shown);
});

test("pictures of several characters, accents and lines stay as they are", () => {
  const text = "👩‍💻 ❤️ 👍🏽 1️⃣ é\n\tשלום";
  expect(writeVisible(text)).toBe(text);
});

test("what is shown holds nothing invisible, and showing it again changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = writeVisible(text);
      expect(writeVisible(shown)).toBe(shown);
      expect(shown.replaceAll(/[\u200d\ufe0f\n\t]/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
  );
});

test("a cut text says how much is missing", () => {
  expect(cutText("abcdef", 4)).toBe("abcd… (2 more characters)");
});

test("an output has as many items as there is room for, and counts the others", () => {
  const items = Array.from({ length: 900 }, (_, at) => `${at} ${"\u200b".repeat(20)}`);
  const data = fitItems(items, (kept) => ({ kept })) as { kept: string[]; left_out: number };
  expect(writeVisibleJson(data).length).toBeLessThanOrEqual(28_000);
  expect(data.kept.length + data.left_out).toBe(900);
  const last = fitItems(items, (kept) => ({ kept }), "last") as { kept: string[] };
  expect(last.kept.at(-1)).toBe(items.at(-1));
});

test("an output has as much of a text as there is room for", () => {
  const data = fitText("\u202e\n".repeat(50_000), (body) => ({ body }));
  expect(writeVisibleJson(data).length).toBeLessThanOrEqual(28_000);
  expect(writeVisibleJson(data)).toContain("more characters");
});
