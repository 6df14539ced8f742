import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeControls } from "./plain-text.ts";

test("exact text hides nothing that escape codes would hide, and steers no terminal", () => {
  const command = "ls \u009bx;reboot;\u009c here";
  expect(escapeControls(command)).toBe("ls \\u009bx;reboot;\\u009c here");
  expect(escapeControls("a\u001b]0;b\u0007c\rd\u202ee")).toBe("a\\u001b]0;b\\u0007c\\u000dd\\u202ee");
  expect(escapeControls("one\r\n\ttwo")).toBe("one\n\ttwo");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = escapeControls(text);
      expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      expect(shown.replaceAll(/\s/g, "").length).toBeGreaterThanOrEqual(text.replaceAll(/\s/g, "").length);
    }),
  );
});
