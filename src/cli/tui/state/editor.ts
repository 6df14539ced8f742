/** The text a person is writing, and where in it; `cursor` is an offset that never splits a character. */
export type Editor = { readonly text: string; readonly cursor: number };

/** An editor with nothing in it. */
export const EMPTY_EDITOR: Editor = { text: "", cursor: 0 };

/** An editor with this text, the cursor at its end. */
export function editorOf(text: string): Editor {
  return { text, cursor: text.length };
}

/** More than this is no message any more. */
const MOST_CHARS = 1_000_000;

/** Puts text in at the cursor, as far as there is room. */
export function insert({ text, cursor }: Editor, wanted: string): Editor {
  const added = wanted.slice(0, Math.max(0, MOST_CHARS - text.length)).toWellFormed();
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

/** Takes `from` to `to` out. */
export function remove({ text }: Editor, from: number, to: number): Editor {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

/** The offset one character, as people count them, before or after the cursor. */
export function stepped({ text, cursor }: Editor, direction: -1 | 1): number {
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
export function steppedWord({ text, cursor }: Editor, direction: -1 | 1): number {
  if (direction === 1) return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);
  let at = text.slice(0, cursor).trimEnd().length;
  while (at > 0 && !/\s/.test(text.charAt(at - 1))) at--;
  return at;
}

/** Where the cursor's line begins. */
export function lineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

/** Where the cursor's line ends. */
export function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

/** The editor with the cursor a line higher or lower; undefined at the first or last line. */
export function moveLine(editor: Editor, direction: -1 | 1): Editor | undefined {
  const start = lineStart(editor);
  const column = editor.cursor - start;
  if (direction === -1) {
    if (start === 0) return undefined;
    const above = lineStart({ text: editor.text, cursor: start - 1 });
    return { ...editor, cursor: safeAt(editor.text, Math.min(above + column, start - 1)) };
  }
  const end = lineEnd(editor);
  if (end === editor.text.length) return undefined;
  const below = lineEnd({ text: editor.text, cursor: end + 1 });
  return { ...editor, cursor: safeAt(editor.text, Math.min(end + 1 + column, below)) };
}

const REACH = 200;
const segmenter = new Intl.Segmenter();

/** The offset, or the one before it if it would split a pair of surrogates. */
function safeAt(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset - 1 : offset;
}
