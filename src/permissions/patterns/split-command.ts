import {
  type CommandList,
  type CommandPart,
  type ProgramCall,
  type Redirection,
  type SimpleCommand,
  toParts,
} from "./command-part.ts";
import { findInner } from "./inner-command.ts";
import {
  type Cursor,
  type Heredoc,
  readExpansions,
  readProcessSubstitution,
  readWord,
  type Sink,
  type Word,
} from "./shell-word.ts";

const MAX_DEPTH = 40;
const MAX_PARTS = 10_000;

/** Every simple command of a shell text, as rules see it and word by word, and whether some of it could not be understood. */
export type CommandReading = {
  readonly parts: readonly CommandPart[];
  readonly calls: readonly ProgramCall[];
  readonly opaque: boolean;
};

/**
 * Splits a shell text into the simple commands it may run: of lists, pipes, subshells, substitutions,
 * here-documents and what wrappers such as `env` or `bash -c` start. Text patterns on commands keep honest
 * programs in their lane; the sandbox, not this reading, is the boundary against hostile ones.
 */
export function splitCommand(command: string): { parts: string[]; opaque: boolean } {
  const { parts, opaque } = readCommand(command);
  return { parts: parts.map((part) => part.text), opaque };
}

/** The same with what rules need to know of each part. Reads each level once, so the work grows with the text. */
export function readCommand(command: string): CommandReading {
  const parts: CommandPart[] = [];
  const calls: ProgramCall[] = [];
  let opaque = command.includes("\0");
  let depth = 0;
  let list: CommandList = { above: null };
  // What a command starts is read again, and a script inside a substitution inside a script at both places.
  let unread = 4 * command.length + 1_000;

  const sink: CommandSink = {
    opaque() {
      opaque = true;
    },
    nested: (cursor) => deeper(() => readList(cursor, sink, true), cursor),
    script(text) {
      if (afford(text.length)) deeper(() => readList(startOf(text, sink), sink, false));
    },
    command(simple) {
      if (parts.length >= MAX_PARTS) return sink.opaque();
      const made = toParts(simple);
      const inner = findInner(made.call.words);
      parts.push(...made.parts);
      calls.push({ ...made.call, list });
      opaque ||= made.opaque || inner.opaque;
      for (const words of inner.commands) {
        if (afford(lengthOf(words))) deeper(() => sink.command({ words, redirections: [] }));
      }
      for (const script of inner.scripts) sink.script(script);
    },
  };

  function afford(length: number): boolean {
    unread -= length;
    opaque ||= unread < 0;
    return unread >= 0;
  }

  function deeper(read: () => void, cursor?: Cursor): void {
    if (depth >= MAX_DEPTH) {
      opaque = true;
      if (cursor) cursor.at = cursor.text.length;
      return;
    }
    const above = list;
    depth++;
    list = { above };
    read();
    list = above;
    depth--;
  }

  readList(startOf(command, sink), sink, false);
  return { parts, calls, opaque };
}

function lengthOf(words: readonly Word[]): number {
  return words.reduce((sum, word) => sum + word.raw.length + 1, 0);
}

function startOf(text: string, sink: Sink): Cursor {
  return { text, at: 0, sink, heredocs: [] };
}

type CommandSink = Sink & { command(simple: SimpleCommand): void };
type Draft = { words: Word[]; redirections: Redirection[] };

/** Reads commands up to the end of the text, or up to the bracket that closes a nested list. */
function readList(cursor: Cursor, sink: CommandSink, nested: boolean): void {
  let draft: Draft = { words: [], redirections: [] };
  const finish = (): void => {
    if (draft.words.length + draft.redirections.length > 0) sink.command(draft);
    draft = { words: [], redirections: [] };
  };
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (character === " " || character === "\t") cursor.at++;
    else if (cursor.text.startsWith("\\\n", cursor.at)) cursor.at += 2;
    else if (character === "#") skipComment(cursor);
    else if (character === "\n") {
      finish();
      cursor.at++;
      readHeredocs(cursor);
    } else if (character === "(") {
      if (draft.words.length > 0) sink.opaque();
      finish();
      cursor.at++;
      sink.nested(cursor);
    } else if (character === ")") {
      finish();
      cursor.at++;
      if (nested) return;
      sink.opaque();
    } else if (
      character === ";" ||
      character === "|" ||
      (character === "&" && cursor.text[cursor.at + 1] !== ">")
    ) {
      finish();
      cursor.at++;
    } else readItem(cursor, draft, character);
  }
  finish();
  if (nested || cursor.heredocs.length > 0) sink.opaque();
}

function readItem(cursor: Cursor, draft: Draft, character: string): void {
  if (character === "<" || character === ">" || character === "&") {
    if (character !== "&" && cursor.text[cursor.at + 1] === "(")
      draft.words.push(readProcessSubstitution(cursor));
    else readRedirection(cursor, draft, "");
    return;
  }
  const word = readWord(cursor);
  const next = cursor.text[cursor.at];
  const isDescriptor = (next === "<" || next === ">") && /^(\d+|\{\w+\})$/.test(word.raw);
  if (isDescriptor) readRedirection(cursor, draft, word.raw);
  else draft.words.push(word);
}

function readRedirection(cursor: Cursor, draft: Draft, descriptor: string): void {
  const operator = /&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>/y;
  operator.lastIndex = cursor.at;
  const mark = operator.exec(cursor.text)?.[0] ?? "";
  cursor.at += mark.length;
  while (cursor.text[cursor.at] === " " || cursor.text[cursor.at] === "\t") cursor.at++;
  const target = /^[<>]\($/.test(cursor.text.slice(cursor.at, cursor.at + 2))
    ? readProcessSubstitution(cursor)
    : readWord(cursor);
  if (target.raw === "") cursor.sink.opaque();
  const redirection: Redirection = { descriptor, mark, target };
  if (mark === "<<" || mark === "<<-") {
    cursor.heredocs.push({
      delimiter: target.value,
      literal: target.raw !== target.value,
      indented: mark === "<<-",
      take: (body) => {
        redirection.body = body;
      },
    });
  }
  draft.redirections.push(redirection);
}

function readHeredocs(cursor: Cursor): void {
  for (const heredoc of cursor.heredocs.splice(0)) {
    const body = takeHeredoc(cursor, heredoc);
    heredoc.take(body);
    if (!heredoc.literal) readExpansions(startOf(body, cursor.sink));
  }
}

function takeHeredoc(cursor: Cursor, heredoc: Heredoc): string {
  const start = cursor.at;
  while (cursor.at < cursor.text.length) {
    const lineStart = cursor.at;
    const newline = cursor.text.indexOf("\n", lineStart);
    const lineEnd = newline < 0 ? cursor.text.length : newline;
    cursor.at = Math.min(lineEnd + 1, cursor.text.length);
    const line = cursor.text.slice(lineStart, lineEnd);
    if ((heredoc.indented ? line.replace(/^\t+/, "") : line) === heredoc.delimiter) {
      return cursor.text.slice(start, lineStart);
    }
  }
  cursor.sink.opaque();
  return cursor.text.slice(start);
}

function skipComment(cursor: Cursor): void {
  const newline = cursor.text.indexOf("\n", cursor.at);
  cursor.at = newline < 0 ? cursor.text.length : newline;
}
