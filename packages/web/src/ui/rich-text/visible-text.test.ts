import { expect, test } from "vitest";
import { mixedWords, revealHidden, spellOut, splitHidden } from "./visible-text.ts";

test("ordinary text in any script stays as it is", () => {
  const text = "rm -rf build\n\tПривет, 你好, שלום, café — “quoted” 🚀";
  expect(revealHidden(text)).toBe(text);
  expect(splitHidden(text)).toEqual([{ text, isHidden: false }]);
  expect(splitHidden("")).toEqual([]);
});

test("characters that turn the order of a line around are written as codes", () => {
  expect(revealHidden("pay \u202Ekcatta\u202C \u2066x\u2069 \u200F")).toBe(
    "pay ⟨U+202E⟩kcatta⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200F⟩",
  );
});

test.each([
  ["zero width space", "\u200B", "200B"],
  ["zero width joiner between letters", "\u200D", "200D"],
  ["byte order mark", "\uFEFF", "FEFF"],
  ["soft hyphen", "\u00AD", "00AD"],
  ["no-break space", "\u00A0", "00A0"],
  ["ideographic space", "\u3000", "3000"],
  ["Hangul filler", "\u3164", "3164"],
  ["blank Braille pattern", "\u2800", "2800"],
  ["line separator", "\u2028", "2028"],
  ["escape", "\u001B", "001B"],
  ["null", "\u0000", "0000"],
  ["backspace", "\b", "0008"],
  ["lone carriage return", "\r", "000D"],
  ["lone surrogate", "\uD800", "D800"],
  ["private use", "\uE000", "E000"],
  ["tag letter", "\u{E0041}", "E0041"],
  ["variation selector that carries data", "\u{E0101}", "E0101"],
  ["variation selector after a letter", "\uFE0F", "FE0F"],
])("a %s cannot hide", (_, char, code) => {
  expect(splitHidden(`a${char}b`)).toEqual([
    { text: "a", isHidden: false },
    { text: `⟨U+${code}⟩`, isHidden: true },
    { text: "b", isHidden: false },
  ]);
});

test("pictures of several characters stay whole, but hide nothing behind them", () => {
  expect(revealHidden("❤️ 👩‍💻 👩🏽‍🚀")).toBe("❤️ 👩‍💻 👩🏽‍🚀");
  expect(revealHidden("🚀\u200Drm")).toBe("🚀⟨U+200D⟩rm");
  expect(revealHidden("❤️\uFE0F")).toBe("❤️⟨U+FE0F⟩");
});

test("Windows line ends are line ends", () => {
  expect(revealHidden("one\r\ntwo\r")).toBe("one\ntwo⟨U+000D⟩");
});

test("words with letters of two scripts that look alike are named once", () => {
  expect(mixedWords("mail to a@p\u0430ypal.example and a@p\u0430ypal.example")).toEqual(["p\u0430ypal"]);
  expect(mixedWords("Привет world, α and b")).toEqual([]);
  expect(spellOut("p\u0430ypal")).toBe("p\u0430⟨U+0430⟩ypal");
});
