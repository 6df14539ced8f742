/** One word of a shell command. */
export type Word = {
  /** As written. */
  readonly raw: string;
  /** With quotes and escapes taken off; expansions stay as written. */
  readonly value: string;
  /** Part of it is known only when it runs: a variable or a substitution. */
  readonly dynamic: boolean;
  /** It is built by a backslash, a glob or a brace. */
  readonly odd: boolean;
};

/** Where a reader stands in one text, and what it reports to. */
export type Cursor = { readonly text: string; at: number; readonly sink: Sink; readonly heredocs: Heredoc[] };

/** A here-document whose body has not been reached yet. */
export type Heredoc = {
  readonly delimiter: string;
  readonly literal: boolean;
  readonly indented: boolean;
  /** Gets the body once it is read. */
  take(body: string): void;
};

/** What words need of the command reader: nested scripts, and saying that something is not understood. */
export type Sink = {
  opaque(): void;
  /** Reads a substitution in place, up to its closing bracket. */
  nested(cursor: Cursor): void;
  /** Reads a script that is not part of the same text. */
  script(text: string): void;
};

const ENDS_WORD = new Set([" ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")"]);

type Draft = { value: string; dynamic: boolean; odd: boolean };

/** Reads one word from where the cursor stands. */
export function readWord(cursor: Cursor): Word {
  const start = cursor.at;
  const draft: Draft = { value: "", dynamic: false, odd: false };
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (ENDS_WORD.has(character)) break;
    readPiece(cursor, draft, character);
  }
  return { raw: cursor.text.slice(start, cursor.at), ...draft };
}

/** Reads `<(…)` or `>(…)` as a word. */
export function readProcessSubstitution(cursor: Cursor): Word {
  const start = cursor.at;
  cursor.at += 2;
  cursor.sink.nested(cursor);
  const raw = cursor.text.slice(start, cursor.at);
  return { raw, value: raw, dynamic: true, odd: false };
}

/** Finds the substitutions in the body of a here-document. */
export function readExpansions(cursor: Cursor): void {
  const draft: Draft = { value: "", dynamic: false, odd: false };
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (character === "\\") cursor.at += 2;
    else if (character === "$") readDollar(cursor, draft, true);
    else if (character === "`") readBackticks(cursor, draft);
    else cursor.at++;
  }
}

function readPiece(cursor: Cursor, draft: Draft, character: string): void {
  if (character === "\\") readEscape(cursor, draft);
  else if (character === "'") readSingleQuotes(cursor, draft);
  else if (character === '"') readDoubleQuotes(cursor, draft);
  else if (character === "$") readDollar(cursor, draft, false);
  else if (character === "`") readBackticks(cursor, draft);
  else {
    if ("*?[{".includes(character)) draft.odd = true;
    if (character < " " || character === "\u007f") cursor.sink.opaque();
    draft.value += character;
    cursor.at++;
  }
}

function readEscape(cursor: Cursor, draft: Draft): void {
  const next = cursor.text[cursor.at + 1];
  cursor.at += 2;
  if (next === "\n") return;
  if (next === undefined) cursor.sink.opaque();
  draft.value += next ?? "\\";
  draft.odd = true;
}

function readSingleQuotes(cursor: Cursor, draft: Draft): void {
  const close = cursor.text.indexOf("'", cursor.at + 1);
  if (close < 0) cursor.sink.opaque();
  draft.value += cursor.text.slice(cursor.at + 1, close < 0 ? undefined : close);
  cursor.at = close < 0 ? cursor.text.length : close + 1;
}

function readDoubleQuotes(cursor: Cursor, draft: Draft): void {
  cursor.at++;
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (character === '"') {
      cursor.at++;
      return;
    }
    if (character === "$") readDollar(cursor, draft, true);
    else if (character === "`") readBackticks(cursor, draft);
    else if (character === "\\") readQuotedEscape(cursor, draft);
    else {
      draft.value += character;
      cursor.at++;
    }
  }
  cursor.sink.opaque();
}

function readQuotedEscape(cursor: Cursor, draft: Draft): void {
  const next = cursor.text[cursor.at + 1] ?? "";
  cursor.at += 2;
  if (next === "\n") return;
  draft.value += '$`"\\'.includes(next) ? next : `\\${next}`;
}

function readDollar(cursor: Cursor, draft: Draft, quoted: boolean): void {
  const start = cursor.at;
  const next = cursor.text[start + 1] ?? "";
  if (!quoted && (next === "'" || next === '"')) {
    draft.odd = true;
    if (next === "'") readAnsiQuotes(cursor, draft);
    else cursor.at++;
    return;
  }
  if (next === "(") {
    cursor.at += 2;
    cursor.sink.nested(cursor);
  } else if (next === "{") {
    readBraced(cursor);
    // One sets a variable, the other runs what a variable holds; nothing else in a word does.
    if (/\$\{\w+(\[[^\]]*\])?:?=|@P\}/.test(cursor.text.slice(start, cursor.at))) cursor.sink.opaque();
  } else cursor.at += /[A-Za-z0-9_@*#?$!-]/.test(next) ? 2 : 1;
  draft.dynamic ||= cursor.at > start + 1;
  draft.value += cursor.text.slice(start, cursor.at);
}

/** `${…}`: its default value may hold substitutions. */
function readBraced(cursor: Cursor): void {
  const ignored: Draft = { value: "", dynamic: false, odd: false };
  let depth = 0;
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (cursor.text.startsWith("${", cursor.at)) {
      depth++;
      cursor.at += 2;
    } else if (character === "}") {
      cursor.at++;
      if (--depth === 0) return;
    } else if (character === "$" || character === "`" || character === "\\" || character === '"') {
      readPiece(cursor, ignored, character);
    } else {
      // Whether a single quote quotes in here depends on what stands around the expansion.
      if (character === "'") cursor.sink.opaque();
      cursor.at++;
    }
  }
  cursor.sink.opaque();
}

/** `$'…'` can spell any character, so what it says is not relied upon. */
function readAnsiQuotes(cursor: Cursor, draft: Draft): void {
  cursor.sink.opaque();
  const start = cursor.at + 2;
  cursor.at = start;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== "'") {
    cursor.at += cursor.text[cursor.at] === "\\" ? 2 : 1;
  }
  draft.value += decodeAnsi(cursor.text.slice(start, cursor.at));
  cursor.at++;
}

function decodeAnsi(text: string): string {
  return text
    .replace(/\\(?:x([\da-f]{1,2})|u([\da-f]{1,4})|([0-7]{1,3}))/gi, (_, hex, wide, octal) =>
      String.fromCharCode(octal ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? wide, 16)),
    )
    .replace(/\\(.)/g, "$1");
}

function readBackticks(cursor: Cursor, draft: Draft): void {
  const start = cursor.at++;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== "`") {
    cursor.at += cursor.text[cursor.at] === "\\" ? 2 : 1;
  }
  if (cursor.at >= cursor.text.length) cursor.sink.opaque();
  cursor.sink.script(cursor.text.slice(start + 1, cursor.at).replace(/\\([\\`$])/g, "$1"));
  cursor.at = Math.min(cursor.at + 1, cursor.text.length);
  draft.value += cursor.text.slice(start, cursor.at);
  draft.dynamic = true;
}
