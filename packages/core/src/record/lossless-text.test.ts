import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText, encodeText } from "./lossless-text.ts";

const anyUnits = fc
  .array(
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 1, 0x5c, 0x75, 0x3a, 0xd800, 0xdfff)),
  )
  .map((units) => String.fromCharCode(...units));

test("any sequence of UTF-16 units comes back as it was", () => {
  fc.assert(
    fc.property(anyUnits, (text) => {
      expect(decodeText(encodeText(text))).toBe(text);
      expect(decodeText(encodeText(encodeText(text)))).toBe(encodeText(text));
    }),
  );
});

test("what is stored is always well-formed", () => {
  fc.assert(fc.property(anyUnits, (text) => encodeText(text).isWellFormed()));
});

test("an ordinary text is stored as it is", () => {
  for (const text of ["", "plain", "back\\slash \\u0041", "😀 héllo", "nul \0 inside"])
    expect(encodeText(text)).toBe(text);
});
