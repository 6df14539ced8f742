import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanPaste, readKeys } from "./keys.ts";

test("a line and its end that come together are typed and sent", () => {
  expect(readKeys("hello\r", {})).toEqual([{ name: "text", text: "hello" }, { name: "enter" }]);
});

test("text with line ends within is a paste: it is put in as it is and sends nothing", () => {
  expect(readKeys("a\rb\r", {})).toEqual([{ name: "text", text: "a\nb\n" }]);
});

test("new lines are told from Enter", () => {
  expect(readKeys("", { return: true })).toEqual([{ name: "enter" }]);
  for (const [input, key] of [
    ["", { return: true, meta: true }],
    ["\n", {}],
    ["j", { ctrl: true }],
  ] as const)
    expect(readKeys(input, key)).toEqual([{ name: "newline" }]);
});

test("unknown control and meta keys type nothing", () => {
  expect([...readKeys("g", { ctrl: true }), ...readKeys("x", { meta: true }), ...readKeys("", {})]).toEqual(
    [],
  );
});

test("whatever is pasted, nothing in it can steer the terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (pasted) => {
      expect(cleanPaste(pasted)).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    }),
  );
});
