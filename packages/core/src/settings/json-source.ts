/** Where a JSON text stops being JSON. */
export type JsonFault = { line: number; column: number; message: string };

/** The line on which the key or item at a path such as `/limits/turns` stands. */
export type JsonLines = ReadonlyMap<string, number>;

/** A text that is no JSON object, or in which a key of the way is no object. */
export class EditFault extends Error {}

/** A value in a text: where it stands, and the members of an object. */
type JsonValue = { start: number; end: number; members: JsonMember[] | null };
type JsonMember = { key: string; start: number; value: JsonValue };

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
  const reader = new JsonReader(text);
  try {
    reader.read();
    return { lines: reader.lines };
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
    return { fault: { ...reader.place(), message: thrown.message } };
  }
}

/**
 * Sets the value at a way of keys in a JSON text, or removes it where the value is undefined. Nothing else is touched:
 * order, indentation and line ends stay. Objects that the way needs are made. The text must be valid JSON.
 */
export function editJson(text: string, keys: readonly string[], value: unknown): string {
  const style = findStyle(text);
  let at = readValue(text);
  for (const [depth, key] of keys.entries()) {
    const { members } = at;
    if (members === null)
      throw new EditFault(`${keys.slice(0, depth).join(".") || "the file"} is not an object`);
    const member = members.findLast((each) => each.key === key);
    if (!member) {
      const missing = wrap(keys.slice(depth + 1), value);
      return missing === undefined
        ? text
        : insert(text, { ...at, members }, { key, value: missing, depth }, style);
    }
    if (depth === keys.length - 1) {
      if (value === undefined) return remove(text, { ...at, members }, member);
      const { start, end } = member.value;
      return text.slice(0, start) + print(value, depth + 1, style) + text.slice(end);
    }
    at = member.value;
  }
  throw new EditFault("no key is named");
}

function readValue(text: string): JsonValue {
  try {
    return new JsonReader(text).read();
  } catch (thrown) {
    if (thrown instanceof Stop) throw new EditFault(`the text is no JSON: ${thrown.message}`);
    throw thrown;
  }
}

class Stop extends Error {}

class JsonReader {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith("\uFEFF")) this.#at = 1;
  }

  read(): JsonValue {
    const value = this.#value("", 0);
    this.#skip();
    if (this.#at < this.#text.length) throw new Stop(this.#unexpected("the end of the file"));
    return value;
  }

  place(): { line: number; column: number } {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #value(path: string, depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new Stop(`it is nested deeper than ${MAX_DEPTH} levels`);
    this.#skip();
    this.lines.set(path, this.#line);
    const start = this.#at;
    const char = this.#text[start];
    const members: JsonMember[] = [];
    if (char === "{") this.#list("}", () => members.push(this.#member(path, depth)));
    else if (char === "[") this.#list("]", (index) => this.#value(`${path}/${index}`, depth + 1));
    else if (char === '"')
      this.#take(STRING, "a text has no closing quote or holds a character that must be escaped");
    else this.#take(SCALAR, this.#unexpected("a value"));
    return { start, end: this.#at, members: char === "{" ? members : null };
  }

  #list(close: string, read: (index: number) => void): void {
    this.#at++;
    this.#skip();
    let isOpen = this.#text[this.#at] !== close;
    if (!isOpen) this.#at++;
    for (let index = 0; isOpen; index++) {
      read(index);
      this.#skip();
      const char = this.#text[this.#at];
      if (char !== close && char !== ",") throw new Stop(this.#unexpected(`',' or '${close}'`));
      this.#at++;
      isOpen = char === ",";
    }
  }

  #member(path: string, depth: number): JsonMember {
    this.#skip();
    const [start, line] = [this.#at, this.#line];
    const key = String(JSON.parse(this.#take(STRING, this.#unexpected("a key in double quotes"))));
    const inner = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    this.#skip();
    if (this.#text[this.#at] !== ":") throw new Stop(this.#unexpected("':'"));
    this.#at++;
    const value = this.#value(inner, depth + 1);
    this.lines.set(inner, line);
    return { key, start, value };
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

type Style = { indent: string; lineEnd: string };
type JsonObject = JsonValue & { members: JsonMember[] };

/** The indentation of the first member that has a line of its own, and the line ends. */
function findStyle(text: string): Style {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const indent = /^\uFEFF?\s*\{[ \t]*\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return { indent, lineEnd };
}

function print(value: unknown, depth: number, { indent, lineEnd }: Style): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll("\n", `${lineEnd}${indent.repeat(depth)}`);
}

function wrap(keys: readonly string[], value: unknown): unknown {
  if (value === undefined) return undefined;
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function insert(
  text: string,
  { start, end, members }: JsonObject,
  { key, value, depth }: { key: string; value: unknown; depth: number },
  style: Style,
): string {
  const last = members.at(-1);
  const line = `${style.lineEnd}${style.indent.repeat(depth + 1)}`;
  const member = `${JSON.stringify(key)}: ${print(value, depth + 1, style)}`;
  if (last) {
    const gap = text.slice(start, last.start).includes("\n") ? line : " ";
    return `${text.slice(0, last.value.end)},${gap}${member}${text.slice(last.value.end)}`;
  }
  const close = `${style.lineEnd}${style.indent.repeat(depth)}`;
  return `${text.slice(0, start + 1)}${line}${member}${close}${text.slice(end - 1)}`;
}

function remove(text: string, { start, end, members }: JsonObject, member: JsonMember): string {
  const index = members.indexOf(member);
  const before = members[index - 1];
  const after = members[index + 1];
  if (after) return text.slice(0, member.start) + text.slice(after.start);
  if (before) return text.slice(0, before.value.end) + text.slice(member.value.end);
  return text.slice(0, start + 1) + text.slice(end - 1);
}
