import { isCollection, isScalar, isSeq, type YAMLSeq } from "yaml";
import { splitCommas } from "../fields/read-values.ts";
import { addFlowItems, cutFlowItem, type Range } from "../yaml/flow-items.ts";
import { listSource, scalarSource } from "../yaml/scalar-source.ts";
import { cannotSay } from "./cannot-say.ts";
import { endOf, lineEnd, lineStart, nodeAt, rangeOf, setValue } from "./yaml-source.ts";

/** What becomes of a list: entries by their index, and what is added behind them. */
export type ListChange = {
  remove: ReadonlySet<number>;
  replace?: ReadonlyMap<number, string>;
  add: readonly string[];
};

/** The entries of a YAML list or of a line with commas as they are written; null if there is neither. */
export function readEntries(text: string, path: readonly string[]): string[] | null {
  const node = nodeAt(text, path);
  if (isSeq(node)) return seqEntries(node).map((entry) => entry.text);
  if (isScalar(node) && typeof node.value === "string") return splitCommas(node.value);
  return null;
}

/** Changes a list and leaves its form as it is: one line with commas, brackets, or a line for each. */
export function changeEntries(text: string, path: readonly string[], change: ListChange): string {
  const node = nodeAt(text, path);
  if (isScalar(node) && typeof node.value === "string") return changeCommas(text, path, change);
  if (!isSeq(node)) return setValue(text, path, listSource(change.add));
  const { remove, replace = new Map<number, string>(), add } = change;
  const entries = seqEntries(node);
  if (remove.size === entries.length && add.length === 0) return setValue(text, path, "[]");
  let changed = node.flow || entries.length > 0 ? text : setValue(text, path, listSource(add));
  if (add.length > 0 && entries.length > 0) changed = addTo(changed, node, add);
  else if (add.length > 0 && node.flow)
    changed = addFlowItems(
      changed,
      { whole: rangeOf(node), items: [] },
      add.map((item) => inFlow(item)),
    );
  for (let index = entries.length - 1; index >= 0; index--) {
    const now = nodeAt(changed, path);
    if (!isSeq(now)) break;
    const fresh = replace.get(index);
    if (remove.has(index)) changed = cut(changed, now, index);
    else if (fresh !== undefined) changed = rewrite(changed, now, index, fresh);
  }
  return changed;
}

function changeCommas(text: string, path: readonly string[], change: ListChange): string {
  const node = nodeAt(text, path);
  if (!isScalar(node) || typeof node.value !== "string") return text;
  const { remove, replace, add } = change;
  const { value, type } = node;
  const entries = splitCommas(value);
  const kept = entries.flatMap((entry, index) => (remove.has(index) ? [] : [replace?.get(index) ?? entry]));
  const isAppended = remove.size === 0 && !replace?.size && entries.length > 0;
  const joined = isAppended ? [value.trim(), ...add].join(", ") : [...kept, ...add].join(", ");
  return setValue(
    text,
    path,
    joined === "" ? "[]" : scalarSource(joined, { type, isInFlow: isFlowAt(text, path.slice(0, -1)) }),
  );
}

function isFlowAt(text: string, path: readonly string[]): boolean {
  const node = nodeAt(text, path);
  return isCollection(node) && node.flow === true;
}

type SeqEntry = { text: string; first: number; last: number };

/** `[Agent(a, b)]` is one entry, although YAML takes its comma for the list's. */
function seqEntries(seq: YAMLSeq): SeqEntry[] {
  const entries: SeqEntry[] = [];
  let isOpen = false;
  for (const [index, item] of seq.items.entries()) {
    if (!isScalar(item) || typeof item.value !== "string")
      throw cannotSay("the list", "an entry of it is something else than a text");
    const before = entries.at(-1);
    if (isOpen && before !== undefined) {
      before.text = `${before.text}, ${item.value}`;
      before.last = index;
    } else entries.push({ text: item.value, first: index, last: index });
    const joined = entries.at(-1)?.text ?? "";
    isOpen = joined.split("(").length > joined.split(")").length;
  }
  if (isOpen) throw cannotSay("the list", "a bracket in it is not closed");
  return entries;
}

function rangesOf(seq: YAMLSeq): Range[] {
  return seqEntries(seq).map(({ first, last }) => [
    rangeOf(seq.items[first])[0],
    rangeOf(seq.items[last])[1],
  ]);
}

function addTo(text: string, seq: YAMLSeq, add: readonly string[]): string {
  const ranges = rangesOf(seq);
  if (seq.flow)
    return addFlowItems(
      text,
      { whole: rangeOf(seq), items: ranges },
      add.map((item) => inFlow(item, seq)),
    );
  const [start = 0] = ranges.at(-1) ?? [];
  const prefix = text.slice(lineStart(text, start), start);
  if (!/^\s*-\s+$/.test(prefix)) throw cannotSay("the list", "its last entry does not begin a line");
  const at = lineEnd(text, endOf(text, seq));
  const fresh = text[at - 1] === "\n" ? "" : "\n";
  const type = typeOf(seq);
  const lines = add.map((item) => `${prefix}${scalarSource(item, { type })}\n`);
  return `${text.slice(0, at)}${fresh}${lines.join("")}${text.slice(at)}`;
}

function cut(text: string, seq: YAMLSeq, index: number): string {
  const ranges = rangesOf(seq);
  if (seq.flow) return cutFlowItem(text, { whole: rangeOf(seq), items: ranges }, index);
  const [start, end] = ranges[index] ?? [0, 0];
  const from = lineStart(text, start);
  if (!/^\s*-\s+$/.test(text.slice(from, start)))
    throw cannotSay("the list", "an entry does not begin a line");
  return text.slice(0, from) + text.slice(lineEnd(text, end));
}

function rewrite(text: string, seq: YAMLSeq, index: number, fresh: string): string {
  const [start, end] = rangesOf(seq)[index] ?? [0, 0];
  const first = seqEntries(seq)[index]?.first ?? 0;
  const item = seq.items[first];
  const type = isScalar(item) ? item.type : undefined;
  const isInFlow = seq.flow === true;
  return text.slice(0, start) + scalarSource(fresh, { type, isInFlow }) + text.slice(end);
}

function inFlow(item: string, seq?: YAMLSeq): string {
  return scalarSource(item, { type: seq && typeOf(seq), isInFlow: true });
}

/** Quotes are for all entries of a list or for those that need them. */
function typeOf(seq: YAMLSeq): "QUOTE_SINGLE" | "QUOTE_DOUBLE" | undefined {
  const types = new Set(seq.items.map((item) => (isScalar(item) ? item.type : undefined)));
  const [only] = types;
  return types.size === 1 && (only === "QUOTE_SINGLE" || only === "QUOTE_DOUBLE") ? only : undefined;
}
