import { isCollection, isMap, isPair, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";
import { rankKey } from "../fields/field-names.ts";
import { addFlowItems, cutFlowItem, type Range } from "../yaml/flow-items.ts";
import { keySource, mapSource } from "../yaml/scalar-source.ts";
import { cannotSay } from "./cannot-say.ts";

/** Changes of one mapping's source. Each gives the text with that change and every other byte as it was. */

let lastRead: { text: string; root: YAMLMap | null } | null = null;

/** The mapping that a text is; null for an empty one. The text is known to be strict YAML. */
function rootOf(text: string): YAMLMap | null {
  if (lastRead?.text === text) return lastRead.root;
  const options = { strict: true, uniqueKeys: false, stringKeys: true, schema: "core" } as const;
  const { contents } = parseDocument(text, options);
  const root = isMap(contents) ? contents : null;
  lastRead = { text, root };
  return root;
}

/** What stands at a path of keys as they are written; undefined if a key is not there. */
export function nodeAt(text: string, path: readonly string[]): unknown {
  let node: unknown = rootOf(text);
  for (const key of path) {
    const pair = isMap(node) ? pairOf(node, key) : undefined;
    if (pair === undefined) return undefined;
    node = pair.value;
  }
  return node;
}

/** The keys of the mapping at a path as they are written; none if there is no mapping. */
export function keysAt(text: string, path: readonly string[]): string[] {
  const node = nodeAt(text, path);
  return isMap(node) ? node.items.map(keyOf) : [];
}

/** Gives what stands at a path this source, which has to fit on one line unless it is a block of a top-level key. */
export function setValue(text: string, path: readonly string[], source: string): string {
  const [key = "", ...rest] = path;
  const root = rootOf(text);
  return setIn(text, { map: root, key, rest, source, isTop: true });
}

/** Takes the entry at a path out, and with it every mapping that would be left empty. */
export function removeYamlEntry(text: string, path: readonly string[]): string {
  const parent = nodeAt(text, path.slice(0, -1));
  const key = path.at(-1) ?? "";
  if (!isMap(parent)) return text;
  const index = parent.items.findIndex((pair) => keyOf(pair) === key);
  const pair = parent.items[index];
  if (pair === undefined) return text;
  if (parent.items.length === 1 && path.length > 1) return removeYamlEntry(text, path.slice(0, -1));
  if (parent.flow) return cutFlowItem(text, flowParts(parent), index);
  const [start] = rangeOf(pair.key);
  const from = lineStart(text, start);
  if (text.slice(from, start).trim() !== "") throw cannotSay(key, "its key does not begin a line");
  return text.slice(0, from) + text.slice(entryEnd(text, pair));
}

type Setting = { map: YAMLMap | null; key: string; rest: readonly string[]; source: string; isTop: boolean };

function setIn(text: string, setting: Setting): string {
  const { map, key, rest, source } = setting;
  const pair = map === null ? undefined : pairOf(map, key);
  if (pair === undefined) return insert(text, setting, rest.length === 0 ? source : nested(rest, source));
  const [next, ...further] = rest;
  if (next === undefined) return replaceValue(text, pair, source);
  if (isMap(pair.value) && pair.value.items.length > 0)
    return setIn(text, { map: pair.value, key: next, rest: further, source, isTop: false });
  if (pair.value !== null && !isEmpty(pair.value) && !isMap(pair.value))
    throw cannotSay(key, "it holds something else than a map");
  return replaceValue(text, pair, nested(rest, source));
}

function nested(path: readonly string[], source: string): string {
  return path.toReversed().reduce((inner, key) => mapSource([[key, inner]]), source);
}

function replaceValue(text: string, pair: Pair, source: string): string {
  const { value } = pair;
  const [, keyEnd] = rangeOf(pair.key);
  const colon = text.indexOf(":", keyEnd) + 1;
  if (value === null || isEmpty(value)) return `${text.slice(0, colon)} ${source}${text.slice(colon)}`;
  const isBlock = isCollection(value) ? !value.flow : isBlockScalar(value);
  const end = endOf(text, value);
  if (isBlock) return `${text.slice(0, colon)} ${source}${text.slice(end)}`;
  return text.slice(0, rangeOf(value)[0]) + source + text.slice(end);
}

function insert(text: string, { map, key, isTop }: Setting, source: string): string {
  const entry = `${keySource(key)}: ${source}`;
  if (map === null || map.items.length === 0 || map.range == null) {
    const end = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return `${end}${entry}\n`;
  }
  if (map.flow) return addFlowItems(text, flowParts(map), [entry]);
  const [first] = map.items;
  const [start] = rangeOf(first?.key);
  const indent = text.slice(lineStart(text, start), start);
  if (indent.trim() !== "") throw cannotSay(key, "the map it belongs to does not begin a line");
  const before = isTop ? predecessor(map, key) : map.items.at(-1);
  const at = before === undefined ? lineStart(text, start) : entryEnd(text, before);
  const fresh = at > 0 && text[at - 1] !== "\n" ? "\n" : "";
  return `${text.slice(0, at)}${fresh}${indent}${entry}\n${text.slice(at)}`;
}

/** New keys come after their kin. */
function predecessor(map: YAMLMap, key: string): Pair | undefined {
  const rank = rankKey(key);
  const ranked = map.items.map((pair) => ({ pair, rank: rankKey(keyOf(pair)) }));
  const below = ranked.filter((each) => each.rank >= 0 && each.rank < rank);
  const highest = Math.max(...below.map((each) => each.rank));
  return below.findLast((each) => each.rank === highest)?.pair;
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => keyOf(pair) === key);
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

function flowParts(map: YAMLMap): { whole: Range; items: Range[] } {
  return {
    whole: rangeOf(map),
    items: map.items.map((pair) => {
      const [start, keyEnd] = rangeOf(pair.key);
      return [start, pair.value === null ? keyEnd : Math.max(keyEnd, rangeOf(pair.value)[1])];
    }),
  };
}

/** Where a node's own source begins and ends. */
export function rangeOf(node: unknown): Range {
  const range = isScalar(node) || isCollection(node) || hasRange(node) ? node.range : undefined;
  if (range == null) throw cannotSay("the change", "the place of a value is not known");
  return [range[0], range[1]];
}

function hasRange(node: unknown): node is { range?: [number, number, number] | null } {
  return typeof node === "object" && node !== null && "range" in node;
}

/** Where the content of a node ends, comments and line ends behind it left out. */
export function endOf(text: string, node: unknown): number {
  if (isCollection(node) && !node.flow && node.items.length > 0) {
    const last: unknown = node.items.at(-1);
    if (!isPair(last)) return endOf(text, last);
    return last.value === null
      ? rangeOf(last.key)[1]
      : Math.max(rangeOf(last.key)[1], endOf(text, last.value));
  }
  const [, end] = rangeOf(node);
  return isBlockScalar(node) && text[end - 1] === "\n" ? end - 1 : end;
}

/** Past the last line of an entry, with the comments that are indented below it. */
function entryEnd(text: string, pair: Pair): number {
  const [start, keyEnd] = rangeOf(pair.key);
  let end = lineEnd(text, pair.value === null ? keyEnd : Math.max(keyEnd, endOf(text, pair.value)));
  const column = start - lineStart(text, start);
  for (let next = end; next < text.length; next = lineEnd(text, next)) {
    const line = text.slice(next, lineEnd(text, next));
    const indent = /^ *(?=#)/.exec(line)?.[0].length;
    if (indent === undefined || indent <= column) break;
    end = lineEnd(text, next);
  }
  return end;
}

function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.range != null && node.range[0] === node.range[1];
}

function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
}

/** Where the line of a position begins. */
export function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Past the end of the line of a position. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}
