import fc from "fast-check";
import { expect, test } from "vitest";
import { CollectOutput, cleanOutput } from "./run-process.ts";

function collected(max: number, chunks: readonly Buffer[]): CollectOutput {
  const output = new CollectOutput(max);
  for (const chunk of chunks) output.push(chunk);
  return output;
}

test("short output is kept as it is", () => {
  const output = collected(100, [Buffer.from("one\n"), Buffer.from("two\n")]);
  expect(output.text()).toBe("one\ntwo\n");
});

test("of long output the beginning and the end are kept, and the middle is counted", () => {
  const output = collected(20, [Buffer.from(`begin${"x".repeat(1_000_000)}end`)]);
  expect(output.text()).toBe("beginxxxxx\n[… 999988 bytes left out …]\nxxxxxxxend");
});

test("how the output was cut into pieces does not show", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.nat(40),
      fc.integer({ min: 1, max: 7 }),
      (text, max, step) => {
        const bytes = Buffer.from(text);
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step));
        expect(collected(max, pieces).text()).toBe(collected(max, [bytes]).text());
      },
    ),
  );
});

test("a cut through a character leaves no broken one", () => {
  fc.assert(
    fc.property(fc.nat(60), (max) => {
      expect(collected(max, [Buffer.from("ä€😀".repeat(50))]).text()).not.toContain("\ufffd");
    }),
  );
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;title\u0007text", "text"],
  ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["\u001bPq~~\u001b\\after", "after"],
  ["a\u001b(Bb\u001b7c", "abc"],
  ["\u009b31mred", "red"],
  ["one\r\ntwo\rthree", "one\ntwo\nthree"],
  ["bell\u0007 back\bspace nul\u0000", "bell backspace nul"],
  ["tab\tstays", "tab\tstays"],
  ["abc\u202edef\u2066ghi", "abcdefghi"],
])("%j is shown as %j", (text, shown) => {
  expect(cleanOutput(text)).toBe(shown);
});

test("a title that never ends hides nothing that comes after it", () => {
  expect(cleanOutput("\u001b]0;x\nFAILED: 3 tests")).toContain("FAILED: 3 tests");
});

test("nothing that comes out moves a cursor, whatever goes in", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\u001b[", "\u001b]", "\u009b", "\r", "\u001b", "1;2", "m", "\u0007"),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(cleanOutput(pieces.join(""))).not.toMatch(/[^\P{Cc}\n\t]/u);
    }),
  );
});

test("hostile output is cleaned in a time that grows with its length", () => {
  for (const piece of ["\u001b[", "\u001b]", "\u001b[0", "\u001bP", "\u001b ", "0;"]) {
    expect(cleanOutput(piece.repeat(300_000)).length).toBeLessThanOrEqual(piece.length * 300_000);
    expect(cleanOutput(`\u001b[${"0".repeat(1_000_000)}`).length).toBeGreaterThan(0);
  }
});
