import {
  Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
} from "yaml";
import { RetinueError } from "../../schema/error.ts";
import { rankKey } from "../fields/field-names.ts";
import { joinBrackets, splitCommas } from "../fields/read-values.ts";

/** Why a field cannot be written into a file as it is; the raw text can still be edited. */
export function cannotSay(what: string, why: string): RetinueError {
  return new RetinueError(
    "input",
    `${what} cannot be written into this file: ${why}`,
    "edit the raw text instead, or make a copy of the agent in .retinue/agents",
  );
}

/** What becomes of a list: entries by their index, and what is added behind them. */
export type ListChange = {
  remove?: ReadonlySet<number>;
  replace?: ReadonlyMap<number, string>;
  add?: readonly string[];
};

/** A piece of the source: a top-level entry, or what is between two of them. */
type Piece = { text: string; keys: readonly string[]; document?: Document; isChanged?: boolean };

const PARSING = { strict: true, uniqueKeys: false, stringKeys: true, schema: "core" } as const;
/** Words that older readers of YAML take for something other than text. */
const OLD_WORDS = /^(?:y|n|yes|no|on|off|~)$/i;

/**
 * A frontmatter whose entries are being changed. Entries that are not changed, and what is between entries, stay byte for
 * byte; one that is changed is written again by `yaml`, which keeps its comments, its quotes and the order of what is in it.
 * Paths are keys as the file writes them.
 */
export class FrontmatterEdit {
  readonly #pieces: Piece[];

  /** The text is known to be strict YAML, with `\n` at its line ends. */
  constructor(text: string) {
    const { contents } = parseDocument(text, PARSING);
    const pairs = isMap(contents) ? contents.items : [];
    const isBraced = isMap(contents) && contents.flow === true;
    this.#pieces = isBraced ? [{ text, keys: pairs.map(nameKey) }] : cutPieces(text, pairs);
  }

  /** The whole frontmatter, with its changes. */
  toString(): string {
    return this.#pieces.map((piece) => (piece.isChanged ? print(piece) : piece.text)).join("");
  }

  /** What is at a path; undefined if a key is not there. */
  get(path: readonly string[]): unknown {
    const [top = ""] = path;
    const piece = this.#pieces.find(({ keys }) => keys.includes(top));
    let node: unknown = piece && open(piece).contents;
    for (const key of path) {
      const pair = isMap(node) ? findPair(node, key) : undefined;
      if (pair === undefined) return undefined;
      node = pair.value;
    }
    return node;
  }

  /** The keys of the map at a path; none if there is no map. */
  keys(path: readonly string[] = []): string[] {
    if (path.length === 0) return this.#pieces.flatMap(({ keys }) => keys);
    const node = this.get(path);
    return isMap(node) ? node.items.map(nameKey) : [];
  }

  /** The value at a path if it is no list or map. */
  scalar(path: readonly string[]): unknown {
    const node = this.get(path);
    return isScalar(node) ? node.value : undefined;
  }

  /** Sets the value at a path. A text keeps the quotes or block that it had, a value its comments. */
  set(path: readonly string[], value: unknown): void {
    const [top = "", ...rest] = path;
    const piece = this.#findPiece(top) ?? this.#addPiece(top);
    const document = open(piece);
    let map = document.contents;
    let key = top;
    for (const next of rest) {
      if (!isMap(map)) break;
      const pair = findPair(map, key) ?? addPair(document, map, key, {});
      const isEmpty = pair.value === null || (isScalar(pair.value) && pair.value.value === null);
      if (isEmpty) pair.value = createFlow(document, {});
      else if (!isMap(pair.value)) throw cannotSay(key, "it holds something else than a map");
      map = isMap(pair.value) ? pair.value : null;
      key = next;
    }
    if (!isMap(map)) throw cannotSay(top, "its frontmatter is no map");
    const pair = findPair(map, key);
    if (pair) pair.value = createLike(document, pair.value, value);
    else addPair(document, map, key, value);
    piece.isChanged = true;
  }

  /** Takes the entry at a path out, and with it every map that would be left empty. */
  remove(path: readonly string[]): void {
    const [top = ""] = path;
    const piece = this.#findPiece(top);
    const parent = path.length > 1 ? this.get(path.slice(0, -1)) : piece && open(piece).contents;
    const key = path.at(-1) ?? "";
    if (!piece || !isMap(parent) || !findPair(parent, key)) return;
    if (parent.items.length === 1 && path.length > 1) {
      this.remove(path.slice(0, -1));
      return;
    }
    parent.items = parent.items.filter((pair) => nameKey(pair) !== key);
    piece.isChanged = true;
    if (path.length > 1) return;
    piece.keys = piece.keys.filter((each) => each !== key);
    if (piece.keys.length === 0) Object.assign(piece, { text: "", isChanged: false });
  }

  /** The entries of a list or of a line with commas; null if there is neither. `[Agent(a, b)]` is one entry. */
  list(path: readonly string[]): string[] | null {
    const node = this.get(path);
    if (isSeq(node)) return joinBrackets(readTexts(node.items));
    const value = this.scalar(path);
    return typeof value === "string" ? splitCommas(value) : null;
  }

  /** Changes a list and leaves its form as it is: one line with commas, brackets, or a line for each. */
  changeList(
    path: readonly string[],
    { remove = new Set(), replace = new Map(), add = [] }: ListChange,
  ): void {
    const entries = this.list(path);
    const node = this.get(path);
    if (!isSeq(node)) {
      const kept = (entries ?? []).flatMap((entry, index) =>
        remove.has(index) ? [] : [replace.get(index) ?? entry],
      );
      const all = [...kept, ...add];
      this.set(path, entries === null || all.length === 0 ? add : all.join(", "));
      return;
    }
    const piece = this.#findPiece(path[0] ?? "");
    if (!piece) return;
    piece.isChanged = true;
    const document = open(piece);
    const groups = groupItems(node.items);
    const [sample] = node.items;
    node.items = groups.flatMap((items, index) => {
      if (remove.has(index)) return [];
      const fresh = replace.get(index);
      return fresh === undefined ? items : [createLike(document, items[0], fresh)];
    });
    const type = isScalar(sample) && node.items.every((item) => isScalar(item) && item.type === sample.type);
    for (const entry of add) {
      const item = createLike(document, null, entry);
      if (type && isScalar(item) && isQuoted(sample)) item.type = sample.type;
      node.items.push(item);
    }
    if (node.items.length === 0) node.flow = true;
  }

  /** `permission: ask` as a map with that word for everything, so that there is room for more; a list as its part `allow`. */
  wrap(path: readonly string[], key: string): void {
    const piece = this.#findPiece(path[0] ?? "");
    const map = piece && open(piece).contents;
    const pair = isMap(map) && path.length === 1 ? findPair(map, path[0] ?? "") : undefined;
    if (!piece || !pair || isMap(pair.value)) return;
    const inner = new YAMLMap();
    inner.items = [open(piece).createPair(key, pair.value)] as typeof inner.items;
    inner.flow = !(isSeq(pair.value) && !pair.value.flow);
    pair.value = inner;
    piece.isChanged = true;
  }

  #findPiece(key: string): Piece | undefined {
    return this.#pieces.find(({ keys }) => keys.includes(key));
  }

  /** A place for a new key, behind those that come before it in the table of fields. */
  #addPiece(key: string): Piece {
    const [whole] = this.#pieces;
    if (whole && whole.keys.length > 1) {
      whole.keys = [...whole.keys, key];
      return whole;
    }
    const rank = rankKey(key);
    const ranks = this.#pieces.map(({ keys }) => rankKey(keys[0] ?? ""));
    const below = ranks.filter((each) => each >= 0 && each < rank);
    const at = below.length > 0 ? ranks.lastIndexOf(Math.max(...below)) + 1 : 0;
    const before = this.#pieces[at - 1];
    if (before && before.text !== "" && !before.text.endsWith("\n")) before.text += "\n";
    const document = new Document({}, { schema: "core" });
    const piece: Piece = { text: "", keys: [key], document };
    this.#pieces.splice(below.length > 0 ? at : this.#firstFree(), 0, piece);
    return piece;
  }

  /** Without related keys a key goes first, or after a frontmatter that holds only comments. */
  #firstFree(): number {
    const first = this.#pieces.findIndex(({ keys }) => keys.length > 0);
    return first === -1 ? this.#pieces.length : first;
  }
}

/** Entries and gaps of a block map by their lines. Comments and blank lines behind an entry are none of it. */
function cutPieces(text: string, pairs: readonly Pair[]): Piece[] {
  const starts = pairs.map(({ key }) => {
    const at = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    return text.lastIndexOf("\n", at - 1) + 1;
  });
  const pieces: Piece[] = [{ text: text.slice(0, starts[0] ?? text.length), keys: [] }];
  for (const [index, pair] of pairs.entries()) {
    const block = text.slice(starts[index], starts[index + 1] ?? text.length);
    const lines = block.split(/(?<=\n)/);
    let end = lines.length;
    while (end > 1 && /^(?:#|\s*$)/.test(lines[end - 1] ?? "")) end--;
    pieces.push({ text: lines.slice(0, end).join(""), keys: [nameKey(pair)] });
    pieces.push({ text: lines.slice(end).join(""), keys: [] });
  }
  return pieces;
}

function open(piece: Piece): Document {
  piece.document ??= parseDocument(piece.text, PARSING) as Document;
  if (piece.document.errors.length > 0)
    throw cannotSay(piece.keys[0] ?? "it", "it shares a value with another key (an anchor or alias)");
  return piece.document;
}

function print(piece: Piece): string {
  const { text } = piece;
  const indent = /\n( +)[^\s#]/.exec(text)?.[1]?.length ?? 2;
  return open(piece).toString({
    lineWidth: 0,
    indent: Math.min(8, Math.max(2, indent)),
    indentSeq: !/\n- /.test(text),
    flowCollectionPadding: /[[{] +[^\s#]/.test(text),
    doubleQuotedAsJSON: true,
    verifyAliasOrder: false,
  });
}

function nameKey({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => nameKey(pair) === key);
}

function addPair(document: Document, map: YAMLMap, key: string, value: unknown): Pair {
  const pair: Pair = document.createPair(styleKey(new Scalar(key)), createLike(document, null, value));
  map.items.push(pair as (typeof map.items)[number]);
  return pair;
}

function createFlow(document: Document, value: object): unknown {
  const node = document.createNode(value, { flow: true });
  visit(node, {
    Scalar(at, scalar) {
      if (at === "key") styleKey(scalar);
      else styleText(scalar);
    },
  });
  return node;
}

/** Keys that are patterns are in quotes. */
function styleKey(key: Scalar): Scalar {
  if (!/^[A-Za-z_$][\w.-]*\*?$/.test(String(key.value)) || OLD_WORDS.test(String(key.value)))
    key.type = "QUOTE_DOUBLE";
  return key;
}

/** A value as a node in the style of the one in whose place it comes. */
function createLike(document: Document, before: unknown, value: unknown): unknown {
  if (typeof value === "object" && value !== null) {
    const node = createFlow(document, value);
    if (isCollection(node) && isCollection(before)) node.comment = before.comment;
    return node;
  }
  const node = new Scalar(value);
  if (isScalar(before)) {
    node.comment = before.comment;
    node.commentBefore = before.commentBefore;
    if (typeof before.value === "string" && before.type && before.type !== "PLAIN") node.type = before.type;
  }
  styleText(node);
  return node;
}

/** Quotes for what a block or a bare word would change; lines in a block only where it says them as they are. */
function styleText(node: Scalar): void {
  const { value, type } = node;
  if (typeof value !== "string") return;
  const hasLines = value.includes("\n");
  const isOdd = /[^\n\P{Cc}]|[\u2028\u2029\uFEFF]/u.test(value) || OLD_WORDS.test(value);
  if (isOdd || (hasLines && isQuoted(node))) node.type = "QUOTE_DOUBLE";
  else if (type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED")
    node.type = hasLines && !/^\s|\s$/.test(value) ? "BLOCK_LITERAL" : undefined;
}

function isQuoted(node: unknown): node is Scalar {
  return isScalar(node) && (node.type === "QUOTE_SINGLE" || node.type === "QUOTE_DOUBLE");
}

function readTexts(items: readonly unknown[]): string[] {
  return items.map((item) => {
    if (isScalar(item) && typeof item.value === "string") return item.value;
    throw cannotSay("the list", "an entry of it is something else than a text");
  });
}

/** The items of each entry: YAML takes the comma in `Agent(a, b)` for the list's. */
function groupItems<Item>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  let rest = joinBrackets(readTexts(items));
  let open: Item[] = [];
  for (const item of items) {
    open.push(item);
    const [first = ""] = rest;
    if (readTexts(open).join(", ") !== first) continue;
    groups.push(open);
    open = [];
    rest = rest.slice(1);
  }
  return groups;
}
