/** Where a JSON text stops being JSON. */
export type JsonFault = { line: number; column: number; message: string };

/** The line on which the key or item at a path such as `/limits/turns` stands. */
export type JsonLines = ReadonlyMap<string, number>;

const SPACE = /[ \t\r\n]*/y;
/** A quoted text: no control characters, only the escapes that JSON has; one way to match, so that none is tried twice. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const MAX_DEPTH = 64;

/**
 * Walks a JSON text and notes the line of everything in it. `JSON.parse` names a place only in some of its errors,
 * and never where a good value stood.
 */
export function locateJson(text: string): { lines: JsonLines } | { fault: JsonFault } {
  const walk = new Walk(text);
  try {
    walk.value("", 0);
    walk.end();
    return { lines: walk.lines };
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
    return { fault: { ...walk.place(), message: thrown.message } };
  }
}

class Stop extends Error {}

class Walk {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw new Stop(`it is nested deeper than ${MAX_DEPTH} levels`);
    this.#skip();
    this.lines.set(path, this.place().line);
    const char = this.#text[this.#at];
    if (char === "{") this.#members("}", () => this.#member(path, depth));
    else if (char === "[") this.#members("]", (index) => this.value(`${path}/${index}`, depth + 1));
    else if (char === '"')
      this.#take(STRING, "a text has no closing quote or holds a character that must be escaped");
    else this.#take(SCALAR, this.#unexpected("a value"));
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) throw new Stop(this.#unexpected("the end of the file"));
  }

  place(): { line: number; column: number } {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #members(close: string, member: (index: number) => void): void {
    this.#at++;
    this.#skip();
    if (this.#text[this.#at] === close) {
      this.#at++;
      return;
    }
    for (let index = 0; ; index++) {
      member(index);
      this.#skip();
      const char = this.#text[this.#at];
      if (char !== close && char !== ",") throw new Stop(this.#unexpected(`',' or '${close}'`));
      this.#at++;
      if (char === close) return;
    }
  }

  #member(path: string, depth: number): void {
    this.#skip();
    const { line } = this.place();
    const key = this.#take(STRING, this.#unexpected("a key in double quotes"));
    const inner = `${path}/${String(JSON.parse(key)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    this.#skip();
    if (this.#text[this.#at] !== ":") throw new Stop(this.#unexpected("':'"));
    this.#at++;
    this.value(inner, depth + 1);
    this.lines.set(inner, line);
  }

  #take(pattern: RegExp, message: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new Stop(message);
    this.#at += found.length;
    return found;
  }

  /** Line ends stand only between values, so this is where they are counted. */
  #skip(): void {
    SPACE.lastIndex = this.#at;
    const space = SPACE.exec(this.#text)?.[0] ?? "";
    const ends = space.split("\n").length - 1;
    if (ends > 0) this.#lineStart = this.#at + space.lastIndexOf("\n") + 1;
    this.#line += ends;
    this.#at += space.length;
  }

  #unexpected(wanted: string): string {
    const char = this.#text[this.#at];
    const found = char === undefined ? "the file ends" : `${JSON.stringify(char)} stands`;
    return `${found} where ${wanted} must be`;
  }
}
