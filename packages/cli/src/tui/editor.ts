import type { Key as InkKey } from "ink";
import { measureWidth, splitAt } from "../text-layout.ts";
import { cutSpans, makeSpan, type StyledSpan } from "./spans.ts";

/** The text a person is writing, and where in it; `cursor` is an offset that never splits a character. */
export type Editor = { readonly text: string; readonly cursor: number };

/** An editor with nothing in it. */
export const EMPTY_EDITOR: Editor = { text: "", cursor: 0 };

/** An editor with this text, the cursor at its end. */
export function createEditor(text: string): Editor {
  return { text, cursor: text.length };
}

/** The longest message. */
const MOST_CHARS = 1_000_000;

/** Puts text in at the cursor, as far as there is room. */
function insert({ text, cursor }: Editor, wanted: string): Editor {
  const added = wanted.slice(0, Math.max(0, MOST_CHARS - text.length)).toWellFormed();
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

/** Takes `from` to `to` out. */
function remove({ text }: Editor, from: number, to: number): Editor {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

/** The offset one character, as people count them, before or after the cursor. */
function stepCursor({ text, cursor }: Editor, direction: -1 | 1): number {
  // A character is looked for in its surroundings only: the text may be a pasted book.
  if (direction === 1) {
    const [next] = segmenter.segment(text.slice(cursor, cursor + REACH));
    return cursor + (next?.segment.length ?? 0);
  }
  const start = Math.max(0, cursor - REACH);
  const before = [...segmenter.segment(text.slice(start, cursor))].at(-1);
  return cursor - (before?.segment.length ?? 0);
}

/** The offset one word before or after the cursor. */
function stepWord({ text, cursor }: Editor, direction: -1 | 1): number {
  if (direction === 1) return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
  let at = text.slice(0, cursor).trimEnd().length;
  while (at > 0 && !/\s/.test(text.charAt(at - 1))) at--;
  return at;
}

/** Where the cursor's line begins. */
function findLineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

/** Where the cursor's line ends. */
function findLineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

/** The editor with the cursor a line higher or lower; undefined at the first or last line. */
function moveLine(editor: Editor, direction: -1 | 1): Editor | undefined {
  const start = findLineStart(editor);
  const column = editor.cursor - start;
  if (direction === -1) {
    if (start === 0) return undefined;
    const above = findLineStart({ text: editor.text, cursor: start - 1 });
    return { ...editor, cursor: safeAt(editor.text, Math.min(above + column, start - 1)) };
  }
  const end = findLineEnd(editor);
  if (end === editor.text.length) return undefined;
  const below = findLineEnd({ text: editor.text, cursor: end + 1 });
  return { ...editor, cursor: safeAt(editor.text, Math.min(end + 1 + column, below)) };
}

const REACH = 200;
const segmenter = new Intl.Segmenter();

/** The offset, or the one before it if it would split a pair of surrogates. */
function safeAt(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset - 1 : offset;
}

/** What each key does that edits or moves; undefined for a move that leads out of the text. */
const EDITS = {
  newline: (editor) => insert(editor, "\n"),
  left: (editor) => ({ ...editor, cursor: stepCursor(editor, -1) }),
  right: (editor) => ({ ...editor, cursor: stepCursor(editor, 1) }),
  "word-left": (editor) => ({ ...editor, cursor: stepWord(editor, -1) }),
  "word-right": (editor) => ({ ...editor, cursor: stepWord(editor, 1) }),
  home: (editor) => ({ ...editor, cursor: findLineStart(editor) }),
  end: (editor) => ({ ...editor, cursor: findLineEnd(editor) }),
  up: (editor) => moveLine(editor, -1),
  down: (editor) => moveLine(editor, 1),
  backspace: (editor) => remove(editor, stepCursor(editor, -1), editor.cursor),
  delete: (editor) => remove(editor, editor.cursor, stepCursor(editor, 1)),
  "delete-word": (editor) => remove(editor, stepWord(editor, -1), editor.cursor),
  "delete-to-start": (editor) => remove(editor, findLineStart(editor), editor.cursor),
  "delete-to-end": (editor) => remove(editor, editor.cursor, findLineEnd(editor)),
} satisfies Record<string, (editor: Editor) => Editor | undefined>;

type EditName = keyof typeof EDITS;

/** The editor after a key that edits or moves; undefined for every other key, and for a move that leads out of the text. */
export function editKey(editor: Editor, key: Key): Editor | undefined {
  if (key.name === "text") return insert(editor, key.text);
  return isEdit(key.name) ? EDITS[key.name](editor) : undefined;
}

function isEdit(name: KeyName): name is EditName {
  return Object.hasOwn(EDITS, name);
}

/** A key as the state knows it: what it means, not which bytes it was. */
export type KeyName =
  | EditName
  | "enter"
  | "tab"
  | "shift-tab"
  | "esc"
  | "pageup"
  | "pagedown"
  | "open"
  | "interrupt"
  | "end-of-input"
  | "redraw";

/** A key press: a named key, or text that was typed or pasted. */
export type Key = { readonly name: KeyName } | { readonly name: "text"; readonly text: string };

const CONTROLS: Readonly<Record<string, KeyName>> = {
  a: "home",
  e: "end",
  b: "left",
  f: "right",
  p: "up",
  n: "down",
  w: "delete-word",
  u: "delete-to-start",
  k: "delete-to-end",
  o: "open",
  c: "interrupt",
  d: "end-of-input",
  j: "newline",
  l: "redraw",
};

/** The keys in what came from the terminal at once; fast typing and terminals without bracketed paste send several. */
export function readKeys(input: string, key: Partial<InkKey>): Key[] {
  const named = nameKey(input, key);
  if (named) return [{ name: named }];
  if (key.ctrl || key.meta || input === "") return [];
  const text = cleanPaste(input);
  // One line and its end came together: typed ahead. Line ends within the text: a paste, which sends nothing.
  if (text.endsWith("\n") && !text.slice(0, -1).includes("\n"))
    return [
      ...(text.length > 1 ? [{ name: "text", text: text.slice(0, -1) } as const] : []),
      { name: "enter" },
    ];
  return text === "" ? [] : [{ name: "text", text }];
}

/** Pasted text as it goes into the editor: line ends of every kind become one, and nothing in it steers the terminal. */
export function cleanPaste(pasted: string): string {
  return pasted
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\t", "  ")
    .replaceAll(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "");
}

function nameKey(input: string, key: Partial<InkKey>): KeyName | undefined {
  if (key.return) return key.meta || key.shift ? "newline" : "enter";
  if (input === "\n") return "newline";
  if (key.escape) return "esc";
  if (key.tab) return key.shift ? "shift-tab" : "tab";
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return key.meta || key.ctrl ? "word-left" : "left";
  if (key.rightArrow) return key.meta || key.ctrl ? "word-right" : "right";
  if (key.pageUp) return "pageup";
  if (key.pageDown) return "pagedown";
  if (key.home) return "home";
  if (key.end) return "end";
  if (key.backspace) return key.meta ? "delete-word" : "backspace";
  if (key.delete) return "delete";
  if (key.ctrl) return CONTROLS[input];
  if (key.meta) return input === "b" ? "word-left" : input === "f" ? "word-right" : undefined;
  return undefined;
}

/** Lines of the input, and where the cursor is in them. */
export type DrawnInput = { lines: StyledSpan[][]; cursor: { x: number; y: number } };

const MARGIN = 2;
/** Code units that a character takes at most, as far as rows are concerned. */
const MOST_UNITS = 16;

/** The text being written, broken at the width, with as many lines as fit around the cursor. */
export function drawInput(
  { text, cursor }: Editor,
  { width, height, hint, sign = "❯ " }: { width: number; height: number; hint: string; sign?: string },
): DrawnInput {
  const columns = Math.max(1, width - MARGIN - 1);
  if (text === "")
    return {
      lines: [cutSpans([makeSpan(sign, "accent"), makeSpan(hint, "dim")], width)],
      cursor: { x: MARGIN, y: 0 },
    };
  const { rows, at } = breakRows(text, cursor, columns);
  const first = Math.max(0, Math.min(at.y - Math.floor(height / 2), rows.length - height));
  const top = first === 0 ? makeSpan(sign, "accent") : makeSpan("↑ ", "dim");
  const lines = rows
    .slice(first, first + height)
    .map((row, index) => [index === 0 ? top : makeSpan("  ", "dim"), makeSpan(row)]);
  return { lines, cursor: { x: MARGIN + at.x, y: at.y - first } };
}

/** Rows of a text and the place of an offset in them. */
function breakRows(
  text: string,
  cursor: number,
  columns: number,
): { rows: string[]; at: { x: number; y: number } } {
  const rows: string[] = [];
  const at = { x: 0, y: 0 };
  let offset = 0;
  for (const line of text.split("\n")) {
    let rest = line;
    let isFirst = true;
    while (isFirst || rest !== "") {
      isFirst = false;
      // Only the beginning is measured: what follows may be a pasted book.
      const [head] = splitAt(rest.slice(0, columns * MOST_UNITS), columns);
      // A character wider than the window gets its own row, or this would loop forever.
      const row = head === "" ? rest.slice(0, MOST_UNITS) : head;
      if (cursor >= offset && cursor <= offset + row.length)
        Object.assign(at, {
          x: Math.min(columns, measureWidth(row.slice(0, cursor - offset))),
          y: rows.length,
        });
      rows.push(row);
      offset += row.length;
      rest = rest.slice(row.length);
    }
    offset += 1;
  }
  return { rows, at };
}
