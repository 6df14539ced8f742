import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cleanPaste,
  createEditor,
  EMPTY_EDITOR,
  editKey,
  type Key,
  type KeyName,
  readKeys,
} from "./editor.ts";

const MOVES: KeyName[] = ["left", "right", "word-left", "word-right", "home", "end", "up", "down"];
const CUTS: KeyName[] = ["backspace", "delete", "delete-word", "delete-to-start", "delete-to-end", "newline"];

test("one key takes away one character as people count them", () => {
  for (const sign of ["é", "👩‍👩‍👧", "漢", "🇩🇪", "e\u0301"])
    expect(editKey(createEditor(`a${sign}`), { name: "backspace" })).toEqual(createEditor("a"));
});

test("Up and Down keep the column, and lead out of the text at its ends", () => {
  const editor = { text: "abc\nd\nefg", cursor: 9 };
  const middle = editKey(editor, { name: "up" });
  expect(middle).toMatchObject({ cursor: 5 });
  expect(editKey({ ...editor, cursor: 1 }, { name: "up" })).toBeUndefined();
  expect(editKey(editor, { name: "down" })).toBeUndefined();
});

test("any keys leave the cursor within the text and never split a character", () => {
  const key = fc.oneof(
    fc.constantFrom(...MOVES, ...CUTS).map((name): Key => ({ name }) as Key),
    fc.string({ unit: "grapheme", minLength: 1 }).map((text): Key => ({ name: "text", text })),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
      let editor = EMPTY_EDITOR;
      for (const each of keys) editor = editKey(editor, each) ?? editor;
      expect(editor.cursor).toBeGreaterThanOrEqual(0);
      expect(editor.cursor).toBeLessThanOrEqual(editor.text.length);
      expect(editor.text.slice(0, editor.cursor).isWellFormed()).toBe(true);
    }),
  );
});

test("a line and its end that come together are typed and sent", () => {
  expect(readKeys("hello\r", {})).toEqual([{ name: "text", text: "hello" }, { name: "enter" }]);
});

test("text with line ends within is a paste: it is put in as it is and sends nothing", () => {
  expect(readKeys("a\rb\r", {})).toEqual([{ name: "text", text: "a\nb\n" }]);
});

test("keys for a new line are told apart from Enter", () => {
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
