/** A text that is no JSON object, or in which a key of the way is no object. */
export class EditFault extends Error {}

type Member = { key: string; start: number; valueStart: number; end: number };
type Shape = { open: number; close: number; members: Member[] };

const SPACE = /[ \t\r\n]*/y;
const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const SCALAR = /[^\s,\]}]+/y;

/**
 * Sets the value at a way of keys in a JSON text, or removes it where the value is undefined. Nothing else is touched:
 * order, indentation and line ends stay. Objects that the way needs are made. The text must be valid JSON.
 */
export function editJson(text: string, keys: readonly string[], value: unknown): string {
  const style = styleOf(text);
  let at = skip(text, text.startsWith("\uFEFF") ? 1 : 0);
  for (const [depth, key] of keys.entries()) {
    const shape = shapeAt(text, at, keys.slice(0, depth));
    const member = shape.members.findLast((each) => each.key === key);
    if (!member) {
      const missing = wrap(keys.slice(depth + 1), value);
      return missing === undefined ? text : insert(text, shape, { key, value: missing, depth }, style);
    }
    if (depth === keys.length - 1) {
      if (value === undefined) return remove(text, shape, member);
      return text.slice(0, member.valueStart) + print(value, depth + 1, style) + text.slice(member.end);
    }
    at = member.valueStart;
  }
  throw new EditFault("no key is named");
}

type Style = { indent: string; end: string };

/** The indentation of the first member that has a line of its own, and the line ends. */
function styleOf(text: string): Style {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const indent = /^\uFEFF?\s*\{[ \t]*\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return { indent, end };
}

function print(value: unknown, depth: number, { indent, end }: Style): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll("\n", `${end}${indent.repeat(depth)}`);
}

function wrap(keys: readonly string[], value: unknown): unknown {
  if (value === undefined) return undefined;
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function insert(
  text: string,
  { open, close, members }: Shape,
  { key, value, depth }: { key: string; value: unknown; depth: number },
  style: Style,
): string {
  const last = members.at(-1);
  const line = `${style.end}${style.indent.repeat(depth + 1)}`;
  const oneLine = last !== undefined && !text.slice(open, last.start).includes("\n");
  const gap = oneLine ? " " : line;
  const member = `${JSON.stringify(key)}: ${print(value, depth + 1, style)}`;
  if (last) return `${text.slice(0, last.end)},${gap}${member}${text.slice(last.end)}`;
  return `${text.slice(0, open + 1)}${line}${member}${style.end}${style.indent.repeat(depth)}${text.slice(close)}`;
}

function remove(text: string, { open, close, members }: Shape, member: Member): string {
  const index = members.indexOf(member);
  const before = members[index - 1];
  const after = members[index + 1];
  if (after) return text.slice(0, member.start) + text.slice(after.start);
  if (before) return text.slice(0, before.end) + text.slice(member.end);
  return text.slice(0, open + 1) + text.slice(close);
}

/** The members of the object that begins at a place. */
function shapeAt(text: string, open: number, way: readonly string[]): Shape {
  if (text[open] !== "{") throw new EditFault(`${way.join(".") || "the file"} is not an object`);
  const members: Member[] = [];
  let at = skip(text, open + 1);
  while (text[at] !== "}") {
    const start = at;
    const key: unknown = JSON.parse(take(STRING, text, at));
    at = skip(text, skip(text, at + take(STRING, text, at).length) + 1);
    const end = endOfValue(text, at);
    members.push({ key: String(key), start, valueStart: at, end });
    at = skip(text, end);
    if (text[at] === ",") at = skip(text, at + 1);
  }
  return { open, close: at, members };
}

/** Where a value ends; brackets are counted, so depth costs nothing. */
function endOfValue(text: string, start: number): number {
  let at = start;
  let depth = 0;
  do {
    const char = text[at];
    if (char === undefined) throw new EditFault("the text ends too early");
    if (char === "{" || char === "[") depth++;
    if (char === "}" || char === "]") depth--;
    if (char === '"') at += take(STRING, text, at).length;
    else if (/[{}[\],:]/.test(char)) at++;
    else at += take(SCALAR, text, at).length;
    if (depth > 0) at = skip(text, at);
  } while (depth > 0);
  return at;
}

function skip(text: string, at: number): number {
  return at + take(SPACE, text, at).length;
}

function take(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[0];
  if (found === undefined) throw new EditFault("the text is no JSON");
  return found;
}
