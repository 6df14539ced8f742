import {
  type CommandList,
  type CommandPart,
  type Feed,
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
 * programs in their lane; the sandbox, not this reading, is the boundary against hostile ones. Each level is read
 * once, so the work grows with the text.
 */
export function readCommand(command: string): CommandReading {
  const parts: CommandPart[] = [];
  const calls: ProgramCall[] = [];
  let opaque = command.includes("\0");
  let depth = 0;
  let list: CommandList = { above: null };
  // What a command starts is read again, and a script inside a substitution inside a script at both places.
  let unread = 4 * command.length + 1_000;

  const sink: CommandSink = {
    feed: null,
    count: () => calls.length,
    opaque() {
      opaque = true;
    },
    nested: (cursor) => deeper(() => readList(cursor, sink, true), { cursor }),
    script(text) {
      if (afford(text.length)) deeper(() => readScript(text));
    },
    command(simple, first) {
      if (parts.length >= MAX_PARTS) return sink.opaque();
      const made = toParts(simple);
      const inner = findInner(made.call.words);
      parts.push(...made.parts);
      calls.push({ ...made.call, list, feed: sink.feed, first });
      opaque ||= made.opaque || inner.opaque;
      const under = inner.sharesFolder ? { list } : {};
      const { isFallback } = simple;
      for (const words of inner.commands) {
        if (afford(lengthOf(words)))
          deeper(() => sink.command({ words, redirections: [], isFallback }, first), under);
      }
      for (const script of inner.scripts) if (afford(script.length)) deeper(() => readScript(script), under);
    },
  };

  function readScript(text: string): void {
    readList(startOf(text, sink), sink, false);
  }

  function afford(length: number): boolean {
    unread -= length;
    opaque ||= unread < 0;
    return unread >= 0;
  }

  function deeper(
    read: () => void,
    { cursor, list: shared }: { cursor?: Cursor; list?: CommandList } = {},
  ): void {
    if (depth >= MAX_DEPTH) {
      opaque = true;
      if (cursor) cursor.at = cursor.text.length;
      return;
    }
    const above = list;
    depth++;
    list = shared ?? { above };
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

type CommandSink = Sink & {
  /** What comes in to what is read now. */
  feed: Feed | null;
  /** How many calls were read so far. */
  count(): number;
  command(simple: SimpleCommand, first: number): void;
};
type Draft = { words: Word[]; redirections: Redirection[]; isFallback: boolean };

/** Reads commands up to the end of the text, or up to the bracket that closes a nested list. */
function readList(cursor: Cursor, sink: CommandSink, nested: boolean): void {
  const outer = sink.feed;
  readCommands(cursor, sink, nested);
  sink.feed = outer;
}

const OPENS = new Set(["{", "if", "while", "until", "for", "case", "select"]);
const CLOSES = new Set(["}", "fi", "done", "esac"]);

/** Follows what is piped where: through lists in braces and loops, which have one input and one output together. */
class Pipes {
  readonly #sink: CommandSink;
  readonly #open: { from: number; feed: Feed | null }[] = [];
  #outer: Feed | null;
  #from: number;
  #isPiped = false;

  constructor(sink: CommandSink) {
    this.#sink = sink;
    this.#outer = sink.feed;
    this.#from = sink.count();
  }

  /** A command begins or ends lists by its first words. */
  enter(words: readonly Word[]): void {
    this.#isPiped = false;
    for (const { raw } of words) {
      const closed = CLOSES.has(raw) ? this.#open.pop() : undefined;
      if (OPENS.has(raw)) {
        this.#open.push({ from: this.#from, feed: this.#outer });
        this.#outer = this.#sink.feed;
      } else if (closed) {
        this.#from = closed.from;
        this.#outer = closed.feed;
      } else if (!GOES_ON.has(raw)) return;
    }
  }

  /** What was read since the last break goes into what follows. */
  pipe(): void {
    this.#sink.feed = { from: this.#from, to: this.#sink.count(), outer: this.#outer };
    this.#isPiped = true;
  }

  /** The next command is not fed by the last one, unless a pipe stands before the break. */
  break(): void {
    if (this.#isPiped) return;
    this.#sink.feed = this.#outer;
    this.#from = this.#sink.count();
  }

  /** A list in brackets stands where a command could. */
  nest(): void {
    this.#isPiped = false;
  }
}

/** Words of the shell after which a command follows. */
const GOES_ON = new Set(["then", "else", "elif", "do", "!", "time"]);

function readCommands(cursor: Cursor, sink: CommandSink, nested: boolean): void {
  let draft: Draft = { words: [], redirections: [], isFallback: false };
  let first = sink.count();
  const pipes = new Pipes(sink);
  const finish = (): void => {
    if (draft.words.length + draft.redirections.length > 0) {
      pipes.enter(draft.words);
      sink.command(draft, first);
    }
    draft = { words: [], redirections: [], isFallback: false };
    first = sink.count();
  };
  while (cursor.at < cursor.text.length) {
    const character = cursor.text[cursor.at] ?? "";
    if (character === " " || character === "\t") cursor.at++;
    else if (cursor.text.startsWith("\\\n", cursor.at)) cursor.at += 2;
    else if (character === "#") skipComment(cursor);
    else if (character === "\n") {
      finish();
      pipes.break();
      cursor.at++;
      readHeredocs(cursor);
    } else if (character === "(") {
      if (draft.words.length > 0) sink.opaque();
      finish();
      pipes.nest();
      cursor.at++;
      sink.nested(cursor);
      first = sink.count();
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
      const isPipe = character === "|" && cursor.text[cursor.at + 1] !== "|";
      if (isPipe) pipes.pipe();
      else pipes.break();
      draft.isFallback = cursor.text.startsWith("||", cursor.at);
      cursor.at += /^(?:\|[|&]|&&|;;)/.test(cursor.text.slice(cursor.at, cursor.at + 2)) ? 2 : 1;
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
