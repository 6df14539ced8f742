import { type Editor, insert, lineEnd, lineStart, moveLine, remove, stepped, steppedWord } from "./editor.ts";
import type { Key } from "./keys.ts";

/** The editor after a key that edits or moves; undefined for every other key, and for a move that leads out of the text. */
export function editKey(editor: Editor, key: Key): Editor | undefined {
  const { cursor } = editor;
  switch (key.name) {
    case "text":
      return insert(editor, key.text);
    case "newline":
      return insert(editor, "\n");
    case "left":
      return { ...editor, cursor: stepped(editor, -1) };
    case "right":
      return { ...editor, cursor: stepped(editor, 1) };
    case "word-left":
      return { ...editor, cursor: steppedWord(editor, -1) };
    case "word-right":
      return { ...editor, cursor: steppedWord(editor, 1) };
    case "home":
      return { ...editor, cursor: lineStart(editor) };
    case "end":
      return { ...editor, cursor: lineEnd(editor) };
    case "up":
      return moveLine(editor, -1);
    case "down":
      return moveLine(editor, 1);
    case "backspace":
      return remove(editor, stepped(editor, -1), cursor);
    case "delete":
      return remove(editor, cursor, stepped(editor, 1));
    case "delete-word":
      return remove(editor, steppedWord(editor, -1), cursor);
    case "delete-to-start":
      return remove(editor, lineStart(editor), cursor);
    case "delete-to-end":
      return remove(editor, cursor, lineEnd(editor));
    default:
      return undefined;
  }
}
