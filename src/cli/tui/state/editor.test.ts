import fc from "fast-check";
import { expect, test } from "vitest";
import { editKey } from "./edit-key.ts";
import { EMPTY_EDITOR, editorOf } from "./editor.ts";
import type { Key, KeyName } from "./keys.ts";

const MOVES: KeyName[] = ["left", "right", "word-left", "word-right", "home", "end", "up", "down"];
const CUTS: KeyName[] = ["backspace", "delete", "delete-word", "delete-to-start", "delete-to-end", "newline"];

test("one key takes away one character as people count them", () => {
  for (const sign of ["é", "👩‍👩‍👧", "漢", "🇩🇪", "e\u0301"])
    expect(editKey(editorOf(`a${sign}`), { name: "backspace" })).toEqual(editorOf("a"));
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
